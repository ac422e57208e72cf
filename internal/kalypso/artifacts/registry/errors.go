package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

var (
	// ErrNoCredential means that a registry requires a credential, and there is none for it.
	ErrNoCredential = errors.New("there is no credential for the registry")
	// ErrPlainHTTP means that a registry does not use https, which only one on this machine may do.
	ErrPlainHTTP = errors.New(
		"the server does not support https; plain http is allowed only for a registry on this machine")
	// errDocker means that no credential can be read from Docker's config file.
	errDocker = errors.New("the config file of Docker, or a credential helper that it names, can't be used")
)

// Error returns the error of an operation in a repository as a *[githost.Error]. It returns nil for nil.
func (c *Client) Error(r Repository, op string, err error) error {
	if err == nil {
		return nil
	}
	var failed *githost.Error
	if errors.As(err, &failed) && failed.Op != "" {
		return err
	}
	e := &githost.Error{
		Op: op + " " + r.String(), Kind: githost.ErrRejected, Host: r.ref.Registry, Block: "oci_credentials",
		Cause: c.access.Secrets.Error(err),
	}
	var answer *errcode.ErrorResponse
	switch {
	case speaksPlainHTTP(err):
		e.Kind, e.Cause = githost.ErrUnavailable, ErrPlainHTTP
	case failed != nil:
		e.Kind, e.Status, e.Message, e.Cause = failed.Kind, failed.Status, failed.Message, failed.Cause
	case errors.As(err, &answer):
		e.Kind, e.Status, e.Cause = httpapi.KindOf(answer.StatusCode), answer.StatusCode, nil
		e.Message = c.access.Secrets.Redact(textOf(answer.Errors))
	case errors.Is(err, ErrNoCredential):
		e.Kind, e.Cause = githost.ErrUnauthenticated, ErrNoCredential
	case errors.Is(err, errDocker):
		e.Kind = githost.ErrUnauthenticated
	case errors.Is(err, errdef.ErrNotFound):
		e.Kind, e.Cause = githost.ErrNotVisible, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Kind = githost.ErrUnavailable
	}
	return e
}

// message returns the error messages in the body of an answer.
func message(body []byte) string {
	var answer struct{ Errors errcode.Errors }
	_ = json.Unmarshal(body, &answer) // an answer that is not from a registry has no message
	return textOf(answer.Errors)
}

// textOf joins the messages of a registry. The details of an error may be of any form and size.
func textOf(all errcode.Errors) string {
	return strings.Join(lists.Map(all, func(e errcode.Error) string { return cmp.Or(e.Message, e.Code) }), "; ")
}
