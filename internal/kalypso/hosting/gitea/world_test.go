package gitea_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/gitea"
	server "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hostingtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// TestHost: a real Gitea does what all hosts do.
func TestHost(t *testing.T) {
	t.Parallel()
	hostingtest.Run(t, func(t *testing.T) hostingtest.World {
		s := server.Shared(t)
		s.Token(t, hostingtest.Outsider)
		return &world{s, s.AddRepo(t, "gitops", hostingtest.Ann, hostingtest.Bob)}
	})
}

// world is a repo on the server that tests share.
type world struct {
	server *server.Server
	repo   *server.Repo
}

func (w *world) Host(t testing.TB, as hostingtest.Credential) hosting.Host {
	t.Helper()
	token := ""
	switch as {
	case hostingtest.Writer:
		token = w.repo.Token
	case hostingtest.Reader:
		token = w.server.ReadToken(t, hostingtest.Bob)
	case hostingtest.Foreign:
		token = w.server.Token(t, "eve")
	case hostingtest.Wrong:
		token = "canaryWrong"
	}
	host, err := gitea.New(gitea.Config{Token: token, BaseURL: w.server.URL, Credential: "token"})
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func (w *world) AddRepo(testing.TB) hostingtest.Repo { return people{w.repo} }

func (w *world) Traits() hostingtest.Traits {
	return hostingtest.Traits{
		Login: w.repo.Login, Team: w.repo.Owner + "/platform", HidesMethod: true, OpensEmpty: true, KeepsPushed: true,
		Grant: "write:repository",
	}
}

func (w *world) Requests() int { return len(w.repo.Requests()) }

func (w *world) Pause(testing.TB) { time.Sleep(100 * time.Millisecond) }

// people use a repo.
type people struct{ *server.Repo }

func (p people) URL() string { return p.Repo.URL }

func (p people) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return p.Repo.Open(t, hostingtest.Ann, branch, target, title, body)
}

func (p people) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	p.Change(t, number, map[string]any{"title": title, "body": body})
}

func (p people) Close(t testing.TB, number int) {
	t.Helper()
	p.Change(t, number, map[string]any{"state": "closed"})
}

func (p people) Reopen(t testing.TB, number int) {
	t.Helper()
	p.Change(t, number, map[string]any{"state": "open"})
}

func (p people) Merge(t testing.TB, number int, method hosting.MergeMethod) string {
	t.Helper()
	p.Repo.Merge(t, number, string(method))
	return rev(t, p.Repo, "main")
}

func (p people) Require(t testing.TB, branch, context string) {
	t.Helper()
	p.Repo.Require(t, branch, context)
}

func (p people) SetStatus(t testing.TB, commit, context string, state hosting.StatusState) {
	t.Helper()
	p.Repo.SetStatus(t, hostingtest.Ann, commit, context, string(state))
}

// rev returns the commit of a branch, or "".
func rev(t testing.TB, repo *server.Repo, branch string) string {
	t.Helper()
	refs := gitserver.Git(t, gitserver.InitBare(t), "ls-remote", repo.Remote(), "refs/heads/"+branch)
	commit, _, _ := strings.Cut(refs, "\t")
	return commit
}
