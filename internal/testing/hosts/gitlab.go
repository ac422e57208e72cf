package hosts

import (
	"net/http"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

const projectPath = "acme/platform/gitops"

// GitLab returns a function that creates a fake GitLab, with a clock of its own.
func GitLab(options ...hostfake.Option) func(*testing.T) *hostingtest.World {
	return func(t *testing.T) *hostingtest.World {
		t.Helper()
		clock, options := withClock(options)
		fake := gitlabfake.New(t, options...)
		open := func(access httpapi.Access) (githost.Host, error) { return gitlab.New(access) }
		w := newFakeWorld(clock, fake, fake.Server, projectPath, open)
		w.Traits = hostingtest.Traits{
			Login: "kalypso-bot", NoTeam: "acme/platform is not a user name", NoLabel: `label "a,b" contains a comma`,
			NoMethod:   map[githost.MergeMethod]string{githost.Rebase: `GitLab can't merge by "rebase" on request`},
			OpensEmpty: true, StopsOnPush: true, AsksAgain: true, UpdatesPending: true, DraftPrefix: "Draft: ",
			Grant: "the role Developer",
		}
		w.AddRepo = func(t testing.TB) *hostingtest.Repo {
			t.Helper()
			project := fake.AddProject(t, projectPath)
			return &hostingtest.Repo{
				People: project, World: w, URL: project.URL, Remote: project.Dir, BeforePush: fake.Git.BeforeReceive,
				Requests: gitLabRequests, Failures: gitLabFailures, OpenIssue: project.OpenIssue,
				FailOwn: func(_ testing.TB, op hostingtest.Operation, _ int, how hostingtest.Fault) bool {
					if how == hostingtest.Refused { // GitLab gives the same answer while it checks, so the request is repeated
						w.Traffic.Fail(gitLabRequests[op][0], gitLabRequests[op][1], -1, gitLabFailures[how])
					}
					return how == hostingtest.Refused
				},
			}
		}
		return w
	}
}

var gitLabRequests = map[hostingtest.Operation][2]string{
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
