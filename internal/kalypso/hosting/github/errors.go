package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// failed makes a *hosting.Error of what go-github returns.
func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	e := &hosting.Error{Op: doing, Kind: hosting.ErrUnavailable, Cause: err}
	var own *hosting.Error
	var up *gaveUp
	var answered *github.ErrorResponse
	var wrapped *url.Error
	switch {
	case errors.As(err, &own): // of the token that was needed for it
		e.Kind = own.Kind
		e.Cause = own
	case errors.As(err, &up):
		e.Kind, e.Status, e.Message, e.Cause = up.kind, up.status, up.words, up.cause
		if errors.As(e.Cause, &wrapped) {
			e.Cause = wrapped.Err
		}
	case errors.As(err, &answered):
		e.Status, e.Message, e.Cause = answered.Response.StatusCode, words(answered), nil
		e.Kind = kindOf(e.Status, e.Message)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	default:
		// An answer that is not GitHub's: a proxy's page, half a text.
		e.Kind = hosting.ErrRejected
	}
	return e
}

// about notes on an error which part of a proposal it is about.
func about(field hosting.Field, err error) error {
	var e *hosting.Error
	if errors.As(err, &e) {
		e.Field = field
	}
	return err
}

// words are an answer's, as GitHub wrote them.
func words(e *github.ErrorResponse) string {
	a := answer{Message: e.Message}
	if data, err := json.Marshal(e.Errors); err == nil {
		a.Errors = data
	}
	if text := a.text(); text != "" {
		return text
	}
	return http.StatusText(e.Response.StatusCode)
}

// The words by which GitHub tells apart what has one status. A test pins them.
const (
	saysExists       = "A pull request already exists"
	saysNoneOnIt     = "No commits between"
	saysNoHead       = "PullRequest head invalid"
	saysNoCommit     = "No commit found for SHA"
	saysNoLabel      = "Label does not exist"
	saysNotGranted   = "permissions requested are not granted"
	saysNotInstalled = "not accessible to the parent installation"
)

// saysMoved is of a merge between branches of which GitHub has not seen the last push.
var saysMoved = regexp.MustCompile(`(Head|Base) branch was modified`)

// saysMergeable are the states in which GitHub awaits nothing: the second one has
// checks that the branch's rules do not ask for.
var saysMergeable = regexp.MustCompile(`is in (clean|unstable|has_hooks) status`)

func kindOf(status int, words string) error {
	switch status {
	case http.StatusUnauthorized:
		return hosting.ErrUnauthenticated
	case http.StatusForbidden:
		return hosting.ErrForbidden
	case http.StatusNotFound:
		return hosting.ErrNotVisible
	case http.StatusUnprocessableEntity:
		switch { // GitHub may name several errors at once
		case strings.Contains(words, saysExists):
			return hosting.ErrExists
		case strings.Contains(words, saysNoneOnIt):
			return hosting.ErrNothingToMerge
		case strings.Contains(words, saysNoHead):
			return hosting.ErrBranchNotFound
		case strings.Contains(words, saysNoCommit):
			return hosting.ErrCommitNotFound
		}
	}
	return hosting.ErrRejected
}
