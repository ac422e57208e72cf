package github

import (
	"context"
	"errors"
	"strings"

	"github.com/google/go-github/v53/github"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// scope is the repo and the permissions of an installation token. Empty permissions are not requested.
type scope struct {
	repo                                                      string // without the owner
	contents, issues, pullRequests, statuses, members, checks string
}

const (
	read  = "read"
	write = "write"
)

type scopeKey struct{}

// with returns a context. If an app makes the requests of this context, they use a token with the scope.
func (r *repo) with(ctx context.Context, s scope) context.Context {
	s.repo = r.name
	return context.WithValue(ctx, scopeKey{}, s)
}

// pulls requests the permissions for pull requests. They include writing contents, which a merge needs.
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
			Contents: permission(s.contents), Issues: permission(s.issues), PullRequests: permission(s.pullRequests),
			Statuses: permission(s.statuses), Members: permission(s.members), Checks: permission(s.checks),
		},
	}
}

// String describes the scope in errors.
func (s scope) String() string { return s.permissions() + " in repo " + s.repo }

// permissions lists the permissions of the scope.
func (s scope) permissions() string {
	var all []string
	for _, p := range []struct{ name, access string }{
		{"checks", s.checks}, {"contents", s.contents}, {"issues", s.issues}, {"members", s.members},
		{"pull_requests", s.pullRequests}, {"statuses", s.statuses},
	} {
		if p.access != "" {
			all = append(all, p.name+": "+p.access)
		}
	}
	return strings.Join(all, ", ")
}

// withKind sets the kind of the error if GitHub refuses a token with this scope.
func (s scope) withKind(err error) error {
	var e *githost.Error
	switch {
	case !errors.As(err, &e):
	case strings.Contains(e.Message, saysNotGranted):
		e.Kind = githost.ErrForbidden
	case notInstalled(err):
		e.Kind = githost.ErrNotVisible
	}
	return err
}

// notInstalled reports whether the app is not installed for the repo.
func notInstalled(err error) bool {
	var e *githost.Error
	return errors.As(err, &e) && strings.Contains(e.Message, saysNotInstalled)
}
