package azuredevops

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// unusable also returns an error if a part of the list of the API's resources is null, since the library would
// dereference it.
func unusable(req *http.Request, body []byte) error {
	if err := httpapi.Null(req, body); err != nil || req.Method != http.MethodOptions {
		return err
	}
	var list struct {
		Value []azuredevops.ApiResourceLocation
	}
	_ = json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &list) // the library reports an answer that is not JSON
	for _, l := range list.Value {
		if l.Id == nil || l.Area == nil || l.ResourceName == nil || l.RouteTemplate == nil || l.MinVersion == nil ||
			l.MaxVersion == nil || l.ReleasedVersion == nil {
			return errors.New("the server's list of its resources lacks an id, a path or a version")
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

// saysNoRepo matches the codes of a repo or project that is not visible.
var saysNoRepo = regexp.MustCompile("TF401019|TF200016|VS800075")

// kinds are the kinds of errors by the codes in Azure's messages.
var kinds = []httpapi.MessageKind{
	{Says: saysNoRepo, Kind: githost.ErrNotVisible},
	{Says: regexp.MustCompile("TF400813"), Kind: githost.ErrUnauthenticated},
	{Says: regexp.MustCompile("TF401027"), Kind: githost.ErrForbidden},
	{Says: regexp.MustCompile("TF401179"), Kind: githost.ErrExists},
	{Says: regexp.MustCompile("TF401398|TF401028.*does not exist"), Kind: githost.ErrBranchNotFound},
}

// advise adds advice on missing permissions.
func (c *Client) advise(e *githost.Error, _ *http.Response) {
	switch {
	case errors.Is(e.Kind, githost.ErrForbidden):
		e.Grant = grant
	case errors.Is(e.Kind, githost.ErrUnauthenticated) && c.Entra == nil && c.Token != "" && !isJWT(c.Token):
		e.Grant = grantScopes
	}
}

// notEditable is the code of the error if a pull request can't be changed because it was completed or abandoned.
var notEditable = regexp.MustCompile("TF401181")

// limited reports whether an answer signals a rate limit, whose end is in Retry-After.
func limited(resp *http.Response, body []byte) (time.Time, bool) {
	return time.Time{}, resp.StatusCode >= http.StatusBadRequest && bytes.Contains(body, []byte("TF400733"))
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
