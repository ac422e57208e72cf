package hosts

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// Gitea returns a repo on a real Gitea, which the tests of a package share. Their TestMain stops it.
func Gitea(t *testing.T) *hostingtest.World {
	t.Helper()
	s := giteaserver.Shared(t)
	s.Token(t, hostingtest.Outsider)
	repo := s.AddRepo(t, "gitops", hostingtest.Ann, hostingtest.Bob, hostingtest.Cora)
	w := &hostingtest.World{
		Server: repo, URL: s.URL, Traffic: repo.Traffic,
		Open: func(access httpapi.Access) (githost.Host, error) {
			access.Clock = patientClock{}
			return gitea.New(access)
		},
		Token: func(t testing.TB, as hostingtest.Credential) string {
			t.Helper()
			switch as {
			case hostingtest.Writer:
				return repo.Token
			case hostingtest.Reader:
				return s.ReadToken(t, hostingtest.Bob)
			case hostingtest.Foreign:
				return s.Token(t, "eve")
			case hostingtest.Wrong:
				return "canaryWrong"
			}
			return ""
		},
		Traits: hostingtest.Traits{
			Login: repo.Login, Team: repo.Owner + "/platform", HidesMethod: true, OpensEmpty: true, KeepsPushed: true,
			DraftPrefix: "WIP: ", Grant: "write:repository",
		},
	}
	w.AddRepo = func(testing.TB) *hostingtest.Repo {
		return &hostingtest.Repo{
			People: repo, World: w, URL: repo.URL, Remote: repo.RemoteAs(hostingtest.Ann),
			BeforePush: func(f func()) { w.Traffic.Once(http.MethodPost, "/git-receive-pack", f) },
			Requests:   giteaRequests, Failures: giteaFailures, OpenIssue: repo.API.OpenIssue,
			FailOwn: func(t testing.TB, op hostingtest.Operation, _ int, how hostingtest.Fault) bool {
				t.Helper()
				forbidden := op == hostingtest.AutoMerge && how == hostingtest.Refused
				if forbidden {
					repo.Set(t, map[string]any{"allow_squash_merge": false})
				}
				return forbidden
			},
		}
	}
	return w
}

// patientClock is the clock of the machine, on which long waits are longer: Gitea may check a pull request for a minute
// on a machine that runs many tests, and a test is not about that.
type patientClock struct{ httpapi.MachineClock }

// Sleep implements [httpapi.Clock].
func (c patientClock) Sleep(ctx context.Context, d time.Duration) error {
	if d >= 4*time.Second {
		d *= 8
	}
	return c.MachineClock.Sleep(ctx, d)
}

var giteaRequests = map[hostingtest.Operation][2]string{
	hostingtest.Open: {http.MethodPost, "/pulls"}, hostingtest.Edit: {http.MethodPatch, "/pulls/"},
	hostingtest.Read: {http.MethodGet, "/pulls/"}, hostingtest.Close: {http.MethodPatch, "/pulls/"},
	hostingtest.AutoMerge: {http.MethodPost, "/merge"}, hostingtest.Label: {http.MethodPost, "/labels"},
	hostingtest.Statuses: {http.MethodGet, "/statuses"},
}

var giteaFailures = map[hostingtest.Fault]hostfake.Failure{
	hostingtest.Forbidden: {Status: http.StatusForbidden, Body: `{"message": "no"}`},
	hostingtest.NotSeen:   {Status: http.StatusNotFound, Body: `{"message": "not found"}`},
	hostingtest.NotReady:  {Status: http.StatusMethodNotAllowed, Body: `{"message": "Please try again later"}`},
	hostingtest.Down:      {Status: http.StatusServiceUnavailable, Body: `{"message": "no"}`},
	hostingtest.Refused:   {Status: http.StatusUnprocessableEntity, Body: `{"message": "no"}`},
}
