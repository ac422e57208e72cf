package github

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// grant returns advice on how to give a permission. permission is empty if GitHub does not name the missing one.
func grant(permission string) string {
	what := "this permission"
	if permission != "" {
		what = "the permission " + permission
	}
	return "Grant the token or app " + what + " in the repo. A classic token needs the scope repo."
}

// permissionOf returns the permission that a request needs. GitHub may name it; otherwise it is the permission that was
// requested for the app's token.
func permissionOf(r *http.Response) string {
	// An example is "contents=write; pull_requests=write,metadata=read": a list of alternatives, each of which is a list
	// of permissions.
	if accepted, _, _ := strings.Cut(r.Header.Get("X-Accepted-Github-Permissions"), ";"); accepted != "" {
		return strings.NewReplacer("=", ": ", ",", ", ").Replace(strings.ReplaceAll(accepted, " ", ""))
	}
	if r.Request == nil {
		return ""
	}
	return scopeOf(r.Request.Context()).permissions
}

// GitHub's messages that distinguish errors with the same status. A test pins them.
const (
	saysExists       = "A pull request already exists"
	saysNoneOnIt     = "No commits between"
	saysNoHead       = "PullRequest head invalid"
	saysNoCommit     = "No commit found for SHA"
	saysNoLabel      = "Label does not exist"
	saysNotGranted   = "permissions requested are not granted"
	saysNoField      = "doesn't exist on type" // from GraphQL, on an older server
	saysNotInstalled = "not accessible to the parent installation"
)

// saysMoved matches a rejected merge of branches whose last push GitHub has not processed yet.
var saysMoved = regexp.MustCompile(`(Head|Base) branch was modified`)

// saysMergeable matches the states in which no required check is pending; an unstable pull request has failing
// optional checks.
var saysMergeable = regexp.MustCompile(`is in (clean|unstable|has_hooks) status`)

// classify refines the kind of an error answer by GitHub's messages, and names the permission that is missing.
func classify(e *githost.Error, answer *http.Response) {
	permission := ""
	if answer != nil {
		permission = permissionOf(answer)
	}
	if e.Status == http.StatusUnprocessableEntity {
		switch { // an answer may contain several errors
		case strings.Contains(e.Message, saysExists):
			e.Kind = githost.ErrExists
		case strings.Contains(e.Message, saysNoneOnIt):
			e.Kind = githost.ErrNothingToMerge
		case strings.Contains(e.Message, saysNoHead):
			e.Kind = githost.ErrBranchNotFound
		case strings.Contains(e.Message, saysNoCommit):
			e.Kind = githost.ErrCommitNotFound
		}
	}
	if errors.Is(e.Kind, githost.ErrForbidden) {
		e.Grant = grant(permission)
	}
}
