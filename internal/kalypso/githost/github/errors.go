package github

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
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
var (
	saysNoLabel      = regexp.MustCompile("Label does not exist")
	saysNoField      = regexp.MustCompile("doesn't exist on type") // from GraphQL, on an older server
	saysNotInstalled = regexp.MustCompile("not accessible to the parent installation")
	// saysMoved matches a rejected merge of branches whose last push GitHub has not processed yet.
	saysMoved = regexp.MustCompile("(Head|Base) branch was modified")
	// saysMergeable matches the states in which no required check is pending; an unstable pull request has failing
	// optional checks.
	saysMergeable = regexp.MustCompile("is in (clean|unstable|has_hooks) status")
)

// kinds are the kinds of errors with the same status. An answer may contain several errors.
var kinds = []httpapi.MessageKind{
	{Says: regexp.MustCompile("A pull request already exists"), Kind: githost.ErrExists},
	{Says: regexp.MustCompile("No commits between"), Kind: githost.ErrNothingToMerge},
	{Says: regexp.MustCompile("PullRequest head invalid"), Kind: githost.ErrBranchNotFound},
	{Says: regexp.MustCompile("No commit found for SHA"), Kind: githost.ErrCommitNotFound},
	{Says: regexp.MustCompile("permissions requested are not granted"), Kind: githost.ErrForbidden},
	{Says: saysNotInstalled, Kind: githost.ErrNotVisible},
}

// advise names the permission that is missing.
func advise(e *githost.Error, answer *http.Response) {
	if !errors.Is(e.Kind, githost.ErrForbidden) {
		return
	}
	permission := ""
	if answer != nil {
		permission = permissionOf(answer)
	}
	e.Grant = grant(permission)
}
