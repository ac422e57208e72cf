package gitlab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// refusals is a transport that returns GitLab's error answers as errors: the library drops the text of a 404.
type refusals struct{ http.RoundTripper }

// refusal is an answer of GitLab that is an error.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (HTTP %d)", r.message, r.status) }

func (t refusals) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode < http.StatusBadRequest {
		return resp, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return nil, &refusal{resp.StatusCode, cmp.Or(message(body), http.StatusText(resp.StatusCode))}
}

// wrapError converts an error of a request to a *[githost.Error].
func (r *repo) wrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	e := &githost.Error{
		Op: op, Kind: githost.ErrUnavailable, Cause: r.client.secrets.Error(err), Host: hostName, Block: hostBlock,
		Credential: r.client.credential,
	}
	var failed *httpapi.Failure
	var refused *refusal
	var wrapped *url.Error
	switch {
	case errors.As(err, &failed):
		e.Kind, e.Status, e.Message, e.Cause = failed.Kind, failed.Status, failed.Message, failed.Cause
		if errors.As(e.Cause, &wrapped) {
			e.Cause = wrapped.Err
		}
	case errors.As(err, &refused):
		e.Status, e.Message = refused.status, refused.message
		e.Kind, e.Cause = kindOf(e.Status, e.Message)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	default:
		// The answer is not GitLab's, for example a proxy's page.
		e.Kind = githost.ErrRejected
	}
	return granted(e)
}

// granted adds the missing permission to an [githost.ErrForbidden].
func granted(e *githost.Error) *githost.Error {
	if errors.Is(e.Kind, githost.ErrForbidden) {
		e.Permission = "role Developer, scope api"
		e.Grant = "Give the token the scope api, and its user the role Developer in the project. " +
			"To merge, the user also needs the right to merge into the target branch."
	}
	return e
}

// rejected returns an error of our own about a field.
func (r *repo) rejected(op string, field githost.Field, reason error) *githost.Error {
	return &githost.Error{
		Op: op, Kind: githost.ErrRejected, Field: field, Cause: reason, Host: hostName, Block: hostBlock,
		Credential: r.client.credential,
	}
}

// about sets the field of an error.
func about(field githost.Field, err error) error {
	var e *githost.Error
	if errors.As(err, &e) {
		e.Field = field
	}
	return err
}

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

func kindOf(status int, words string) (kind, cause error) {
	switch status {
	case http.StatusUnauthorized:
		return githost.ErrUnauthenticated, nil
	case http.StatusForbidden:
		return githost.ErrForbidden, nil
	case http.StatusNotFound:
		switch {
		case strings.Contains(words, saysNoCommit):
			return githost.ErrCommitNotFound, nil
		case strings.Contains(words, saysOnNoBranch):
			return githost.ErrCommitNotFound, githost.ErrCommitOnNoBranch
		}
		return githost.ErrNotVisible, nil
	}
	switch {
	case strings.Contains(words, saysExists):
		return githost.ErrExists, nil
	case strings.Contains(words, saysMoved):
		return githost.ErrRejected, errMoved
	case saysNoBranch.MatchString(words):
		return githost.ErrBranchNotFound, nil
	}
	return githost.ErrRejected, nil
}

// says reports whether GitLab answered with an error that contains a text.
func says(err error, text string) bool {
	var e *githost.Error
	return errors.As(err, &e) && strings.Contains(e.Message, text)
}

// status returns the HTTP status of an error; 0: there was no answer.
func status(err error) int {
	var e *githost.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// message returns the error message in an answer, on one line. GitLab gives a text, a list or texts by field, as
// "message" or as "error".
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
		fields := make([]string, 0, len(value))
		for field := range value {
			fields = append(fields, field)
		}
		slices.Sort(fields)
		for _, field := range fields {
			all = append(all, field+" "+strings.Join(texts(value[field]), ", "))
		}
	}
	return all
}

// limited reports whether an answer signals a rate limit, and returns its end if GitLab names it.
func limited(resp *http.Response, _ []byte) (reset time.Time, limited bool) {
	if resp.StatusCode != http.StatusTooManyRequests {
		return time.Time{}, false
	}
	if seconds, err := strconv.ParseInt(resp.Header.Get("RateLimit-Reset"), 10, 64); err == nil {
		reset = time.Unix(seconds, 0)
	}
	return reset, true
}

// isSignIn reports whether the server redirects to its page to sign in, as it does outside the API.
func isSignIn(resp *http.Response) bool {
	return strings.Contains(resp.Header.Get("Location"), "/users/sign_in")
}
