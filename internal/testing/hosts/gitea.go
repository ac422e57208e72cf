package hosts

import (
	"net/http"
	"testing"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	server "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// Gitea returns a repo on a real Gitea, which the tests of a package share. Their TestMain stops it.
func Gitea(t *testing.T) hostingtest.World {
	t.Helper()
	s := server.Shared(t)
	s.Token(t, hostingtest.Outsider)
	r := s.AddRepo(t, "gitops", hostingtest.Ann, hostingtest.Bob, hostingtest.Cora)
	token := func(t testing.TB, as hostingtest.Credential) string {
		t.Helper()
		switch as {
		case hostingtest.Writer:
			return r.Token
		case hostingtest.Reader:
			return s.ReadToken(t, hostingtest.Bob)
		case hostingtest.Foreign:
			return s.Token(t, "eve")
		case hostingtest.Wrong:
			return "canaryWrong"
		}
		return ""
	}
	open := func(access httpapi.Access) (githost.Host, error) { return gitea.New(access) }
	return &GiteaWorld{r, world{r.Traffic, s.URL, nil, token, open}}
}

// GiteaWorld is a repo on the server that tests share.
type GiteaWorld struct {
	Repo *server.Repo
	world
}

// AddRepo implements [hostingtest.World].
func (w *GiteaWorld) AddRepo(testing.TB) hostingtest.Repo {
	push := func(f func()) { w.traffic.Once(http.MethodPost, "/git-receive-pack", f) }
	remote := w.Repo.RemoteAs(hostingtest.Ann)
	return giteaRepo{hostRepo{w.Repo, w.traffic, w.Repo.URL, remote, push, giteaRequests, giteaFailures}, w.Repo}
}

// Traits implements [hostingtest.World].
func (w *GiteaWorld) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: w.Repo.Login, Team: w.Repo.Owner + "/platform", HidesMethod: true, OpensEmpty: true, KeepsPushed: true,
		Grant: "write:repository",
	}
}

// Pause implements [hostingtest.World].
func (w *GiteaWorld) Pause(testing.TB) { time.Sleep(100 * time.Millisecond) }

// giteaRepo is a repo as people use it.
type giteaRepo struct {
	hostRepo
	repo *server.Repo
}

func (r giteaRepo) Require(t testing.TB, branch, context string) {
	t.Helper()
	r.repo.Require(t, branch, context)
}

func (r giteaRepo) SetStatus(t testing.TB, commit, context string, state githost.StatusState) {
	t.Helper()
	r.repo.SetStatus(t, hostingtest.Ann, commit, context, string(state))
}

func (r giteaRepo) Protect(t testing.TB, branches ...string) {
	t.Helper()
	r.repo.Protect(t, hostingtest.Ann, branches...)
}

var giteaRequests = requests{
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

func (r giteaRepo) Fail(t testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	t.Helper()
	if op == hostingtest.AutoMerge && how == hostingtest.Refused {
		r.repo.Set(t, map[string]any{"allow_squash_merge": false})
		return
	}
	r.hostRepo.Fail(t, op, times, how)
}
