package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// failure returns the error of a request that failed for good without an answer that can be shown. [API.Error] adds the
// operation.
func (a *API) failure(kind error, status int, message string, cause error) *githost.Error {
	return &githost.Error{Kind: kind, Status: status, Message: message, Cause: cause, Host: a.Host}
}

// Refusal is an error answer of a host.
type Refusal struct {
	Response *http.Response
	Message  string // the host's error message, or the text of the status
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s (HTTP %d)", r.Message, r.Response.StatusCode)
}

// Error converts an error of a request by [API.RefusingClient] to a *[githost.Error]. It returns nil for nil.
func (a *API) Error(op string, err error) error {
	if err == nil {
		return nil
	}
	// If no case below matches, the answer is not from the host, but for example a proxy's page.
	e := a.Rejected(op, "", a.Secrets.Error(err))
	var failed *githost.Error
	var refused *Refusal
	var wrapped *url.Error
	var answer *http.Response
	switch {
	case errors.As(err, &failed) && failed.Op != "": // while getting a credential
		e.Kind, e.Cause = failed.Kind, failed
	case failed != nil:
		e.Kind, e.Status, e.Message, e.Cause = failed.Kind, failed.Status, failed.Message, failed.Cause
		if errors.As(e.Cause, &wrapped) {
			e.Cause = wrapped.Err
		}
	case errors.As(err, &refused):
		answer = refused.Response
		e.Kind, e.Status, e.Message, e.Cause = KindOf(answer.StatusCode), answer.StatusCode, refused.Message, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Kind = githost.ErrUnavailable
	}
	if a.Classify != nil {
		a.Classify(e, answer)
	}
	return e
}

// KindOf returns the kind of an error with a status, if only the status decides it.
func KindOf(status int) error {
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

// Rejected returns an error about a field of a proposal that we reject ourselves.
func (a *API) Rejected(op string, field githost.Field, cause error) *githost.Error {
	return &githost.Error{
		Op: op, Kind: githost.ErrRejected, Field: field, Cause: cause, Host: a.Host, Block: a.Block, Credential: a.Credential,
	}
}
