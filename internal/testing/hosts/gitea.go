package hosts

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/gitea"
	server "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// Gitea returns a repo on a real Gitea, which the tests of a package share. Their TestMain stops it.
func Gitea(t *testing.T) hostingtest.World {
	t.Helper()
	s := server.Shared(t)
	s.Token(t, hostingtest.Outsider)
	return &giteaWorld{s, s.AddRepo(t, "gitops", hostingtest.Ann, hostingtest.Bob, hostingtest.Cora)}
}

// giteaWorld is a repo on the server that tests share.
type giteaWorld struct {
	server *server.Server
	repo   *server.Repo
}

func (w *giteaWorld) Host(t testing.TB, as hostingtest.Credential) githost.Host {
	t.Helper()
	return w.HostOver(t, as, nil)
}

func (w *giteaWorld) HostOver(
	t testing.TB, as hostingtest.Credential, transport http.RoundTripper,
) githost.Host {
	t.Helper()
	host, err := gitea.New(gitea.Config{
		Token: w.token(t, as), BaseURL: w.server.URL,
		Credential: "token", Transport: transport,
	})
	return hostOf(t, host, err)
}

func (w *giteaWorld) Arguments(t testing.TB, as hostingtest.Credential) map[string]any {
	t.Helper()
	return map[string]any{"base_url": w.server.URL, "token": w.token(t, as)}
}

func (w *giteaWorld) token(t testing.TB, as hostingtest.Credential) string {
	t.Helper()
	switch as {
	case hostingtest.Writer:
		return w.repo.Token
	case hostingtest.Reader:
		return w.server.ReadToken(t, hostingtest.Bob)
	case hostingtest.Foreign:
		return w.server.Token(t, "eve")
	case hostingtest.Wrong:
		return "canaryWrong"
	}
	return ""
}

func (w *giteaWorld) AddRepo(testing.TB) hostingtest.Repo { return giteaRepo{w.repo} }

func (w *giteaWorld) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: w.repo.Login, Team: w.repo.Owner + "/platform", HidesMethod: true, OpensEmpty: true, KeepsPushed: true,
		Grant: "write:repository",
	}
}

func (w *giteaWorld) Requests() int { return len(w.repo.Requests()) }

func (w *giteaWorld) Pause(testing.TB) { time.Sleep(100 * time.Millisecond) }

// giteaRepo is a repo as people use it.
type giteaRepo struct{ *server.Repo }

func (r giteaRepo) URL() string { return r.Repo.URL }

func (r giteaRepo) Remote() string { return r.RemoteAs(hostingtest.Ann) }

func (r giteaRepo) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return r.Repo.Open(t, hostingtest.Ann, branch, target, title, body)
}

func (r giteaRepo) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	r.Change(t, number, map[string]any{"title": title, "body": body})
}

// Label adds a label, which is created.
func (r giteaRepo) Label(t testing.TB, number int, name string) {
	t.Helper()
	var label struct{ ID int }
	r.API.Send(t, http.MethodPost, "/labels", map[string]any{"name": name, "color": "#00aabb"}, &label)
	added := map[string]any{"labels": []int{label.ID}}
	r.API.Send(t, http.MethodPost, fmt.Sprintf("/issues/%d/labels", number), added, nil)
}

// DeleteBranch deletes a branch. Gitea does not delete the default branch, so another branch becomes the default first.
func (r giteaRepo) DeleteBranch(t testing.TB, branch string) {
	t.Helper()
	r.API.Unprotect(t, branch)
	if branch == "main" {
		other := map[string]any{"new_branch_name": "default", "old_ref_name": branch}
		r.API.Send(t, http.MethodPost, "/branches", other, nil)
		r.Set(t, map[string]any{"default_branch": "default"})
	}
	r.API.Send(t, http.MethodDelete, "/branches/"+strings.ReplaceAll(branch, "/", "%2F"), nil, nil)
}

func (r giteaRepo) Close(t testing.TB, number int) {
	t.Helper()
	r.Change(t, number, map[string]any{"state": "closed"})
}

func (r giteaRepo) Reopen(t testing.TB, number int) {
	t.Helper()
	r.Change(t, number, map[string]any{"state": "open"})
}

func (r giteaRepo) Merge(t testing.TB, number int, method githost.MergeMethod) string {
	t.Helper()
	return r.Repo.Merge(t, number, string(method))
}

func (r giteaRepo) Require(t testing.TB, branch, context string) {
	t.Helper()
	r.Repo.Require(t, branch, context)
}

func (r giteaRepo) SetStatus(t testing.TB, commit, context string, state githost.StatusState) {
	t.Helper()
	r.Repo.SetStatus(t, hostingtest.Ann, commit, context, string(state))
}

func (r giteaRepo) PullRequests(t testing.TB) []githost.PullRequest {
	t.Helper()
	return shown(r.Repo.PullRequests(t))
}

func (r giteaRepo) Retarget(t testing.TB, number int, target string) {
	t.Helper()
	r.Change(t, number, map[string]any{"base": target})
}

func (r giteaRepo) AutoMerge(t testing.TB, number int, method githost.MergeMethod) {
	t.Helper()
	r.CancelMerge(t, number) // Gitea refuses another method
	r.ScheduleMerge(t, hostingtest.Ann, number, string(method))
}

func (r giteaRepo) Protect(t testing.TB, branches ...string) {
	t.Helper()
	r.Repo.Protect(t, hostingtest.Ann, branches...)
}

// KeepOpen does nothing: Gitea has no way to wait.
func (r giteaRepo) KeepOpen() {}

var giteaRequests = requests{
	hostingtest.Open: {http.MethodPost, "/pulls"}, hostingtest.Edit: {http.MethodPatch, "/pulls/"},
	hostingtest.Read: {http.MethodGet, "/pulls/"}, hostingtest.Close: {http.MethodPatch, "/pulls/"},
	hostingtest.AutoMerge: {http.MethodPost, "/merge"}, hostingtest.Label: {http.MethodPost, "/labels"},
	hostingtest.Push: {http.MethodPost, "/git-receive-pack"}, hostingtest.Statuses: {http.MethodGet, "/statuses"},
}

func (r giteaRepo) Before(op hostingtest.Operation, f func()) {
	r.Once(giteaRequests[op][0], giteaRequests[op][1], f)
}

func (r giteaRepo) Fail(t testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	t.Helper()
	if op == hostingtest.AutoMerge && how == hostingtest.Refused {
		r.Set(t, map[string]any{"allow_squash_merge": false})
		return
	}
	r.Repo.Fail(giteaRequests[op][0], giteaRequests[op][1], times, map[hostingtest.Fault]server.Failure{
		hostingtest.Dropped: {Drop: true}, hostingtest.AnswerLost: {Drop: true, After: true},
		hostingtest.Forbidden: {Status: http.StatusForbidden, Body: `{"message": "no"}`},
		hostingtest.NotSeen:   {Status: http.StatusNotFound, Body: `{"message": "not found"}`},
		hostingtest.NotReady:  {Status: http.StatusMethodNotAllowed, Body: `{"message": "Please try again later"}`},
		hostingtest.Down:      {Status: http.StatusServiceUnavailable, Body: `{"message": "no"}`},
		hostingtest.Refused:   {Status: http.StatusUnprocessableEntity, Body: `{"message": "no"}`},
	}[how])
}
