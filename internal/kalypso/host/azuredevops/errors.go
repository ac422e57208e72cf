package azuredevops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// answers is a transport that returns Azure's error answers as errors, with their texts. It notes the time of answers.
type answers struct{ http.RoundTripper }

// refusal is an answer of Azure's that is an error.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (HTTP %d)", r.message, r.status) }

func (t answers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if seen, ok := req.Context().Value(seenKey{}).(*time.Time); ok {
		*seen, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	if resp.StatusCode < http.StatusMultipleChoices && req.Method != http.MethodOptions {
		return resp, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		if err := checkLocations(body); err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	return nil, &refusal{resp.StatusCode, cmp.Or(parseError(body).Message, http.StatusText(resp.StatusCode))}
}

// checkLocations returns an error for a list of the API's resources with a part that is null: the library would use it.
func checkLocations(body []byte) error {
	var list struct {
		Value []azuredevops.ApiResourceLocation
	}
	_ = json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &list) // not JSON: the library says so
	for _, l := range list.Value {
		if l.Id == nil || l.Area == nil || l.ResourceName == nil || l.RouteTemplate == nil || l.MinVersion == nil ||
			l.MaxVersion == nil || l.ReleasedVersion == nil {
			return &httpapi.Failure{Host: hostName, Kind: githost.ErrUnavailable, Status: http.StatusOK,
				Cause: errors.New("the server's list of its resources lacks an id, a path or a version")}
		}
	}
	return nil
}

// seenKey is the key of the time of the last answer in a context: the library hides the headers.
type seenKey struct{}

// noting returns a context whose requests note the time of their answers, by Azure's clock.
func noting(ctx context.Context) (_ context.Context, seen *time.Time) {
	if seen, ok := ctx.Value(seenKey{}).(*time.Time); ok {
		return ctx, seen
	}
	seen = &time.Time{}
	return context.WithValue(ctx, seenKey{}, seen), seen
}

// said is the content of an error answer.
type said struct{ Message string }

// parseError returns the content of an error answer, on one line. It may begin with a byte order mark.
func parseError(body []byte) (s said) {
	var answer struct {
		said
		Value said
	}
	_ = json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &answer) // not Azure's: no message
	s.Message = strings.Join(strings.Fields(cmp.Or(answer.Message, answer.Value.Message)), " ")
	return s
}

// wrapError converts an error of a request to a *[githost.Error].
func (r *repo) wrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	// By default, the answer is not Azure's, for example a proxy's page.
	e := &githost.Error{
		Op: op, Kind: githost.ErrRejected, Cause: r.client.Secrets.Error(err), Host: hostName, Block: hostBlock,
		Credential: r.client.Credential,
	}
	var failed *httpapi.Failure
	var refused *refusal
	var ours *githost.Error
	var wrapped *url.Error
	switch {
	case errors.As(err, &ours): // of the credential
		e.Kind, e.Cause = ours.Kind, ours.Cause
	case errors.As(err, &failed):
		e.Kind, e.Status, e.Message, e.Cause = failed.Kind, failed.Status, failed.Message, failed.Cause
		if errors.As(e.Cause, &wrapped) {
			e.Cause = wrapped.Err
		}
	case errors.As(err, &refused):
		e.Kind, e.Status, e.Message, e.Cause = kindOf(refused.status, refused.message), refused.status, refused.message, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Kind = githost.ErrUnavailable
	}
	switch c := r.client; {
	case errors.Is(e.Kind, githost.ErrForbidden):
		e.Permission, e.Grant = "Code (read, write, status)", grant
	case errors.Is(e.Kind, githost.ErrUnauthenticated) && c.Entra == nil && c.Token != "" && !isJWT(c.Token):
		e.Grant = grantScopes
	}
	return e
}

// grant returns advice on how to give the permissions that the provider needs.
const grant = "Give the token the scopes Code (read, write, status), and Identity (read) to ask for reviews. Give " +
	"its user the permissions Contribute, Create branch and Contribute to pull requests in the repo."

// grantScopes is advice about a token that is not accepted.
const grantScopes = hostName + " gives the same answer to a token that lacks a scope: it needs Code (read, write, " +
	"status), and Identity (read) to ask for reviews."

// The codes in Azure's messages that distinguish errors.
var codes = []struct {
	code, text string // both are in the message
	kind       error
}{
	{"TF401019", "", githost.ErrNotVisible}, {"TF200016", "", githost.ErrNotVisible},
	{"VS800075", "", githost.ErrNotVisible},
	{"TF400813", "", githost.ErrUnauthenticated}, {"TF401027", "", githost.ErrForbidden},
	{"TF401179", "", githost.ErrExists},
	{"TF401398", "", githost.ErrBranchNotFound}, {"TF401028", "does not exist", githost.ErrBranchNotFound},
	{tooFast, "", githost.ErrRateLimited},
}

// kindOfCode returns the kind of error for the code in a message; nil: the message has none.
func kindOfCode(words string) error {
	for _, c := range codes {
		if strings.Contains(words, c.code) && strings.Contains(words, c.text) {
			return c.kind
		}
	}
	return nil
}

func kindOf(status int, words string) error {
	if kind := kindOfCode(words); kind != nil {
		return kind
	}
	switch status {
	case http.StatusUnauthorized:
		return githost.ErrUnauthenticated
	case http.StatusForbidden:
		return githost.ErrForbidden
	case http.StatusNotFound:
		return githost.ErrNotVisible
	}
	return githost.ErrRejected
}

// notEditable is the code of a change of a pull request that was completed or abandoned.
const notEditable = "TF401181"

// tooFast is the code of Azure's rate limit.
const tooFast = "TF400733"

// limited reports whether an answer signals a rate limit, whose end is in Retry-After.
func limited(resp *http.Response, body []byte) (time.Time, bool) {
	return time.Time{}, resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode >= http.StatusBadRequest && bytes.Contains(body, []byte(tooFast))
}

// isSignIn reports whether an answer is a page to sign in.
func isSignIn(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNonAuthoritativeInfo || strings.Contains(resp.Header.Get("Location"), "/_signin")
}

// rejected returns an error of our own about a field.
func (r *repo) rejected(op string, field githost.Field, reason error) *githost.Error {
	return &githost.Error{
		Op: op, Kind: githost.ErrRejected, Field: field, Cause: reason, Host: hostName, Block: hostBlock,
		Credential: r.client.Credential,
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

// deref returns the value behind a pointer of the library, or the zero value for nil.
func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
