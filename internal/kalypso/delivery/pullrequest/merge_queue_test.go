package pullrequest_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// TestMergeQueue continues [TestSituations] with a target branch that has a merge queue, which only GitHub offers.
func TestMergeQueue(t *testing.T) {
	t.Parallel()
	auto := func(w *world, q githubfake.MergeQueues) {
		w.settings.AutoMerge = "squash"
		w.must()
	}
	for _, test := range []struct {
		rule string
		with func(*world, githubfake.MergeQueues)
		want string
	}{
		{"no check is required before the queue", func(w *world, _ githubfake.MergeQueues) {
			w.settings.AutoMerge = "squash"
		}, `
1 open "Set 1" queued
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, enqueuePullRequest`},
		{"a check is required before the queue", func(w *world, _ githubfake.MergeQueues) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
		}, `
1 open "Set 1" auto-merge squash
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge`},
		{"the check before the queue has passed", func(w *world, q githubfake.MergeQueues) {
			w.people.Require("main", "ci")
			auto(w, q)
			w.people.SetStatus(w.head(), "ci", githost.Success)
		}, `
1 open "Set 1" queued
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, queue`},
		{"the pull request is in the queue", auto, `
1 open "Set 1" queued
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, queue`},
		{"the pull request is in the queue, and another value is desired", func(w *world, q githubfake.MergeQueues) {
			auto(w, q)
			w.value = "2"
		}, `
1 open "Set 2" queued
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit, queue, enablePullRequestAutoMerge, queue, enqueuePullRequest`},
		{"the queue merges the pull request", func(w *world, q githubfake.MergeQueues) { auto(w, q); q.Merge(w, 1) }, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 1 behind
host: list open, list closed, list open`},
		{"the queue merges the pull request while the apply waits", func(w *world, q githubfake.MergeQueues) {
			w.settings.AutoMerge, w.settings.Wait = "squash", true
			w.sleep = w.onSecond(func() { q.Merge(w, 1) })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, enqueuePullRequest, read, read`},
		{"people or a failed check take the pull request out of the queue", func(w *world, q githubfake.MergeQueues) {
			auto(w, q)
			q.TakeOut(w, 1)
		}, `
1 open "Set 1" queued
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, queue, enablePullRequestAutoMerge, queue, enqueuePullRequest`},
		{"auto-merge is no longer configured", func(w *world, q githubfake.MergeQueues) {
			auto(w, q)
			w.settings.AutoMerge = ""
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, queue, dequeuePullRequest`},
		{"people put the pull request back into the queue, and auto-merge is no longer configured", func(
			w *world, q githubfake.MergeQueues,
		) {
			auto(w, q)
			q.TakeOut(w, 1)
			q.Put(w, 1, hostingtest.Ann)
			w.settings.AutoMerge = ""
		}, `
1 open "Set 1" queued by people
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, queue`},
		{"people put the pull request into the queue", func(w *world, q githubfake.MergeQueues) {
			w.must()
			q.Put(w, 1, hostingtest.Ann)
		}, `
1 open "Set 1" queued by people
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`},
		{"people put the pull request into the queue, and auto-merge is configured", func(
			w *world, q githubfake.MergeQueues,
		) {
			w.must()
			q.Put(w, 1, hostingtest.Ann)
			w.settings.AutoMerge = "merge"
		}, `
1 open "Set 1" queued by people
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, enablePullRequestAutoMerge, queue`},
		{"the pull request is withheld", func(w *world, q githubfake.MergeQueues) { auto(w, q); w.withhold("") }, `
1 open "Set 1" draft
main: nothing
ours: 1, 1 ahead, 0 behind
host: read, queue, dequeuePullRequest, edit, convertPullRequestToDraft`},
		{"the pull request is withheld, and people put it into the queue", func(w *world, q githubfake.MergeQueues) {
			w.must()
			q.Put(w, 1, hostingtest.Ann)
			w.withhold("people put it into the merge queue")
		}, `
1 open "Set 1" queued by people
main: nothing
ours: 1, 1 ahead, 0 behind
host: read, queue, edit`},
		{"the pull request is withheld while it waits for its check before the queue", func(
			w *world, q githubfake.MergeQueues,
		) {
			w.people.Require("main", "ci")
			auto(w, q)
			w.withhold("")
		}, `
1 open "Set 1" draft
main: nothing
ours: 1, 1 ahead, 0 behind
host: read, disablePullRequestAutoMerge, edit, convertPullRequestToDraft`},
		{"the change is not needed any more", func(w *world, q githubfake.MergeQueues) {
			auto(w, q)
			w.push("main", file, "1")
		}, `
1 closed "Set 1"
main: 1
ours: none
host: list open, close`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			on, _ := w.people.People.(*githubfake.Repo)
			on.MergeQueues.Use("main")
			test.with(w, on.MergeQueues)
			if strings.Contains(test.rule, "withheld") { // the row itself withholds the pull request instead of a run
				w.expect(test.want, nil)
				return
			}
			w.resetLog()
			w.expect(test.want, w.run())
		})
	}
}

// TestReadQueued: a refresh reads the pull request's place in the merge queue only if we enabled auto-merge.
func TestReadQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	on, _ := w.people.People.(*githubfake.Repo)
	on.MergeQueues.Use("main")
	w.settings.AutoMerge = "squash"
	w.must()
	for requested, queued := range map[githost.MergeMethod]bool{"squash": true, "": false} {
		pr, err := w.topic().ReadRequested(w.ctx, 1, requested)
		if err != nil || (pr.Queue != nil) != queued {
			t.Errorf("requested %q: %+v, %v", requested, pr, err)
		}
	}
}

// withhold withholds the pull request, and expects a warning that contains a text, or no warning if the text is empty.
func (w *world) withhold(says string) {
	w.Helper()
	w.resetLog()
	withheld, err := w.topic().Withhold(w.ctx, w.known, "It must wait.")
	if err != nil {
		w.Fatal(err)
	}
	if warning := withheld.Warning(); (warning == "") != (says == "") || !strings.Contains(warning, says) {
		w.Errorf("the warning is %q", warning)
	}
}
