package hosts

import (
	"net/http"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// GitHub returns a function that creates a fake GitHub, with a clock of its own.
func GitHub(options ...hostfake.Option) func(*testing.T) hostingtest.World {
	return func(t *testing.T) hostingtest.World {
		t.Helper()
		clock := hostingtest.NewClockNow()
		fake := githubfake.New(t, append([]hostfake.Option{hostfake.WithClock(clock.Now)}, options...)...)
		open := func(access httpapi.Access) (githost.Host, error) { return github.New(github.Config{Access: access}) }
		return &GitHubWorld{fake, newFakeWorld(clock, fake.Server, "acme/gitops", open)}
	}
}

// GitHubWorld is a fake GitHub.
type GitHubWorld struct {
	Fake *githubfake.Server
	fakeWorld
}

// AddRepo implements [hostingtest.World].
func (w *GitHubWorld) AddRepo(t testing.TB) hostingtest.Repo {
	t.Helper()
	repo := w.Fake.AddRepo(t, "acme/gitops")
	repo.AddTeam("platform")
	repo.AddOutsider(hostingtest.Outsider)
	return gitHubRepo{
		hostRepo{&repo.Pulls, w.traffic, repo.URL, repo.Path, w.Fake.Git.BeforeReceive, gitHubRequests, gitHubFailures}, repo,
	}
}

// Traits implements [hostingtest.World].
func (w *GitHubWorld) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: "kalypso-bot", Team: "acme/platform", FoldsLabels: true, Grant: "the permission statuses: write",
	}
}

// gitHubRepo is a repo of the fake as people use it.
type gitHubRepo struct {
	hostRepo
	repo *githubfake.Repo
}

// Review is by a member of the team.
func (r gitHubRepo) Review(t testing.TB, number int, login string) {
	t.Helper()
	r.repo.Review(t, number, login, "platform")
}

func (r gitHubRepo) Require(_ testing.TB, branch, context string) {
	r.repo.RequireStatus(branch, context)
}

func (r gitHubRepo) SetStatus(_ testing.TB, commit, context string, state githost.StatusState) {
	r.repo.SetStatusAs(hostingtest.Ann, commit, context, string(state), "")
}

func (r gitHubRepo) Protect(t testing.TB, branches ...string) {
	t.Helper()
	r.repo.Protect(t, branches...)
}

// KeepOpen implements [hostingtest.BusyRepo].
func (r gitHubRepo) KeepOpen() { r.repo.KeepOpen() }

// Queues returns the merge queues, which no other host has.
func (r gitHubRepo) Queues() githubfake.MergeQueues { return r.repo.MergeQueues }

var gitHubRequests = requests{
	hostingtest.Open: {http.MethodPost, "/pulls"}, hostingtest.Edit: {http.MethodPatch, "/pulls/"},
	hostingtest.Read: {http.MethodGet, "/pulls/"}, hostingtest.Close: {http.MethodPatch, "/pulls/"},
	hostingtest.AutoMerge: {http.MethodPost, "/graphql"}, hostingtest.Label: {http.MethodPost, "/labels"},
	hostingtest.Statuses: {http.MethodPost, "/graphql"},
}

var gitHubFailures = map[hostingtest.Fault]hostfake.Failure{
	hostingtest.Forbidden: githubfake.Forbidden("no"), hostingtest.NotSeen: githubfake.HeadNotSeen(),
	hostingtest.NotReady: githubfake.BaseMoved(),
	hostingtest.Down:     githubfake.ServerError(http.StatusServiceUnavailable, 0),
	hostingtest.Refused:  {Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed"}`},
}

// noAutoMerge is GitHub's answer to auto-merge in a repo that does not allow it.
const noAutoMerge = `{"errors":[{"type":"UNPROCESSABLE",` +
	`"message":"Pull request Auto merge is not allowed for this repository"}]}`

func (r gitHubRepo) Fail(t testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	t.Helper()
	switch {
	case op == hostingtest.AutoMerge && how == hostingtest.NotReady: // it merges at once, and auto-merge waits
		r.traffic.Fail(http.MethodPut, "/merge", times, gitHubFailures[how])
	case op == hostingtest.AutoMerge && how == hostingtest.Refused:
		r.traffic.Fail(http.MethodPost, "/graphql", times, hostfake.Failure{Status: http.StatusOK, Body: noAutoMerge})
	default:
		r.hostRepo.Fail(t, op, times, how)
	}
}
