package host

import (
	"errors"
	"regexp"
)

var fullHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// CheckCommit returns an error if a text is not the full hash of a commit. A status needs the full hash, because a
// branch moves, and a short hash may become ambiguous.
func CheckCommit(hash string) error {
	if !fullHash.MatchString(hash) {
		return errors.New("a full commit hash is required: 40 digits and letters from a to f")
	}
	return nil
}
