package hosts

import (
	"net/http"
	"strings"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

const projectPath = "acme/platform/gitops"

// GitLab returns a function that creates a fake GitLab, with a clock of its own.
func GitLab(options ...gitlabfake.Option) func(*testing.T) hostingtest.World {
	return func(t *testing.T) hostingtest.World {
		t.Helper()
		clock := hostingtest.NewClockNow()
		fake := gitlabfake.New(t, append([]gitlabfake.Option{gitlabfake.WithClock(clock.Now)}, options...)...)
		fake.AddToken(foreignToken, "eve", nil)
		fake.AddToken(readerToken, "bob", map[string]gitlabfake.Access{projectPath: gitlabfake.Reporter})
		return &GitLabWorld{fake, fakeWorld{
			Clock: clock, server: fake.Server, writer: fake.Token,
			open: func(access httpapi.Access) (githost.Host, error) { return gitlab.New(access) },
		}}
	}
}

// GitLabWorld is a fake GitLab.
type GitLabWorld struct {
	Fake *gitlabfake.Server
	fakeWorld
}

// AddRepo implements [hostingtest.World].
func (w *GitLabWorld) AddRepo(t testing.TB) hostingtest.Repo {
	t.Helper()
	return gitLabProject{w.Fake.AddProject(t, projectPath), w.Fake}
}

// Traits implements [hostingtest.World].
func (w *GitLabWorld) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: "kalypso-bot", NoTeam: "acme/platform is not a user name", NoLabel: `label "a,b" contains a comma`,
		NoMethod:   map[githost.MergeMethod]string{githost.Rebase: `GitLab can't merge by "rebase" on request`},
		OpensEmpty: true, StopsOnPush: true, AsksAgain: true, UpdatesPending: true, Grant: "the role Developer",
	}
}

// gitLabProject is a project of the fake as people use it.
type gitLabProject struct {
	*gitlabfake.Project
	fake *gitlabfake.Server
}

func (p gitLabProject) URL() string { return p.Project.URL }

func (p gitLabProject) Remote() string { return p.Dir }

func (p gitLabProject) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return p.Project.Open(t, hostingtest.Ann, branch, target, title, body)
}

// Merge by rebase is a fast-forward: it is the project that chooses.
func (p gitLabProject) Merge(t testing.TB, number int, method githost.MergeMethod) string {
	t.Helper()
	if method == githost.Rebase {
		p.FastForward()
	}
	return p.Project.Merge(t, number, method == githost.Squash)
}

func (p gitLabProject) Require(_ testing.TB, _, context string) { p.RequirePipeline(context != "") }

func (p gitLabProject) SetStatus(_ testing.TB, commit, context string, state githost.StatusState) {
	p.Project.SetStatus(hostingtest.Ann, commit, context, string(state))
}

func (p gitLabProject) PullRequests(t testing.TB) (all []githost.PullRequest) {
	t.Helper()
	for _, m := range p.MergeRequests() {
		if len(m.Commands) > 0 {
			t.Errorf("GitLab ran the quick actions %q", m.Commands)
		}
		pr := githost.PullRequest{
			Number: m.Number, State: githost.PullRequestState(m.State), Title: m.Title, Body: m.Body,
			Branch: m.Source, Target: m.Target,
			Draft: m.Draft, Labels: m.Labels, Reviewers: m.Reviewers,
		}
		if pr.State == "opened" {
			pr.State = githost.Open
		}
		if m.Draft {
			pr.Title = strings.TrimPrefix(m.Title, "Draft: ")
		}
		if m.AutoMerge {
			pr.AutoMerge = map[bool]githost.MergeMethod{false: githost.Merge, true: githost.Squash}[m.Squash]
		}
		all = append(all, pr)
	}
	return all
}

func (p gitLabProject) AutoMerge(t testing.TB, number int, method githost.MergeMethod) {
	t.Helper()
	p.Project.AutoMerge(t, number, method == githost.Squash)
}

// KeepOpen does nothing: the fake closes a merge request with the next request. GitLab may take longer.
func (p gitLabProject) KeepOpen() {}

func (p gitLabProject) Revoke(testing.TB) { p.fake.Revoke(p.fake.Token) }

var gitLabRequests = requests{
	hostingtest.Open: {http.MethodPost, "/merge_requests"}, hostingtest.Edit: {http.MethodPut, "/merge_requests/"},
	hostingtest.Read: {http.MethodGet, "/merge_requests/"}, hostingtest.Close: {http.MethodPut, "/merge_requests/"},
	hostingtest.AutoMerge: {http.MethodPut, "/1/merge"}, // of the first one
	hostingtest.Statuses:  {http.MethodGet, "/statuses"},
}

func (p gitLabProject) Before(op hostingtest.Operation, f func()) {
	if op == hostingtest.Push {
		p.fake.Git.BeforeReceive(f)
		return
	}
	p.fake.Before(gitLabRequests[op][0], gitLabRequests[op][1], func() bool { f(); return true })
}

// Fail does nothing for labels, which GitLab sets with the rest of a merge request.
func (p gitLabProject) Fail(_ testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	request, there := gitLabRequests[op]
	if !there {
		return
	}
	failure := map[hostingtest.Fault]gitlabfake.Failure{
		hostingtest.Dropped: {Drop: true}, hostingtest.AnswerLost: {Drop: true, After: true},
		hostingtest.Forbidden: {Status: http.StatusForbidden, Body: `{"message":"403 Forbidden"}`},
		hostingtest.NotSeen: {Status: http.StatusUnprocessableEntity,
			Body: `{"message":["Source branch \"x\" does not exist"]}`},
		hostingtest.NotReady: {Status: http.StatusMethodNotAllowed, Body: `{"message":"405 Method Not Allowed"}`},
		hostingtest.Down:     {Status: http.StatusServiceUnavailable, Body: `{"message":"503 Service Unavailable"}`},
		hostingtest.Refused:  {Status: http.StatusUnprocessableEntity, Body: `{"message":"Branch cannot be merged"}`},
	}[how]
	if how == hostingtest.Refused { // GitLab gives the same answer while it checks, so the request is repeated
		times = -1
	}
	p.fake.Fail(request[0], request[1], times, failure)
}
