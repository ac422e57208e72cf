package github

import (
	"context"
	"errors"
	"strings"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// scope is what a token of an app's installation opens: one repo, for what is done there. A permission that is empty is not
// asked for.
type scope struct {
	repo                                      string // without its owner, which is the installation's
	contents, pullRequests, statuses, members string
}

const (
	read  = "read"
	write = "write"
)

type scopeKey struct{}

// with has the requests of ctx made by a token of a scope, where an app makes them.
func (r *repo) with(ctx context.Context, s scope) context.Context {
	s.repo = r.name
	return context.WithValue(ctx, scopeKey{}, s)
}

// pulls are the rights for pull requests: a merge writes contents.
func (r *repo) pulls(ctx context.Context) context.Context {
	return r.with(ctx, scope{contents: write, pullRequests: write})
}

func scopeOf(ctx context.Context) scope {
	s, _ := ctx.Value(scopeKey{}).(scope)
	return s
}

func (s scope) options() *github.InstallationTokenOptions {
	permission := func(access string) *string {
		if access == "" {
			return nil
		}
		return &access
	}
	return &github.InstallationTokenOptions{
		Repositories: []string{s.repo},
		Permissions: &github.InstallationPermissions{
			Contents: permission(s.contents), PullRequests: permission(s.pullRequests),
			Statuses: permission(s.statuses), Members: permission(s.members),
		},
	}
}

// String names the scope in errors.
func (s scope) String() string {
	var all []string
	for _, p := range []struct{ name, access string }{
		{"contents", s.contents}, {"members", s.members}, {"pull_requests", s.pullRequests}, {"statuses", s.statuses},
	} {
		if p.access != "" {
			all = append(all, p.name+": "+p.access)
		}
	}
	return strings.Join(all, ", ") + " in repo " + s.repo
}

// refused tells apart why GitHub gives no token of a scope.
func (s scope) refused(err error) error {
	var e *hosting.Error
	switch {
	case !errors.As(err, &e):
	case strings.Contains(e.Message, saysNotGranted):
		e.Kind = hosting.ErrForbidden
	case notInstalled(err):
		e.Kind = hosting.ErrNotVisible
	}
	return err
}

// notInstalled reports whether there is no token as the app is not installed for the repo.
func notInstalled(err error) bool {
	var e *hosting.Error
	return errors.As(err, &e) && strings.Contains(e.Message, saysNotInstalled)
}
