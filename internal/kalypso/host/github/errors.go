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

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// wrapError converts an error of go-github to a *[githost.Error].
func wrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	e := &githost.Error{Op: op, Kind: githost.ErrUnavailable, Cause: err, Host: hostName, Block: hostBlock}
	var own *githost.Error
	var failed *httpapi.Failure
	var answered *github.ErrorResponse
	var wrapped *url.Error
	switch {
	case errors.As(err, &own): // while getting a token
		e.Kind = own.Kind
		e.Cause = own
	case errors.As(err, &failed):
		e.Kind, e.Status, e.Message, e.Cause = failed.Kind, failed.Status, failed.Message, failed.Cause
		if errors.As(e.Cause, &wrapped) {
			e.Cause = wrapped.Err
		}
	case errors.As(err, &answered):
		e.Status, e.Message, e.Cause = answered.Response.StatusCode, messageOf(answered), nil
		e.Kind, e.Permission = kindOf(e.Status, e.Message), permissionOf(answered.Response)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	default:
		// The answer is not GitHub's, for example a proxy's page.
		e.Kind = githost.ErrRejected
	}
	if errors.Is(e.Kind, githost.ErrForbidden) {
		e.Grant = grant(e.Permission)
	}
	return e
}

// grant returns advice on how to give a permission; "": GitHub does not say which one is missing.
func grant(permission string) string {
	what := "this permission"
	if permission != "" {
		what = "the permission " + permission
	}
	return "Grant the token or app " + what + " in the repo. A classic token needs the scope repo."
}

// permissionOf returns the permission that a request needs: the one that GitHub names, or else that of an app's token.
func permissionOf(r *http.Response) string {
	// Such as "contents=write; pull_requests=write,metadata=read": one of the alternatives, each a list.
	if accepted, _, _ := strings.Cut(r.Header.Get("X-Accepted-Github-Permissions"), ";"); accepted != "" {
		return strings.NewReplacer("=", ": ", ",", ", ").Replace(strings.ReplaceAll(accepted, " ", ""))
	}
	if r.Request == nil {
		return ""
	}
	return scopeOf(r.Request.Context()).permissions()
}

// about sets the field of an error.
func about(field githost.Field, err error) error {
	var e *githost.Error
	if errors.As(err, &e) {
		e.Field = field
	}
	return err
}

// messageOf returns the message of an error answer.
func messageOf(e *github.ErrorResponse) string {
	a := errorAnswer{Message: e.Message}
	if data, err := json.Marshal(e.Errors); err == nil {
		a.Errors = data
	}
	if text := a.text(); text != "" {
		return text
	}
	return http.StatusText(e.Response.StatusCode)
}

// GitHub's messages that distinguish errors with the same status. A test pins them.
const (
	saysExists       = "A pull request already exists"
	saysNoneOnIt     = "No commits between"
	saysNoHead       = "PullRequest head invalid"
	saysNoCommit     = "No commit found for SHA"
	saysNoLabel      = "Label does not exist"
	saysNotGranted   = "permissions requested are not granted"
	saysNotInstalled = "not accessible to the parent installation"
)

// saysMoved matches a rejected merge of branches whose last push GitHub has not processed yet.
var saysMoved = regexp.MustCompile(`(Head|Base) branch was modified`)

// saysMergeable matches the states in which no required check is pending; an unstable pull request has failing
// optional checks.
var saysMergeable = regexp.MustCompile(`is in (clean|unstable|has_hooks) status`)

func kindOf(status int, words string) error {
	switch status {
	case http.StatusUnauthorized:
		return githost.ErrUnauthenticated
	case http.StatusForbidden:
		return githost.ErrForbidden
	case http.StatusNotFound:
		return githost.ErrNotVisible
	case http.StatusUnprocessableEntity:
		switch { // an answer may contain several errors
		case strings.Contains(words, saysExists):
			return githost.ErrExists
		case strings.Contains(words, saysNoneOnIt):
			return githost.ErrNothingToMerge
		case strings.Contains(words, saysNoHead):
			return githost.ErrBranchNotFound
		case strings.Contains(words, saysNoCommit):
			return githost.ErrCommitNotFound
		}
	}
	return githost.ErrRejected
}
