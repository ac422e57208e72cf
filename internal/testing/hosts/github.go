package hosts

import (
	"net/http"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// GitHub returns a function that creates a fake GitHub, with a clock of its own.
func GitHub(options ...hostfake.Option) func(*testing.T) *hostingtest.World {
	return func(t *testing.T) *hostingtest.World {
		t.Helper()
		clock, options := withClock(options)
		fake := githubfake.New(t, options...)
		open := func(access httpapi.Access) (githost.Host, error) { return github.New(github.Config{Access: access}) }
		w := newFakeWorld(clock, fake, fake.Server, "acme/gitops", open)
		w.Traits = hostingtest.Traits{
			Login: "kalypso-bot", Team: "acme/platform", FoldsLabels: true, Grant: "the permission statuses: write",
		}
		w.AddRepo = func(t testing.TB) *hostingtest.Repo {
			t.Helper()
			repo := fake.AddRepo(t, "acme/gitops")
			repo.AddTeam("platform")
			repo.Outsiders = []string{hostingtest.Outsider}
			return &hostingtest.Repo{
				People: repo, World: w, URL: repo.URL, Remote: repo.Path, BeforePush: fake.Git.BeforeReceive,
				Requests: gitHubRequests, Failures: gitHubFailures, FailOwn: failAutoMerge(w.Traffic),
				OpenIssue: repo.OpenIssue,
			}
		}
		return w
	}
}

var gitHubRequests = map[hostingtest.Operation][2]string{
	hostingtest.Open: {http.MethodPost, "/pulls"}, hostingtest.Edit: {http.MethodPatch, "/pulls/"},
	hostingtest.Read: {http.MethodGet, "/pulls/"}, hostingtest.Close: {http.MethodPatch, "/pulls/"},
	hostingtest.AutoMerge: {http.MethodPost, "/graphql"}, hostingtest.Label: {http.MethodPost, "/labels"},
	hostingtest.Statuses: {http.MethodPost, "/graphql"},
}

var gitHubFailures = map[hostingtest.Fault]hostfake.Failure{
	hostingtest.Forbidden: githubfake.Forbidden("no"), hostingtest.NotSeen: githubfake.HeadNotSeen,
	hostingtest.NotReady: githubfake.BaseMoved,
	hostingtest.Down:     githubfake.ServerError(http.StatusServiceUnavailable, 0),
	hostingtest.Refused:  {Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed"}`},
}

// noAutoMerge is GitHub's answer to auto-merge in a repo that does not allow it.
const noAutoMerge = `{"errors":[{"type":"UNPROCESSABLE",` +
	`"message":"Pull request Auto merge is not allowed for this repository"}]}`

// failAutoMerge returns the failures of auto-merge that are not those of its request.
func failAutoMerge(traffic *hostfake.Traffic) func(testing.TB, hostingtest.Operation, int, hostingtest.Fault) bool {
	return func(_ testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) bool {
		switch {
		case op == hostingtest.AutoMerge && how == hostingtest.NotReady: // it merges at once, and auto-merge waits
			traffic.Fail(http.MethodPut, "/merge", times, gitHubFailures[how])
		case op == hostingtest.AutoMerge && how == hostingtest.Refused:
			traffic.Fail(http.MethodPost, "/graphql", times, hostfake.Failure{Status: http.StatusOK, Body: noAutoMerge})
		default:
			return false
		}
		return true
	}
}
