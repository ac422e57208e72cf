package pullrequest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hostingtest"
)

// gitlabWorld is a world on a fake GitLab, which lags behind.
type gitlabWorld struct {
	*world
	lab *gitlabfake.Server
	on  *gitlabfake.Project
}

func newGitLabWorld(t *testing.T) *gitlabWorld {
	t.Helper()
	c := hostingtest.NewClockNow()
	lab := gitlabfake.New(t, gitlabfake.WithClock(c.Now), gitlabfake.WithLag(2))
	w := &gitlabWorld{world: &world{T: t, ctx: t.Context(), value: "1"}, lab: lab, on: lab.AddProject(t, "acme/gitops")}
	w.settings.BranchPrefix = "ours/"
	w.repo, w.url = &githubfake.Repo{Path: w.on.Dir, URL: w.on.URL}, w.on.URL // where it is, alone
	gitserver.Seed(t, w.on.Dir, "main", map[string]string{"README.md": "hello\n"})
	var err error
	w.git, err = gitremote.NewClient([]gitremote.Credential{{URL: lab.URL, Username: "oauth2", Password: lab.Token}})
	if err != nil {
		t.Fatal(err)
	}
	if w.host, err = gitlab.New(gitlab.Config{Token: lab.Token, BaseURL: lab.URL, Clock: c}); err != nil {
		t.Fatal(err)
	}
	return w
}

// see describes the project and the error.
func (w *gitlabWorld) see(err error) string {
	w.Helper()
	var lines []string
	for _, m := range w.on.MergeRequests() {
		line := fmt.Sprintf("%d %s %q", m.Number, m.State, m.Title)
		if !hosting.HasMarker(m.Body, marker) {
			line += " unmarked"
		}
		if m.AutoMerge {
			line += " auto-merge"
		}
		if len(m.Reviewers)+len(m.Labels) > 0 {
			line += fmt.Sprintf(" labels %v reviewers %v", m.Labels, m.Reviewers)
		}
		lines = append(lines, line)
	}
	lines = append(lines, "main: "+w.holds("main"), "ours: "+w.holds(w.branch()))
	if err != nil {
		lines = append(lines, "error: "+errorText(err))
	}
	return "\n" + strings.Join(lines, "\n")
}

// before has something happen once, before a request.
func (w *gitlabWorld) before(method, path string, do func()) {
	w.lab.Before(method, path, func() bool { do(); return true })
}

