package gitlab_test

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hostingtest"
)

// TestHost: GitLab does what all hosts do, also while it lags behind, and below a folder.
func TestHost(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]gitlabfake.Option{
		"prompt": nil, "lags below a folder": {gitlabfake.WithLag(2), gitlabfake.WithFolder("/git")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hostingtest.Run(t, func(t *testing.T) hostingtest.World {
				w := &world{clock: hostingtest.NewClockNow()}
				w.fake = gitlabfake.New(t, append(options, gitlabfake.WithGitBackend(), gitlabfake.WithClock(w.clock.Now))...)
				w.fake.AddToken("canaryForeign", "eve", nil)
				w.fake.AddToken("canaryReader", "bob", map[string]gitlabfake.Access{projectPath: gitlabfake.Reporter})
				return w
			})
		})
	}
}

const projectPath = "acme/platform/gitops"

// world is a fake GitLab.
type world struct {
	fake  *gitlabfake.Server
	clock *hostingtest.Clock
}

func (w *world) Host(t testing.TB, as hostingtest.Credential) hosting.Host {
	t.Helper()
	token := map[hostingtest.Credential]string{hostingtest.Writer: w.fake.Token, hostingtest.Reader: "canaryReader",
		hostingtest.Foreign: "canaryForeign", hostingtest.Wrong: "canaryWrong"}[as]
	host, err := gitlab.New(gitlab.Config{Token: token, BaseURL: w.fake.URL, Clock: w.clock, Credential: "token"})
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func (w *world) AddRepo(t testing.TB) hostingtest.Repo {
	t.Helper()
	return people{w.fake.AddProject(t, projectPath)}
}

func (w *world) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: "kalypso-bot", NoTeam: "acme/platform is no user name", NoLabel: `label "a,b" has a comma`,
		NoMethod:   map[hosting.MergeMethod]string{hosting.Rebase: `GitLab can't merge by "rebase" on request`},
		OpensEmpty: true, StopsOnPush: true, AsksAgain: true, UpdatesPending: true, Grant: "the role Developer",
	}
}

func (w *world) Requests() int { return len(w.fake.Requests()) }

func (w *world) Pause(t testing.TB) { w.clock.Pass(time.Second) }

// people use a project of the fake.
type people struct{ *gitlabfake.Project }

func (p people) URL() string { return p.Project.URL }

func (p people) Remote() string { return p.Dir }

func (p people) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return p.Project.Open(t, hostingtest.Ann, branch, target, title, body)
}

// Merge by rebase is a fast-forward: it is the project that chooses.
func (p people) Merge(t testing.TB, number int, method hosting.MergeMethod) string {
	t.Helper()
	if method == hosting.Rebase {
		p.FastForward()
	}
	return p.Project.Merge(t, number, method == hosting.Squash)
}

func (p people) Require(_ testing.TB, _, context string) { p.RequirePipeline(context != "") }

func (p people) SetStatus(_ testing.TB, commit, context string, state hosting.StatusState) {
	p.Project.SetStatus(hostingtest.Ann, commit, context, string(state))
}
