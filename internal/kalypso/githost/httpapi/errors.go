package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// failure returns the error of a request that failed for good without an answer that can be shown. [API.Error] adds the
// operation.
func (a *API) failure(kind error, status int, message string, cause error) *githost.Error {
	if wrapped, ok := errors.AsType[*url.Error](cause); ok {
		cause = a.Secrets.Error(wrapped.Err)
	}
	return a.classified(kind, status, message, cause, nil)
}

// refusal returns the error of an error answer of the host.
func (a *API) refusal(answer *http.Response) *githost.Error {
	code := answer.StatusCode
	return a.classified(KindOf(code), code, cmp.Or(a.message(answer), http.StatusText(code)), nil, answer)
}

// MessageKind is the kind and the cause of the errors of a host that say something; see [githost.Says].
type MessageKind struct {
	Says        *regexp.Regexp
	Kind, Cause error
}

func (a *API) classified(kind error, status int, message string, cause error, answer *http.Response) *githost.Error {
	e := a.Rejected("", "", cause)
	e.Kind, e.Status, e.Message = kind, status, message
	says := func(k MessageKind) bool { return answer != nil && githost.Says(e, k.Says) }
	if i := slices.IndexFunc(a.Kinds, says); i >= 0 {
		e.Kind, e.Cause = a.Kinds[i].Kind, a.Kinds[i].Cause
	}
	if a.Advise != nil {
		a.Advise(e, answer)
	}
	return e
}

// Error converts an error of a request to a *[githost.Error] about an operation. It returns nil for nil, and an error
// that is already about an operation as it is.
func (a *API) Error(op string, err error) error {
	e, known := errors.AsType[*githost.Error](err)
	switch {
	case err == nil, known && e.Op != "":
		return err
	case known:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = a.classified(githost.ErrUnavailable, 0, "", a.Secrets.Error(err), nil)
	default: // the answer is not from the host, but for example a proxy's page
		e = a.classified(githost.ErrRejected, 0, "", a.Secrets.Error(err), nil)
	}
	e.Op = op
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
