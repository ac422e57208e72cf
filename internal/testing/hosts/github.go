package hosts

import (
	"net/http"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// GitHub returns a function that creates a fake GitHub, with a clock of its own.
func GitHub(options ...githubfake.Option) func(*testing.T) hostingtest.World {
	return func(t *testing.T) hostingtest.World {
		t.Helper()
		clock := hostingtest.NewClockNow()
		fake := githubfake.New(t, append([]githubfake.Option{githubfake.WithClock(clock.Now)}, options...)...)
		fake.AddToken(foreignToken, "eve", nil)
		fake.AddToken(readerToken, "bob", map[string]githubfake.Access{"acme/gitops": githubfake.Read})
		return &GitHubWorld{fake, fakeWorld{
			Clock: clock, server: fake.Server, writer: fake.Token,
			open: func(access httpapi.Access) (githost.Host, error) { return github.New(github.Config{Access: access}) },
		}}
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
	return gitHubRepo{repo, w.Fake}
}

// Traits implements [hostingtest.World].
func (w *GitHubWorld) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: "kalypso-bot", Team: "acme/platform", FoldsLabels: true, Grant: "the permission statuses: write",
	}
}

// gitHubRepo is a repo of the fake as people use it.
type gitHubRepo struct {
	*githubfake.Repo
	fake *githubfake.Server
}

func (r gitHubRepo) URL() string { return r.Repo.URL }

func (r gitHubRepo) Remote() string { return r.Path }

func (r gitHubRepo) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return r.Repo.Open(t, hostingtest.Ann, branch, target, title, body)
}

func (r gitHubRepo) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	r.Rename(t, number, title)
	r.Repo.Edit(t, number, body)
}

// Review is by a member of the team.
func (r gitHubRepo) Review(t testing.TB, number int, login string) {
	t.Helper()
	r.Repo.Review(t, number, login, "platform")
}

func (r gitHubRepo) Merge(t testing.TB, number int, method githost.MergeMethod) string {
	t.Helper()
	return r.Repo.Merge(t, number, string(method))
}

func (r gitHubRepo) Require(_ testing.TB, branch, context string) { r.RequireStatus(branch, context) }

func (r gitHubRepo) SetStatus(_ testing.TB, commit, context string, state githost.StatusState) {
	r.SetStatusAs(hostingtest.Ann, commit, context, string(state), "")
}

func (r gitHubRepo) PullRequests(t testing.TB) (all []githost.PullRequest) {
	t.Helper()
	for _, p := range r.Repo.PullRequests() {
		var asked []string
		for _, name := range r.ReviewRequests(t, p.Number) {
			if name == "team:platform" {
				name = "acme/platform"
			}
			asked = append(asked, name)
		}
		var queue *githost.QueuePlace
		if p.QueuedBy != "" {
			queue = &githost.QueuePlace{OwnEntry: p.QueuedBy == p.Author}
		}
		all = append(all, githost.PullRequest{
			Queue: queue, Number: p.Number, State: githost.PullRequestState(p.State), Title: p.Title, Body: p.Body,
			Branch: p.Head, Target: p.Base,
			Draft: p.Draft, AutoMerge: githost.MergeMethod(p.AutoMerge), Labels: p.Labels, Reviewers: asked,
		})
	}
	return all
}

func (r gitHubRepo) AutoMerge(t testing.TB, number int, method githost.MergeMethod) {
	t.Helper()
	r.Repo.AutoMerge(t, number, string(method))
}

// Queues returns the merge queues, which no other host has.
func (r gitHubRepo) Queues() githubfake.MergeQueues { return r.MergeQueues }

func (r gitHubRepo) Revoke(testing.TB) { r.fake.Revoke(r.fake.Token) }

var gitHubRequests = requests{
	hostingtest.Open: {http.MethodPost, "/pulls"}, hostingtest.Edit: {http.MethodPatch, "/pulls/"},
	hostingtest.Read: {http.MethodGet, "/pulls/"}, hostingtest.Close: {http.MethodPatch, "/pulls/"},
	hostingtest.AutoMerge: {http.MethodPost, "/graphql"}, hostingtest.Label: {http.MethodPost, "/labels"},
	hostingtest.Statuses: {http.MethodPost, "/graphql"},
}

func (r gitHubRepo) Before(op hostingtest.Operation, f func()) {
	if op == hostingtest.Push {
		r.fake.Git.BeforeReceive(f)
		return
	}
	r.fake.Before(gitHubRequests[op][0], gitHubRequests[op][1], func() bool { f(); return true })
}

// noAutoMerge is GitHub's answer to auto-merge in a repo that does not allow it.
const noAutoMerge = `{"errors":[{"type":"UNPROCESSABLE",` +
	`"message":"Pull request Auto merge is not allowed for this repository"}]}`

func (r gitHubRepo) Fail(_ testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	method, path := gitHubRequests[op][0], gitHubRequests[op][1]
	failure := map[hostingtest.Fault]githubfake.Failure{
		hostingtest.Dropped: githubfake.Dropped(), hostingtest.AnswerLost: githubfake.AnswerLost(),
		hostingtest.Forbidden: githubfake.Forbidden("no"), hostingtest.NotSeen: githubfake.HeadNotSeen(),
		hostingtest.NotReady: githubfake.BaseMoved(),
		hostingtest.Down:     githubfake.ServerError(http.StatusServiceUnavailable, 0),
		hostingtest.Refused:  {Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed"}`},
	}[how]
	switch {
	case op == hostingtest.AutoMerge && how == hostingtest.NotReady: // it merges at once, and auto-merge waits
		method, path = http.MethodPut, "/merge"
	case op == hostingtest.AutoMerge && how == hostingtest.Refused:
		failure = githubfake.Failure{Status: http.StatusOK, Body: noAutoMerge}
	}
	r.fake.Fail(method, path, times, failure)
}
