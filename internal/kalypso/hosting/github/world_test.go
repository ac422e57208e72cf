package github_test

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hostingtest"
)

// TestHost: GitHub does what all hosts do.
func TestHost(t *testing.T) {
	t.Parallel()
	hostingtest.Run(t, func(t *testing.T) hostingtest.World {
		w := &world{fake: githubfake.New(t, githubfake.WithGitBackend()), clock: hostingtest.NewClockNow()}
		w.fake.AddToken("canaryForeign", "eve", nil)
		w.fake.AddToken("canaryReader", "bob", map[string]githubfake.Access{"acme/gitops": githubfake.Read})
		return w
	})
}

// world is a fake GitHub.
type world struct {
	fake  *githubfake.Server
	clock *hostingtest.Clock
}

func (w *world) Host(t testing.TB, as hostingtest.Credential) hosting.Host {
	t.Helper()
	token := map[hostingtest.Credential]string{hostingtest.Writer: w.fake.Token, hostingtest.Reader: "canaryReader",
		hostingtest.Foreign: "canaryForeign", hostingtest.Wrong: "canaryWrong"}[as]
	host, err := github.New(github.Config{Token: token, BaseURL: w.fake.URL, Clock: w.clock, Credential: "token"})
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func (w *world) AddRepo(t testing.TB) hostingtest.Repo {
	t.Helper()
	repo := w.fake.AddRepo(t, "acme/gitops")
	repo.AddTeam("platform")
	repo.AddOutsider(hostingtest.Outsider)
	return people{repo}
}

func (w *world) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: "kalypso-bot", Team: "acme/platform", FoldsLabels: true, Grant: "the permission statuses: write",
	}
}

func (w *world) Requests() int { return len(w.fake.Requests()) }

func (w *world) Pause(testing.TB) { w.clock.Pass(time.Second) }

// people use a repo of the fake.
type people struct{ *githubfake.Repo }

func (p people) URL() string { return p.Repo.URL }

func (p people) Remote() string { return p.Path }

func (p people) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return p.Repo.Open(t, hostingtest.Ann, branch, target, title, body)
}

func (p people) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	p.Rename(t, number, title)
	p.Repo.Edit(t, number, body)
}

func (p people) Review(t testing.TB, number int, login string) {
	t.Helper()
	p.Repo.Review(t, number, login, "")
}

func (p people) Merge(t testing.TB, number int, method hosting.MergeMethod) string {
	t.Helper()
	return p.Repo.Merge(t, number, string(method))
}

func (p people) Require(_ testing.TB, branch, context string) { p.RequireStatus(branch, context) }

func (p people) SetStatus(_ testing.TB, commit, context string, state hosting.StatusState) {
	p.SetStatusAs(hostingtest.Ann, commit, context, string(state), "")
}
