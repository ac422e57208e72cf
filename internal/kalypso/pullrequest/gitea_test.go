package pullrequest_test

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/gitea"
	server "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// newGiteaWorld is a world on a real Gitea, whose branch main requires the status ci.
func newGiteaWorld(t *testing.T) (*world, *server.Repo) {
	t.Helper()
	on := server.Shared(t).AddRepo(t, "gitops", "ann")
	w := &world{T: t, ctx: t.Context(), value: "1", url: on.URL}
	w.settings.BranchPrefix = "ours/"
	local := gitserver.InitBare(t)
	gitserver.Seed(t, local, "main", map[string]string{"README.md": "hello\n"})
	gitserver.Git(t, local, "push", "--quiet", "--force", on.Remote(), "refs/heads/main")
	on.Require(t, "main", "ci")
	var err error
	w.git, err = gitremote.NewClient([]gitremote.Credential{{URL: on.URL, Username: "x", Password: on.Token}})
	if err != nil {
		t.Fatal(err)
	}
	if w.host, err = gitea.New(gitea.Config{Token: on.Token, BaseURL: server.Shared(t).URL}); err != nil {
		t.Fatal(err)
	}
	return w, on
}

// merges returns the methods of the requests that schedule and cancel merges. One is repeated while Gitea checks.
func merges(on *server.Repo, since int) (methods []string) {
	for _, r := range on.Requests()[since:] {
		if strings.HasSuffix(r.Path, "/merge") {
			methods = append(methods, r.Method)
		}
	}
	return slices.Compact(methods)
}

// TestHiddenMethod: where the host does not show the method of auto-merge, the one that the state knows counts.
func TestHiddenMethod(t *testing.T) {
	t.Parallel()
	w, on := newGiteaWorld(t)
	const schedule, cancel = http.MethodPost, http.MethodDelete
	for _, step := range []struct {
		name   string
		before func()
		method hosting.MergeMethod
		want   []string
	}{
		{"enabled", nil, hosting.Squash, []string{schedule}},
		{"as the state knows", nil, hosting.Squash, nil},
		{"people disabled it", func() { on.CancelMerge(t, 1) }, hosting.Squash, []string{schedule}},
		{"another method", nil, hosting.Merge, []string{cancel, schedule}},
		{"without the state", w.loseState, hosting.Merge, []string{cancel, schedule}},
		{"no more", nil, "", []string{cancel}},
		{"people enabled it", func() { on.ScheduleMerge(t, "ann", 1, "merge") }, "", nil},
		{"ours in place of theirs", nil, hosting.Squash, []string{cancel, schedule}},
		{"it must not be merged now", func() {
			at := len(on.Requests())
			if _, err := w.topic().Withhold(w.ctx, w.known, "Wait."); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{cancel}, merges(on, at)); diff != "" {
				t.Errorf("withheld (-want +got):\n%s", diff)
			}
		}, hosting.Squash, []string{schedule}},
	} {
		if step.before != nil {
			step.before()
		}
		at := len(on.Requests())
		w.settings.AutoMerge = step.method
		w.propose(step.name)
		if diff := cmp.Diff(step.want, merges(on, at)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

// TestClosedBefore: an apply that was interrupted after the push leaves a closed pull request, whose single answer has
// the new commit as its head. People did not close that one, so the next apply proposes it.
func TestClosedBefore(t *testing.T) {
	t.Parallel()
	w, on := newGiteaWorld(t)
	w.must()
	on.Change(t, 1, map[string]any{"state": "closed"})
	w.must()
	if w.known.Number != 1 || w.known.Open {
		t.Errorf("the pull request that people closed: %+v", w.known)
	}
	w.value, w.afterPush = "2", func() error { return errors.New("interrupted") }
	if err := w.run(); err == nil {
		t.Fatal("it was not interrupted")
	}
	w.afterPush = nil
	w.must()
	if w.known.Number != 2 || !w.known.Open {
		t.Errorf("the new one: %+v", w.known)
	}
}
