package github

import (
	"context"
	"strings"
)

// scope is the repo and the permissions of an installation token.
type scope struct {
	repo        string // without the owner
	permissions string // sorted by name, such as "contents: write, pull_requests: write"
}

type scopeKey struct{}

// with returns a context. If an app makes the requests of this context, they use a token with these permissions.
func (r *repo) with(ctx context.Context, permissions string) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope{r.name, permissions})
}

// pulls requests the permissions for pull requests. They include writing contents, which a merge needs.
func (r *repo) pulls(ctx context.Context) context.Context {
	return r.with(ctx, "contents: write, pull_requests: write")
}

func scopeOf(ctx context.Context) scope {
	s, _ := ctx.Value(scopeKey{}).(scope)
	return s
}

// request returns the body of a request for a token with the scope.
func (s scope) request() any {
	permissions := map[string]string{}
	for permission := range strings.SplitSeq(s.permissions, ", ") {
		name, access, _ := strings.Cut(permission, ": ")
		permissions[name] = access
	}
	return struct {
		Repositories []string          `json:"repositories"`
		Permissions  map[string]string `json:"permissions"`
	}{[]string{s.repo}, permissions}
}

// String describes the scope in errors.
func (s scope) String() string { return s.permissions + " in repo " + s.repo }
