package hosting

import (
	"errors"
	"net/url"
	"regexp"
)

// What a status may be, by the narrowest of the hosts: in characters.
const (
	MaxStatusContext     = 255
	MaxStatusDescription = 140
)

var fullHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// CheckCommit says why a text is not the full hash of a commit, which a status
// needs: a branch moves, and a short hash may come to name two.
func CheckCommit(hash string) error {
	if !fullHash.MatchString(hash) {
		return errors.New("a commit is named by its full hash: 40 digits and letters from a to f")
	}
	return nil
}

// CheckTargetURL says why a text is no page for people.
func CheckTargetURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("a page is an absolute URL, such as https://ci.acme.io/runs/1")
	case u.User != nil:
		return errors.New("the URL holds a user name or a password, and everybody who sees the repo would see it")
	}
	return nil
}
