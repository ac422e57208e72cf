package azuredevops

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// answers is a transport that checks the list of the API's resources.
type answers struct{ http.RoundTripper }

func (t answers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || req.Method != http.MethodOptions {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	if err == nil {
		err = checkLocations(body)
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// checkLocations returns an error if a part of the list of the API's resources is null, since the library would
// dereference it.
func checkLocations(body []byte) error {
	var list struct {
		Value []azuredevops.ApiResourceLocation
	}
	_ = json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &list) // the library reports an answer that is not JSON
	for _, l := range list.Value {
		if l.Id == nil || l.Area == nil || l.ResourceName == nil || l.RouteTemplate == nil || l.MinVersion == nil ||
			l.MaxVersion == nil || l.ReleasedVersion == nil {
			return &githost.Error{Host: hostName, Kind: githost.ErrUnavailable, Status: http.StatusOK,
				Cause: errors.New("the server's list of its resources lacks an id, a path or a version")}
		}
	}
	return nil
}

// message returns the message of an error answer, on one line. The answer may begin with a byte order mark.
func message(body []byte) string {
	var answer struct {
		Message string
		Value   struct{ Message string }
	}
	_ = json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &answer) // other answers have no message
	return strings.Join(strings.Fields(cmp.Or(answer.Message, answer.Value.Message)), " ")
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

// kindOfCode returns the kind of error for the code in a message, or nil for an unknown or missing code.
func kindOfCode(words string) error {
	for _, c := range codes {
		if strings.Contains(words, c.code) && strings.Contains(words, c.text) {
			return c.kind
		}
	}
	return nil
}

// classify refines the kind of an error answer by the code in Azure's message, and adds advice on missing permissions.
func (c *Client) classify(e *githost.Error, answer *http.Response) {
	if kind := kindOfCode(e.Message); answer != nil && kind != nil {
		e.Kind = kind
	}
	switch {
	case errors.Is(e.Kind, githost.ErrForbidden):
		e.Grant = grant
	case errors.Is(e.Kind, githost.ErrUnauthenticated) && c.Entra == nil && c.Token != "" && !isJWT(c.Token):
		e.Grant = grantScopes
	}
}

// notEditable is the code of the error if a pull request can't be changed because it was completed or abandoned.
const notEditable = "TF401181"

// tooFast is the code of Azure's rate limit.
const tooFast = "TF400733"

// limited reports whether an answer signals a rate limit, whose end is in Retry-After.
func limited(resp *http.Response, body []byte) (time.Time, bool) {
	return time.Time{}, resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode >= http.StatusBadRequest && bytes.Contains(body, []byte(tooFast))
}

// isSignIn reports whether an answer is a sign-in page.
func isSignIn(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNonAuthoritativeInfo || strings.Contains(resp.Header.Get("Location"), "/_signin")
}

// deref returns the value behind a pointer of the library, or the zero value for nil.
func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
