package hosts

import (
	"net/http"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/azuredevops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	fake "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/azuredevopsfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// AzureDevOps returns a function that creates a fake Azure DevOps, with a clock of its own. Azure keeps a pull request
// whose branch was deleted open for ever.
func AzureDevOps(options ...hostfake.Option) func(*testing.T) *hostingtest.World {
	return func(t *testing.T) *hostingtest.World {
		t.Helper()
		clock, options := withClock(options)
		server := fake.New(t, options...)
		open := func(access httpapi.Access) (githost.Host, error) {
			return azuredevops.New(azuredevops.Config{Access: access})
		}
		w := newFakeWorld(clock, server, server.Server, hostfake.AllRepos, open)
		w.Traits = hostingtest.Traits{
			Login: "kalypso-bot", Team: fake.Team, AnyTeam: true, OpensEmpty: true, KeepsPushed: true, KeepsDeleted: true,
			FoldsLabels: true, Grant: "Contribute to pull requests",
		}
		w.AddRepo = func(t testing.TB) *hostingtest.Repo {
			t.Helper()
			repo := server.AddRepo(t, "gitops")
			return &hostingtest.Repo{
				People: repo, World: w, URL: repo.URL, Remote: repo.Dir, BeforePush: server.Git.BeforeReceive,
				Requests: azureRequests, Failures: azureFailures,
			}
		}
		return w
	}
}

var azureRequests = map[hostingtest.Operation][2]string{
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
