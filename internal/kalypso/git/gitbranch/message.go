package gitbranch

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// CheckMessage returns an error if a commit message is blank.
func CheckMessage(message string) error {
	if cleanMessage(message) == "" {
		return errors.New("a commit needs a message")
	}
	return nil
}

// cleanMessage returns the message as committed. It escapes control characters, since names in it may come from the
// branch.
func cleanMessage(message string) string {
	return printable.Text(strings.TrimSpace(strings.ReplaceAll(message, "\x00", "")))
}

// message returns the message of the commit, with its trailers.
func (e *Edit) message() string {
	var trailers []string
	for _, key := range slices.Sorted(maps.Keys(e.Author.Trailers)) {
		trailers = append(trailers, key+": "+strings.TrimSpace(e.Author.Trailers[key]))
	}
	if e.Trailer != "" {
		trailers = append(trailers, e.Trailer)
	}
	message := cleanMessage(e.Message)
	if e.NoTrailers && len(trailers) > 0 {
		return message + "\n\n" + strings.Join(trailers, "\n")
	}
	return addTrailers(message, trailers)
}

// trailerKey matches the keys of trailers, as git interpret-trailers reads them.
var trailerKey = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)

// ownTrailers is the prefix of our own trailers' keys, in lower case.
const ownTrailers = "kalypso-"

// CheckTrailer returns an error if git interpret-trailers would not read the line as one trailer, or if the key is
// ours.
func CheckTrailer(key, value string) error {
	switch {
	case !trailerKey.MatchString(key):
		return errors.New("the key of a trailer consists of letters, digits and hyphens, such as Signed-off-by")
	case strings.HasPrefix(strings.ToLower(key), ownTrailers):
		return errors.New("keys that start with Kalypso- are reserved for the provider")
	case strings.TrimSpace(value) == "":
		return errors.New("the trailer has no value")
	case printable.Line(value) != value:
		return errors.New("the value of a trailer is one line without control characters")
	}
	return nil
}

// CheckTrailerKeys returns an error if two keys differ only in case, since Git ignores the case of keys.
func CheckTrailerKeys(trailers map[string]string) error {
	seen := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(trailers)) {
		folded := strings.ToLower(key)
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("the keys %q and %q are the same, since Git ignores case", other, key)
		}
		seen[folded] = key
	}
	return nil
}

// MergeTrailers returns the trailers of both maps. If two keys differ only in case, which Git ignores, the trailer in
// over wins.
func MergeTrailers(trailers, over map[string]string) map[string]string {
	all := maps.Clone(over)
	for key, value := range trailers {
		same := func(other string) bool { return strings.EqualFold(other, key) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(over)), same) {
			if all == nil {
				all = map[string]string{}
			}
			all[key] = value
		}
	}
	return all
}
