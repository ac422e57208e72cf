package hosts

import (
	"cmp"
	"net/http"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/azuredevops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	fake "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/azuredevopsfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// AzureDevOps returns a function that creates a fake Azure DevOps, with a clock of its own.
func AzureDevOps(options ...hostfake.Option) func(*testing.T) hostingtest.World {
	return func(t *testing.T) hostingtest.World {
		t.Helper()
		clock := hostingtest.NewClockNow()
		server := fake.New(t, append([]hostfake.Option{hostfake.WithClock(clock.Now)}, options...)...)
		open := func(access httpapi.Access) (githost.Host, error) {
			return azuredevops.New(azuredevops.Config{Access: access})
		}
		return &AzureDevOpsWorld{server, newFakeWorld(clock, server.Server, hostfake.AllRepos, open)}
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
	repo := w.Fake.AddRepo(t, "gitops")
	return azureDevOpsRepo{
		hostRepo{repo, w.traffic, repo.URL, repo.Dir, w.Fake.Git.Azure.BeforePush, azureRequests, azureFailures}, repo,
	}
}

// Traits implements [hostingtest.World].
func (w *AzureDevOpsWorld) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: "kalypso-bot", Team: fake.Team, AnyTeam: true, OpensEmpty: true, KeepsPushed: true, KeepsDeleted: true,
		FoldsLabels: true, Grant: "Contribute to pull requests",
	}
}

// azureDevOpsRepo is a repo of the fake as people use it. Azure keeps a pull request whose branch was deleted open for
// ever.
type azureDevOpsRepo struct {
	hostRepo
	repo *fake.Repo
}

func (r azureDevOpsRepo) Require(_ testing.TB, branch, context string) {
	r.repo.Require(branch, context)
}

func (r azureDevOpsRepo) SetStatus(_ testing.TB, commit, context string, state githost.StatusState) {
	theirs := map[githost.StatusState]string{githost.Success: "succeeded", githost.Failure: "failed"}[state]
	r.repo.SetStatus(hostingtest.Ann, commit, context, cmp.Or(theirs, string(state)))
}

func (r azureDevOpsRepo) Protect(_ testing.TB, branches ...string) { r.repo.Protect(branches...) }

var azureRequests = requests{
	hostingtest.Open: {http.MethodPost, "/pullRequests"}, hostingtest.Edit: {http.MethodPatch, "/pullRequests/"},
	hostingtest.Read: {http.MethodGet, "/pullRequests/"}, hostingtest.Close: {http.MethodPatch, "/pullRequests/"},
	hostingtest.AutoMerge: {http.MethodPatch, "/pullRequests/"}, hostingtest.Label: {http.MethodPost, "/labels"},
	hostingtest.Statuses: {http.MethodGet, "/statuses"},
}

var azureFailures = map[hostingtest.Fault]hostfake.Failure{
	hostingtest.Forbidden: fake.Error(http.StatusForbidden, "", "TF401027: You need the Git 'PullRequestContribute' "+
		"permission to perform this action."),
	hostingtest.NotSeen: fake.Error(http.StatusBadRequest, "", "TF401398: The pull request cannot be activated because "+
		"the source and/or the target branch no longer exists."),
	hostingtest.NotReady: fake.Error(http.StatusServiceUnavailable, "", "TF400898: The service is not available."),
	hostingtest.Down:     fake.Error(http.StatusServiceUnavailable, "", "TF400898: The service is not available."),
	hostingtest.Refused:  fake.Error(http.StatusBadRequest, "", "The merge strategy is not allowed by a policy."),
}
