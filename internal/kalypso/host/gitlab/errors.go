package gitlab

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// GitLab's messages that distinguish errors with the same status. A test pins them.
const (
	saysExists     = "Another open merge request already exists"
	saysNoCommit   = "Commit Not Found"
	saysOnNoBranch = "References for commit"
	saysMoved      = "not allowed for moved projects"
	saysPending    = "via :enqueue from :pending"
	saysRunning    = "via :enqueue from :running"
	saysBusy       = "Another update to this commit status is in progress"
)

// saysNoBranch matches a merge request that is refused because GitLab does not know its branch.
var saysNoBranch = regexp.MustCompile(`(?i)source branch .*does not exist`)

var errMoved = errors.New("the project was moved: use its new URL")

// classify refines the kind of an error answer by GitLab's messages, and adds the missing permission.
func classify(e *githost.Error, answer *http.Response) {
	saysSo := func(text string) bool { return strings.Contains(e.Message, text) }
	switch {
	case answer == nil, e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
	case e.Status == http.StatusNotFound && saysSo(saysNoCommit):
		e.Kind = githost.ErrCommitNotFound
	case e.Status == http.StatusNotFound && saysSo(saysOnNoBranch):
		e.Kind, e.Cause = githost.ErrCommitNotFound, githost.ErrCommitOnNoBranch
	case e.Status == http.StatusNotFound:
	case saysSo(saysExists):
		e.Kind = githost.ErrExists
	case saysSo(saysMoved):
		e.Cause = errMoved
	case saysNoBranch.MatchString(e.Message):
		e.Kind = githost.ErrBranchNotFound
	}
	grant(e)
}

// grant adds the missing permission to an [githost.ErrForbidden].
func grant(e *githost.Error) {
	if errors.Is(e.Kind, githost.ErrForbidden) {
		e.Grant = "Give the token the scope api, and its user the role Developer in the project. " +
			"To merge, the user also needs the right to merge into the target branch."
	}
}

// message returns the error message in an answer, on one line. GitLab returns it as "message" or "error", which is a
// text, a list of texts, or a map from fields to texts.
func message(body []byte) string {
	var answer struct {
		Message     any    `json:"message"`
		Error       any    `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	all := slices.Concat(texts(answer.Message), texts(answer.Error), texts(answer.Description))
	return strings.Join(strings.Fields(strings.Join(all, ": ")), " ")
}

// texts returns the texts in a JSON value, in a fixed order.
func texts(value any) (all []string) {
	switch value := value.(type) {
	case string:
		if value != "" {
			all = append(all, value)
		}
	case []any:
		for _, one := range value {
			all = append(all, texts(one)...)
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(value)) {
			all = append(all, field+" "+strings.Join(texts(value[field]), ", "))
		}
	}
	return all
}

// limited reports whether an answer signals a rate limit, and returns when the limit ends, if GitLab says so.
func limited(resp *http.Response, _ []byte) (reset time.Time, limited bool) {
	if resp.StatusCode != http.StatusTooManyRequests {
		return time.Time{}, false
	}
	if seconds, err := strconv.ParseInt(resp.Header.Get("RateLimit-Reset"), 10, 64); err == nil {
		reset = time.Unix(seconds, 0)
	}
	return reset, true
}

// isSignIn reports whether the server redirects to its sign-in page, which it does for addresses outside the API.
func isSignIn(resp *http.Response) bool {
	return strings.Contains(resp.Header.Get("Location"), "/users/sign_in")
}
