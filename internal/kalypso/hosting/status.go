package hosting

import (
	"errors"
	"net/url"
	"regexp"
)

// The maximum lengths of a status, in characters: the smallest of all hosts.
const (
	MaxStatusContext     = 255
	MaxStatusDescription = 140
)

var fullHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// CheckCommit returns an error if a text is not the full hash of a commit. A status needs one: a branch moves, and a
// short hash may become ambiguous.
func CheckCommit(hash string) error {
	if !fullHash.MatchString(hash) {
		return errors.New("a full commit hash is required: 40 digits and letters from a to f")
	}
	return nil
}

// CheckTargetURL returns an error if a text is not the URL of a web page.
func CheckTargetURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("an absolute URL is required, such as https://ci.acme.io/runs/1")
	case u.User != nil:
		return errors.New("the URL contains a user name or password, which everybody with access to the repo would see")
	}
	return nil
}
