package github_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// place is a repo of the fake with a commit on main, and a branch change with one more commit.
type place struct {
	t     *testing.T
	fake  *githubfake.Server
	on    *githubfake.Repo
	clock *hostingtest.Clock
	repo  githost.Repo
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, clock: hostingtest.NewClockNow()}
	p.fake = githubfake.New(t, hostfake.WithClock(p.clock.Now), hostfake.WithGitBackend())
	p.on = p.fake.AddRepo(t, "acme/gitops")
	gitserver.Seed(t, p.on.Path, "main", map[string]string{"README.md": "hello\n"})
	p.branch("change")
	p.repo = p.as(github.Config{Access: httpapi.Access{Token: p.fake.Token}})
	return p
}

// branch adds a commit to a branch that starts at the head of main.
func (p *place) branch(name string) {
	p.t.Helper()
	if gitserver.Rev(p.t, p.on.Path, name) == "" {
		gitserver.Git(p.t, p.on.Path, "branch", name, "main")
	}
	gitserver.Seed(p.t, p.on.Path, name, map[string]string{name: gitserver.Rev(p.t, p.on.Path, name)})
}

// client returns a client for the fake.
func (p *place) client(c github.Config) *github.Client {
	p.t.Helper()
	c.BaseURL, c.Clock = p.fake.URL, p.clock
	client, err := github.New(c)
	if err != nil {
		p.t.Fatal(err)
	}
	return client
}

func (p *place) as(c github.Config) githost.Repo {
	p.t.Helper()
	repo, err := p.client(c).Repo(p.on.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	return repo
}

// within returns a context with a deadline by the test's clock.
func (p *place) within(d time.Duration) context.Context {
	ctx, cancel := context.WithDeadline(p.t.Context(), p.clock.Now().Add(d))
	p.t.Cleanup(cancel)
	return ctx
}

func (p *place) proposal() githost.PullRequestContent {
	return githost.PullRequestContent{Branch: "change", Target: "main", Title: "Title", Body: "Text\n" + marker}
}

var (
	marker = githost.Marker("dev", "main", ".")
	query  = githost.Query{Branch: "change", Target: "main", Marker: marker}
)

// calls returns the requests to the API since the last call, as method and path.
func (p *place) calls() []string {
	var all []string
	for _, r := range p.fake.Requests() {
		all = append(all, r.Method+" "+strings.TrimPrefix(r.Path, "/repos/acme/gitops"))
	}
	p.fake.ResetLog()
	return all
}

// expectError fails the test unless the error is of this kind, contains the text, and contains no secret of the fake.
func expectError(t *testing.T, err, kind error, said string) {
	t.Helper()
	var e *githost.Error
	switch {
	case !errors.Is(err, kind) || !errors.As(err, &e):
		t.Errorf("the error is %v (%T), want %v", err, err, kind)
	case !strings.Contains(err.Error(), said):
		t.Errorf("the error does not say %q: %v", said, err)
	case strings.Contains(err.Error(), "canary"), strings.Contains(err.Error(), "eyJ"),
		strings.Contains(err.Error(), "PRIVATE"):
		t.Errorf("a secret is in the error: %v", err)
	}
}

// must returns a function that returns the pull request, or fails the test if there is an error.
func must(t *testing.T) func(*githost.PullRequest, error) githost.PullRequest {
	return func(p *githost.PullRequest, err error) githost.PullRequest {
		t.Helper()
		if err != nil || p == nil {
			t.Fatalf("%v, %v", p, err)
		}
		return *p
	}
}
