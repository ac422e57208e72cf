package hosts

import (
	"net/http"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/azuredevops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	fake "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/azuredevopsfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// AzureDevOps returns a function that creates a fake Azure DevOps, with a clock of its own.
func AzureDevOps(options ...fake.Option) func(*testing.T) hostingtest.World {
	return func(t *testing.T) hostingtest.World {
		t.Helper()
		clock := hostingtest.NewClockNow()
		server := fake.New(t, append([]fake.Option{fake.WithClock(clock.Now)}, options...)...)
		server.AddToken(foreignToken, "eve", fake.NoAccess)
		server.AddToken(readerToken, "bob", fake.Reader)
		return &AzureDevOpsWorld{server, fakeWorld{
			Clock: clock, server: server.Server, writer: server.Token,
			open: func(access httpapi.Access) (githost.Host, error) {
				return azuredevops.New(azuredevops.Config{Access: access})
			},
		}}
	}
}

// AzureDevOpsWorld is a fake Azure DevOps.
type AzureDevOpsWorld struct {
	Fake *fake.Server
	fakeWorld
}

// AddRepo implements [hostingtest.World].
func (w *AzureDevOpsWorld) AddRepo(t testing.TB) hostingtest.Repo {
	t.Helper()
	return azureDevOpsRepo{w.Fake.AddRepo(t, "gitops"), w.Fake}
}

// Traits implements [hostingtest.World].
func (w *AzureDevOpsWorld) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: "kalypso-bot", Team: fake.Team, AnyTeam: true, OpensEmpty: true, KeepsPushed: true, KeepsDeleted: true,
		FoldsLabels: true, Grant: "Contribute to pull requests",
	}
}

var _ hostingtest.BusyRepo = azureDevOpsRepo{}

// azureDevOpsRepo is a repo of the fake as people use it.
type azureDevOpsRepo struct {
	*fake.Repo
	fake *fake.Server
}

func (r azureDevOpsRepo) URL() string { return r.Repo.URL }

func (r azureDevOpsRepo) Remote() string { return r.Dir }

func (r azureDevOpsRepo) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return r.Repo.Open(t, hostingtest.Ann, branch, target, title, body)
}

var azureStrategies = map[githost.MergeMethod]string{
	githost.Merge: "noFastForward", githost.Squash: "squash", githost.Rebase: "rebase",
}

func (r azureDevOpsRepo) Merge(t testing.TB, number int, method githost.MergeMethod) string {
	t.Helper()
	return r.Complete(t, number, azureStrategies[method])
}

func (r azureDevOpsRepo) Require(_ testing.TB, branch, context string) {
	r.Repo.Require(branch, context)
}

func (r azureDevOpsRepo) SetStatus(_ testing.TB, commit, context string, state githost.StatusState) {
	theirs := map[githost.StatusState]string{githost.Success: "succeeded", githost.Failure: "failed"}[state]
	if theirs == "" {
		theirs = string(state)
	}
	r.Repo.SetStatus(hostingtest.Ann, commit, context, theirs)
}

func (r azureDevOpsRepo) PullRequests(testing.TB) (all []githost.PullRequest) {
	for _, p := range r.Repo.PullRequests() {
		pr := githost.PullRequest{
			Number: p.Number, Title: p.Title, Body: p.Body, Branch: p.Source, Target: p.Target, Draft: p.Draft,
			Labels: p.Labels, Reviewers: p.Reviewers,
			State: map[string]githost.PullRequestState{
				"active": githost.Open, "abandoned": githost.Closed, "completed": githost.Merged}[p.Status],
		}
		for method, strategy := range azureStrategies {
			if p.Strategy == strategy {
				pr.AutoMerge = method
			}
		}
		all = append(all, pr)
	}
	return all
}

func (r azureDevOpsRepo) AutoMerge(t testing.TB, number int, method githost.MergeMethod) {
	t.Helper()
	r.AutoComplete(t, number, hostingtest.Ann, azureStrategies[method])
}

func (r azureDevOpsRepo) Protect(_ testing.TB, branches ...string) { r.Repo.Protect(branches...) }

// KeepOpen does nothing: Azure keeps a pull request whose branch was deleted open for ever.
func (r azureDevOpsRepo) KeepOpen() {}

func (r azureDevOpsRepo) Revoke(testing.TB) { r.fake.Revoke(r.fake.Token) }

var azureRequests = requests{
	hostingtest.Open: {http.MethodPost, "/pullRequests"}, hostingtest.Edit: {http.MethodPatch, "/pullRequests/"},
	hostingtest.Read: {http.MethodGet, "/pullRequests/"}, hostingtest.Close: {http.MethodPatch, "/pullRequests/"},
	hostingtest.AutoMerge: {http.MethodPatch, "/pullRequests/"}, hostingtest.Label: {http.MethodPost, "/labels"},
	hostingtest.Statuses: {http.MethodGet, "/statuses"},
}

func (r azureDevOpsRepo) Before(op hostingtest.Operation, f func()) {
	if op == hostingtest.Push {
		r.fake.Git.Azure.BeforePush(f)
		return
	}
	r.fake.Before(azureRequests[op][0], azureRequests[op][1], f)
}

func (r azureDevOpsRepo) Fail(_ testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	failure := map[hostingtest.Fault]fake.Failure{
		hostingtest.Dropped: {Drop: true}, hostingtest.AnswerLost: {Drop: true, After: true},
		hostingtest.Forbidden: fake.Error(http.StatusForbidden, "", "TF401027: You need the Git 'PullRequestContribute' "+
			"permission to perform this action."),
		hostingtest.NotSeen: fake.Error(http.StatusBadRequest, "", "TF401398: The pull request cannot be activated because "+
			"the source and/or the target branch no longer exists."),
		hostingtest.NotReady: fake.Error(http.StatusServiceUnavailable, "", "TF400898: The service is not available."),
		hostingtest.Down:     fake.Error(http.StatusServiceUnavailable, "", "TF400898: The service is not available."),
		hostingtest.Refused:  fake.Error(http.StatusBadRequest, "", "The merge strategy is not allowed by a policy."),
	}[how]
	r.fake.Fail(azureRequests[op][0], azureRequests[op][1], times, failure)
}
