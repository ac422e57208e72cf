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

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// GitLab's messages that distinguish errors with the same status. A test pins them.
var (
	saysMoved   = regexp.MustCompile("not allowed for moved projects")
	saysPending = regexp.MustCompile("via :enqueue from :(pending|running)")
	saysBusy    = regexp.MustCompile("Another update to this commit status is in progress")
)

// kinds are the kinds of errors with the same status.
var kinds = []httpapi.MessageKind{
	{Says: regexp.MustCompile("Commit Not Found"), Kind: githost.ErrCommitNotFound},
	{Says: regexp.MustCompile("References for commit"), Kind: githost.ErrCommitNotFound,
		Cause: githost.ErrCommitOnNoBranch},
	{Says: regexp.MustCompile("Another open merge request already exists"), Kind: githost.ErrExists},
	{Says: saysMoved, Kind: githost.ErrRejected, Cause: errors.New("the project was moved: use its new URL")},
	{Says: regexp.MustCompile("(?i)source branch .*does not exist"), Kind: githost.ErrBranchNotFound},
}

// advise adds the missing permission to an [githost.ErrForbidden].
func advise(e *githost.Error, _ *http.Response) {
	if errors.Is(e.Kind, githost.ErrForbidden) {
		e.Grant = "Give the token the scope api, and its user the role Developer in the project. " +
			"To merge, the user also needs the right to merge into the target branch."
	}
}

// message returns the error message in an answer, on one line. GitLab returns it as "message" or "error", which is a
// text, a list of texts, or a map from fields to texts.
func message(body []byte) string {
	var answer map[string]any
	_ = json.Unmarshal(body, &answer) // an answer that is not from GitLab has no message
	all := slices.Concat(texts(answer["message"]), texts(answer["error"]), texts(answer["error_description"]))
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

// limited returns when a rate limit ends, if GitLab says so. Only the status signals a rate limit.
func limited(resp *http.Response, _ []byte) (reset time.Time, limited bool) {
	if seconds, err := strconv.ParseInt(resp.Header.Get("RateLimit-Reset"), 10, 64); err == nil {
		reset = time.Unix(seconds, 0)
	}
	return reset, false
}

// isSignIn reports whether the server redirects to its sign-in page, which it does for addresses outside the API.
func isSignIn(resp *http.Response) bool {
	return strings.Contains(resp.Header.Get("Location"), "/users/sign_in")
}