// TestGitLabSituations specifies what a run does on GitLab where that differs from GitHub, and the life of a merge
// request.
func TestGitLabSituations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule string
		with func(*gitlabWorld)
		want string
	}{
		{"there is none", func(*gitlabWorld) {}, `
1 opened "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
		{"it is open and stale", func(w *gitlabWorld) { w.must(); w.value = "2" }, `
1 opened "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind`},
		{"it is a draft with labels and reviewers, and no longer", func(w *gitlabWorld) {
			w.settings.Draft, w.settings.Labels, w.settings.Reviewers = true, []string{"a"}, []string{"ann"}
			w.promoted = true
			w.must()
			w.settings.Draft, w.settings.Reviewers, w.promoted = false, []string{"ann", "bob"}, false
		}, `
1 opened "Set 1" labels [a] reviewers [ann bob]
main: nothing
ours: 1, 1 ahead, 0 behind`},
		{"a reviewer has reviewed, and the state is lost", func(w *gitlabWorld) {
			w.settings.Reviewers = []string{"ann"}
			w.must()
			w.on.Review(w, 1, "ann")
			w.loseState()
		}, `
1 opened "Set 1" labels [] reviewers [ann]
main: nothing
ours: 1, 1 ahead, 0 behind`},
		{"people edited it, and the state is lost", func(w *gitlabWorld) {
			w.must()
			w.on.Edit(w, 1, "Mine", "Mine\r\n\r\n"+marker)
			w.loseState()
		}, `
1 opened "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
		{"people closed it", func(w *gitlabWorld) { w.must(); w.on.Close(w, 1) }, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
		{"people closed it, and another change comes", func(w *gitlabWorld) {
			w.must()
			w.on.Close(w, 1)
			w.value = "2"
		}, `
1 closed "Set 1"
2 opened "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind`},
		{"people reopened it", func(w *gitlabWorld) {
			w.must()
			w.on.Close(w, 1)
			w.on.Reopen(w, 1)
			w.value = "2"
		}, `
1 opened "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind`},
		{"people merged it, squashed", func(w *gitlabWorld) { w.must(); w.on.Merge(w, 1, true) }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 2 behind`},
		{"people merged it by fast-forward, and another change comes", func(w *gitlabWorld) {
			w.on.FastForward()
			w.must()
			w.on.Merge(w, 1, false)
			w.value = "2"
		}, `
1 merged "Set 1"
2 opened "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind`},
		{"people deleted its branch", func(w *gitlabWorld) { w.must(); w.deleteBranch(w.branch()) }, `
1 closed "Set 1"
2 opened "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
		{"the value is removed", func(w *gitlabWorld) {
			w.push("main", file, "1")
			w.value = ""
		}, `
1 opened "Remove the value"
main: 1
ours: nothing, 1 ahead, 0 behind`},
		{"it was interrupted between push and open, after an older one was closed", func(w *gitlabWorld) {
			w.must()
			w.on.Close(w, 1)
			w.value = "2"
			w.afterPush = func() error { return errStep }
			if err := w.run(); err == nil {
				w.Error("the step did not fail")
			}
			w.afterPush = nil
		}, `
1 closed "Set 1"
2 opened "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind`},
		{"the target takes the change before it is opened", func(w *gitlabWorld) {
			w.before("POST", "/merge_requests", func() { w.push("main", file, "1") })
		}, `
1 closed "Set 1"
main: 1
ours: none`},
		{"the target takes another change before it is opened", func(w *gitlabWorld) {
			w.before("POST", "/merge_requests", func() { w.push("main", "note.txt", "theirs") })
		}, `
1 opened "Set 1"
main: nothing note.txt
ours: 1, 1 ahead, 1 behind`},
		{"the target took the change back after we closed the empty one", func(w *gitlabWorld) {
			w.before("POST", "/merge_requests", func() { w.push("main", file, "1") })
			w.must()
			w.push("main", file, "0")
		}, `
1 closed "Set 1"
2 opened "Set 1"
main: 0
ours: 1, 1 ahead, 0 behind`},
		{"others opened one between our look and the open", func(w *gitlabWorld) {
			w.before("POST", "/merge_requests", func() {
				w.on.Open(w, "eve", w.branch(), "main", "Theirs", "Theirs")
			})
		}, `
1 opened "Theirs" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
error: an open pull request of these branches already exists`},
		{"GitLab merges it when the pipeline succeeds, and a push does not disable that", func(w *gitlabWorld) {
			w.on.RequirePipeline(true)
			w.settings.AutoMerge = hosting.Merge
			w.must()
			w.value = "2"
		}, `
1 opened "Set 2" auto-merge
main: nothing
ours: 2, 1 ahead, 0 behind`},
		{"people enabled auto-merge, and we did not", func(w *gitlabWorld) {
			w.on.RequirePipeline(true)
			w.must()
			topic := w.topic()
			pr, err := topic.Read(w.ctx, 1)
			for range 3 { // GitLab has to see the push
				pr, err = topic.Read(w.ctx, 1)
			}
			if err != nil {
				w.Fatal(err)
			}
			if _, err := topic.Host().MergeWhenReady(w.ctx, *pr, hosting.Squash); err != nil {
				w.Fatal(err)
			}
		}, `
1 opened "Set 1" auto-merge
main: nothing
ours: 1, 1 ahead, 0 behind`},
		{"no pipeline is required, so auto-merge merges at once", func(w *gitlabWorld) {
			w.settings.AutoMerge, w.settings.Wait = hosting.Squash, true
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 2 behind`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			w := newGitLabWorld(t)
			test.with(w)
			if diff := cmp.Diff(test.want, w.see(w.run())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, m := range w.on.MergeRequests() {
				if len(m.Commands) > 0 {
					t.Errorf("GitLab ran %q", m.Commands)
				}
			}
		})
	}
}

// TestGitLabWithhold: what people wrote comes back from us without running as a quick action with our rights, wherever
// the slash is: behind our marker, or indented.
func TestGitLabWithhold(t *testing.T) {
	t.Parallel()
	w := newGitLabWorld(t)
	w.must()
	w.on.Edit(t, 1, "Mine", "  /merge\n"+marker+"/close\n"+marker+"\n\r/approve\nfine")
	if _, err := w.topic().Withhold(w.ctx, w.known, "/merge is not due"); err != nil {
		t.Fatal(err)
	}
	m := w.on.MergeRequests()[0]
	if !m.Draft || m.State != "opened" || len(m.Commands) > 0 || !strings.Contains(m.Body, "fine") ||
		!strings.HasPrefix(m.Body, "**Do not merge") {
		t.Errorf("got %+v", m)
	}
}
