package hosts

import (
	"net/http"
	"strings"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

const projectPath = "acme/platform/gitops"

// GitLab returns a function that creates a fake GitLab, with a clock of its own.
func GitLab(options ...hostfake.Option) func(*testing.T) hostingtest.World {
	return func(t *testing.T) hostingtest.World {
		t.Helper()
		clock := hostingtest.NewClockNow()
		fake := gitlabfake.New(t, append([]hostfake.Option{hostfake.WithClock(clock.Now)}, options...)...)
		open := func(access httpapi.Access) (githost.Host, error) { return gitlab.New(access) }
		return &GitLabWorld{fake, newFakeWorld(clock, fake.Server, projectPath, open)}
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
	project := w.Fake.AddProject(t, projectPath)
	return gitLabProject{
		hostRepo{project, w.traffic, project.URL, project.Dir, w.Fake.Git.BeforeReceive, gitLabRequests, gitLabFailures},
		project,
	}
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
	hostRepo
	project *gitlabfake.Project
}

// Merge by rebase is a fast-forward: it is the project that chooses.
func (p gitLabProject) Merge(t testing.TB, number int, method githost.MergeMethod) string {
	t.Helper()
	if method == githost.Rebase {
		p.project.FastForward()
	}
	return p.hostRepo.Merge(t, number, method)
}

func (p gitLabProject) Require(_ testing.TB, _, context string) {
	p.project.RequirePipeline(context != "")
}

func (p gitLabProject) SetStatus(_ testing.TB, commit, context string, state githost.StatusState) {
	p.project.SetStatus(hostingtest.Ann, commit, context, string(state))
}

func (p gitLabProject) Protect(t testing.TB, branches ...string) {
	t.Helper()
	p.project.Protect(t, branches...)
}

// PullRequests implements [hostingtest.BusyRepo]: a draft's title begins with a word.
func (p gitLabProject) PullRequests(t testing.TB) []githost.PullRequest {
	t.Helper()
	all := p.hostRepo.PullRequests(t)
	for i, pr := range all {
		if pr.Draft {
			all[i].Title = strings.TrimPrefix(pr.Title, "Draft: ")
		}
	}
	return all
}

var gitLabRequests = requests{
	hostingtest.Open: {http.MethodPost, "/merge_requests"}, hostingtest.Edit: {http.MethodPut, "/merge_requests/"},
	hostingtest.Read: {http.MethodGet, "/merge_requests/"}, hostingtest.Close: {http.MethodPut, "/merge_requests/"},
	hostingtest.AutoMerge: {http.MethodPut, "/1/merge"}, // of the first one
	hostingtest.Statuses:  {http.MethodGet, "/statuses"},
	// Labels are set with the rest of a merge request.
}

var gitLabFailures = map[hostingtest.Fault]hostfake.Failure{
	hostingtest.Forbidden: {Status: http.StatusForbidden, Body: `{"message":"403 Forbidden"}`},
	hostingtest.NotSeen: {Status: http.StatusUnprocessableEntity,
		Body: `{"message":["Source branch \"x\" does not exist"]}`},
	hostingtest.NotReady: {Status: http.StatusMethodNotAllowed, Body: `{"message":"405 Method Not Allowed"}`},
	hostingtest.Down:     {Status: http.StatusServiceUnavailable, Body: `{"message":"503 Service Unavailable"}`},
	hostingtest.Refused:  {Status: http.StatusUnprocessableEntity, Body: `{"message":"Branch cannot be merged"}`},
}

func (p gitLabProject) Fail(t testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	t.Helper()
	if how == hostingtest.Refused { // GitLab gives the same answer while it checks, so the request is repeated
		times = -1
	}
	p.hostRepo.Fail(t, op, times, how)
}
