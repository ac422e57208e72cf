package pullrequest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hostingtest"
)

// TestSituations specifies what a run does with a branch of ours and its pull request, on a real repo and a fake
// GitHub. A row says what people, the host and earlier runs did before it. want is what there is after it: all pull
// requests, the value on both branches with other files, the requests to the host, and the error. The desired value
// is 1, unless a row says otherwise.
func TestSituations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule string
		with func(*world)
		want string
	}{
		// None, or nobody did anything.
		{"there is none", func(*world) {}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"it is open and equal", func(w *world) { w.must() }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`},
		{"it is open and stale", func(w *world) { w.must(); w.value = "2" }, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`},
		{"it changes labels of people and ours", func(w *world) {
			w.settings.Labels, w.promoted = []string{"a", "b"}, true
			w.must()
			w.settings.Labels, w.promoted = []string{"b", "c"}, false
		}, `
1 open "Set 1" labels [a b c]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, label, unlabel`},
		{"it is promoted, and people chose that label too", func(w *world) {
			w.settings.Labels, w.promoted = []string{"promoted"}, true
			w.must()
			w.promoted = false
		}, `
1 open "Set 1" labels [promoted]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`},
		{"it asks one more reviewer", func(w *world) {
			w.settings.Reviewers = []string{"ann"}
			w.must()
			w.settings.Reviewers = []string{"ann", "bob"}
		}, `
1 open "Set 1" asked [ann bob]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, ask`},
		{"a reviewer has reviewed, and is not asked again", func(w *world) {
			w.settings.Reviewers = []string{"ann"}
			w.must()
			w.repo.Review(w, 1, "ann", "")
			w.value = "2"
		}, `
1 open "Set 2" asked [ann]
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`},
		{"a reviewer has reviewed, and the state is lost", func(w *world) {
			w.settings.Reviewers = []string{"ann", "bob"}
			w.must()
			w.repo.Review(w, 1, "ann", "")
			w.loseState()
			w.settings.Reviewers = []string{"ann", "bob", "eve"}
		}, `
1 open "Set 1" asked [ann bob eve]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, reviews, timeline, ask`},
		{"a team has reviewed, and the state is lost", func(w *world) {
			w.repo.AddTeam("platform")
			w.settings.Reviewers = []string{"acme/platform"}
			w.must()
			w.repo.Review(w, 1, "ann", "platform")
			w.loseState()
		}, `
1 open "Set 1" asked [team:platform]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, reviews, timeline`},
		{"it becomes a draft", func(w *world) { w.must(); w.settings.Draft = true }, `
1 open "Set 1" draft
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, convertPullRequestToDraft`},
		{"it becomes ready", func(w *world) { w.settings.Draft = true; w.must(); w.settings.Draft = false }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, markPullRequestReadyForReview`},
		{"another prefix is another branch", func(w *world) { w.must(); w.settings.BranchPrefix = "new/" }, `
1 open "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},

		// Text edited by people.
		{"people added to the text", func(w *world) {
			w.must()
			w.repo.Edit(w, 1, w.repo.PullRequests()[0].Body+"\nLooks good.\n")
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, edit`},
		{"people replaced the text, and its number is known", func(w *world) {
			w.must()
			w.repo.Edit(w, 1, "Mine")
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, read, edit`},
		{"people replaced the text, and the state is lost", func(w *world) {
			w.must()
			w.repo.Edit(w, 1, "Mine")
			w.loseState()
			w.value = "2"
		}, `
1 open "Set 1" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: an open pull request of these branches already exists`},
		{"a text only quotes the marker", func(w *world) {
			w.must()
			w.repo.Edit(w, 1, "> "+marker)
			w.loseState()
		}, `
1 open "Set 1" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: an open pull request of these branches already exists`},

		// The head moved by others.
		{"people pushed after the plan", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.value = "2"
		}, `
1 open "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: list open
error: others pushed after the plan`},
		{"people pushed, and the plan listed it", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.plan()
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`},
		{"people pushed, and the state is lost", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.loseState()
			w.value = "2"
		}, `
1 open "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: list open
error: people pushed to the branch`},
		{"people pushed another value, and the state is lost", func(w *world) {
			w.must()
			w.push(w.branch(), file, "theirs")
			w.loseState()
		}, `
1 open "Set 1"
main: nothing
ours: theirs, 2 ahead, 0 behind
host: list open
error: people pushed to the branch`},
		{"people pushed, and closed it; the state is lost", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.repo.Close(w, 1)
			w.loseState()
			w.value = "2"
		}, `
1 closed "Set 1"
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"people closed it, and pushed; the state is lost", func(w *world) {
			w.must()
			w.repo.Close(w, 1)
			w.push(w.branch(), "note.txt", "theirs")
			w.loseState()
			w.value = "2"
		}, `
1 closed "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: list open, list closed, list open
error: the branch is not ours`},
		{"people push while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.push(w.branch(), "note.txt", "theirs") })
		}, `
1 open "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: list open
error: others pushed after the plan`},
		{"people rebased our commit onto one of theirs, and the state is lost", func(w *world) {
			w.must()
			w.push("main", "apps.txt", "1")
			w.rebase()
			w.loseState()
			w.value = "2"
		}, `
1 open "Set 1"
main: nothing apps.txt
ours: 1 apps.txt, 2 ahead, 0 behind
host: list open
error: people pushed to the branch`},
		{"people merged the target into it, and the plan listed that", func(w *world) {
			w.must()
			w.push("main", "apps.txt", "1")
			w.mergeTarget()
			w.plan()
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing apps.txt
ours: 2 apps.txt, 1 ahead, 0 behind
host: list open, read, edit`},
		{"others have a branch of our name", func(w *world) { w.push(w.branch(), "note.txt", "theirs") }, `
main: nothing
ours: nothing note.txt, 1 ahead, 1 behind
host: list open, list closed, list open
error: the branch is not ours`},

		// The head branch deleted.
		{"people deleted our branch, and the host closed it", func(w *world) {
			w.must()
			w.deleteBranch(w.branch())
			w.plan()
		}, `
1 closed "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"people deleted our branch, and it is still open", func(w *world) {
			w.must()
			w.repo.KeepOpen()
			w.deleteBranch(w.branch())
			w.plan()
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`},

		// The base moved.
		{"the target moved", func(w *world) { w.must(); w.push("main", "apps.txt", "1") }, `
1 open "Set 1"
main: nothing apps.txt
ours: 1 apps.txt, 1 ahead, 0 behind
host: list open, read`},
		{"the target moved, in conflict with it", func(w *world) { w.must(); w.push("main", file, "theirs") }, `
1 open "Set 1"
main: theirs
ours: 1, 1 ahead, 0 behind
host: list open, read`},
		{"the target moves while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.push("main", "apps.txt", "1") })
		}, `
1 open "Set 2"
main: nothing apps.txt
ours: 2, 1 ahead, 1 behind
host: list open, read, edit`},
		{"people pushed the change to the target", func(w *world) { w.must(); w.push("main", file, "1") }, `
1 closed "Set 1"
main: 1
ours: none
host: list open, close`},
		{"people pushed our commit to the target", func(w *world) {
			w.must()
			gitserver.Git(w, w.repo.Path, "update-ref", "refs/heads/main", w.head())
		}, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 0 behind
host: list open, list closed, list open`},
		{"the value is back to what the target holds", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, close`},
		{"the value is back, and people pushed to our branch", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: 1 note.txt, 2 ahead, 0 behind
host: list open, close`},
		{"the value is back, and the state is lost", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.loseState()
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, close`},
		{"the value is back, the state is lost, and people pushed to our branch", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.push(w.branch(), file, "theirs")
			w.loseState()
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: theirs, 2 ahead, 0 behind
host: list open, close`},
		{"the target is gone", func(w *world) { w.must(); w.deleteBranch("main") }, `
1 closed "Set 1"
main: none
ours: 1
host: list open, list closed, list open
error: branch not found`},

		// Closed by people.
		{"people closed it", func(w *world) { w.must(); w.repo.Close(w, 1) }, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open`},
		{"people closed it, and the apply waits", func(w *world) {
			w.must()
			w.repo.Close(w, 1)
			w.settings.Wait = true
		}, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: closed without being merged`},
		{"people closed it, and reopen is set", func(w *world) {
			w.must()
			w.repo.Close(w, 1)
			w.settings.Reopen = true
		}, `
1 closed "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"people closed it, and another value is desired", func(w *world) {
			w.must()
			w.repo.Close(w, 1)
			w.value = "2"
		}, `
1 closed "Set 1"
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"people closed it, and the state is lost", func(w *world) { w.must(); w.repo.Close(w, 1); w.loseState() }, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open`},
		{"people closed it, and the value is back", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.repo.Close(w, 1)
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, list closed, list open`},
		{"people closed it, the value was back, and is desired again", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.repo.Close(w, 1)
			w.propose("0")
			w.value = "1"
		}, `
1 closed "Set 1"
2 open "Set 1"
main: 0
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"people closed one of two values, and and the second value too", func(w *world) {
			w.must()
			w.repo.Close(w, 1)
			w.propose("2")
			w.repo.Close(w, 2)
		}, `
1 closed "Set 1"
2 closed "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open`},
		{"people closed it, and opened it again", func(w *world) {
			w.must()
			w.repo.Close(w, 1)
			w.must()
			w.repo.Reopen(w, 1)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`},
		{"people made it one to another branch", func(w *world) {
			w.must()
			gitserver.Git(w, w.repo.Path, "branch", "live", "main")
			w.repo.Retarget(w, 1, "live")
			w.value = "2"
		}, `
1 open "Set 1" to live
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`},

		// Merged.
		{"it was merged", func(w *world) { w.must(); w.repo.Merge(w, 1, "merge") }, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 1 behind
host: list open, list closed, list open`},
		{"it was squashed", func(w *world) { w.must(); w.repo.Merge(w, 1, "squash") }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open`},
		{"it was rebased", func(w *world) { w.must(); w.repo.Merge(w, 1, "rebase") }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open`},
		{"it was merged, and another value is desired", func(w *world) {
			w.must()
			w.repo.Merge(w, 1, "merge")
			w.value = "2"
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"it was squashed, and another value is desired", func(w *world) {
			w.must()
			w.repo.Merge(w, 1, "squash")
			w.value = "2"
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"it was rebased, and another value is desired", func(w *world) {
			w.must()
			w.repo.Merge(w, 1, "rebase")
			w.value = "2"
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"it was merged, and reverted", func(w *world) {
			w.must()
			w.repo.Merge(w, 1, "squash")
			w.push("main", file, "0")
		}, `
1 merged "Set 1"
2 open "Set 1"
main: 0
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"it is merged while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.repo.Merge(w, 1, "merge") })
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`},
		{"it is squashed while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`},
		{"it is rebased while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.repo.Merge(w, 1, "rebase") })
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`},
		{"it is merged after the push, before we edit it", func(w *world) {
			w.must()
			w.value = "2"
			w.before("GET", "/pulls/1", func() { w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 2
ours: 2, 1 ahead, 1 behind
host: list open, read, list open, list closed, list open`},
		{"it is merged while we edit it", func(w *world) {
			w.must()
			w.value = "2"
			w.before("PATCH", "/pulls/1", func() { w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 2"
main: 2
ours: 2, 1 ahead, 1 behind
host: list open, read, edit, list open, list closed, list open`},
		{"it is closed while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.repo.Close(w, 1) })
		}, `
1 closed "Set 1"
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`},
		{"it is made one to another branch while we push", func(w *world) {
			w.must()
			gitserver.Git(w, w.repo.Path, "branch", "live", "main")
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.repo.Retarget(w, 1, "live") })
		}, `
1 open "Set 1" to live
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`},
		{"it is merged while we close it", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.value = "0"
			w.before("PATCH", "/pulls/1", func() { w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
2 open "Set 0"
main: 1
ours: 0, 1 ahead, 0 behind
host: list open, close, list open, list closed, list open, open`},

		// Waiting.
		{"the apply waits, and people merge it", func(w *world) {
			w.settings.Wait = true
			w.sleep = w.onSecond(func() { w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, read, read`},
		{"the apply waits, and people close it", func(w *world) {
			w.settings.Wait = true
			w.sleep = w.onSecond(func() { w.repo.Close(w, 1) })
		}, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, read, read
error: closed without being merged`},
		{"the apply waits, and people merge it into another branch", func(w *world) {
			gitserver.Git(w, w.repo.Path, "branch", "live", "main")
			w.settings.Wait = true
			w.sleep = w.onSecond(func() { w.repo.Retarget(w, 1, "live"); w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1" to live
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, read, read
error: closed without being merged`},
		{"the apply waits until its time is up", func(w *world) { w.settings.Wait, w.sleep = true, w.timeUp(nil) }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, read, read
error: not merged yet`},
		{"the apply waits, and people merge it when its time is up", func(w *world) {
			w.settings.Wait, w.sleep = true, w.timeUp(func() { w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, read, read`},
		{"the apply waited in vain, and the next one goes on", func(w *world) {
			w.settings.Wait, w.sleep = true, w.timeUp(nil)
			if w.run() == nil {
				w.Fatal("it did not wait")
			}
			w.ctx = w.Context()
			w.sleep = w.onSecond(func() { w.repo.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, read, read, read`},

		// Auto-merge.
		{"the host merges at once", func(w *world) { w.settings.AutoMerge = "squash" }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, merge, read`},
		{"the host merges once the checks have passed",
			func(w *world) { w.settings.AutoMerge = "squash"; w.repo.RequireStatus("main", "ci") }, `
1 open "Set 1" auto-merge squash
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge`},
		{"the host merges, and the apply waits", func(w *world) {
			w.settings.AutoMerge, w.settings.Wait = "rebase", true
			w.repo.RequireStatus("main", "ci")
			w.sleep = w.onSecond(func() { w.repo.SetStatus(w.head(), "ci", "success") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, read, read`},
		{"we enabled auto-merge, and people are to merge now", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.repo.RequireStatus("main", "ci")
			w.must()
			w.settings.AutoMerge = ""
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, disablePullRequestAutoMerge`},
		{"we enabled auto-merge, and people changed its method", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.repo.RequireStatus("main", "ci")
			w.must()
			w.repo.AutoMerge(w, 1, "rebase")
			w.settings.AutoMerge = ""
		}, `
1 open "Set 1" auto-merge rebase
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`},
		{"we enabled auto-merge, with another method now", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.repo.RequireStatus("main", "ci")
			w.must()
			w.settings.AutoMerge = "rebase"
		}, `
1 open "Set 1" auto-merge rebase
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, disablePullRequestAutoMerge, enablePullRequestAutoMerge`},
		{"people enabled auto-merge", func(w *world) {
			w.repo.RequireStatus("main", "ci")
			w.must()
			w.repo.AutoMerge(w, 1, "merge")
			w.value = "2"
		}, `
1 open "Set 2" auto-merge merge
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`},
		{"people enabled auto-merge, and it merges while we push", func(w *world) {
			w.repo.RequireStatus("main", "ci")
			w.must()
			w.repo.AutoMerge(w, 1, "merge")
			w.value = "2"
			w.fake.Git.BeforeReceive(func() { w.repo.SetStatus(w.head(), "ci", "success") })
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`},
		{"the host refuses auto-merge", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.repo.RequireStatus("main", "ci")
			w.fake.Fail("POST", "/graphql", 1, notAllowed)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, read
error: the host rejected the request at auto_merge`},
		{"people merge it before the host may", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.repo.RequireStatus("main", "ci")
			w.before("POST", "/graphql", func() { w.repo.Merge(w, 1, "merge") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, read`},
		{"the host has not seen the push to the target yet", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.fake.Fail("PUT", "/merge", 2, githubfake.BaseMoved())
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, merge, merge, merge, read`},

		// Answers lost and late, and applies that were killed.
		{"the answer of the create is lost",
			func(w *world) { w.fake.Fail("POST", "/pulls", 1, githubfake.AnswerLost()) }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, open, list open`},
		{"the create is lost", func(w *world) { w.fake.Fail("POST", "/pulls", 1, githubfake.Dropped()) }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, open`},
		{"the answer of the edit is lost", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Fail("PATCH", "/pulls/1", 1, githubfake.AnswerLost())
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit, edit`},
		{"the answer of the close is lost", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.value = "0"
			w.fake.Fail("PATCH", "/pulls/1", 1, githubfake.AnswerLost())
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, close, close`},
		{"the host has not seen our push yet",
			func(w *world) { w.fake.Fail("POST", "/pulls", 1, githubfake.HeadNotSeen()) }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: 2 times list open, list closed, list open, open`},
		{"the host never sees our push",
			func(w *world) { w.fake.Fail("POST", "/pulls", -1, githubfake.HeadNotSeen()) }, `
main: nothing
ours: 1, 1 ahead, 0 behind
host: 5 times list open, list closed, list open, open
error: the host does not know the branch to be merged`},
		{"the apply was killed before it opened it", func(w *world) {
			w.fake.Fail("POST", "/pulls", 1, githubfake.Forbidden("killed"))
			_ = w.run()
			w.loseState()
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"the apply was killed before it opened it, and another value is desired", func(w *world) {
			w.fake.Fail("POST", "/pulls", 1, githubfake.Forbidden("killed"))
			_ = w.run()
			w.loseState()
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"the apply was killed after it opened it", func(w *world) { w.must(); w.loseState() }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`},
		{"the apply was killed after it opened it, and another value is desired",
			func(w *world) { w.must(); w.loseState(); w.value = "2" }, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`},

		// Duplicates, and pull requests of others.
		{"people open one from our branch before we do", func(w *world) {
			w.before("POST", "/pulls", func() { w.repo.Open(w, "eve", w.branch(), "main", "Theirs", "Mine") })
		}, `
1 open "Theirs" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, list open, list open, list closed, list open
error: an open pull request of these branches already exists`},
		{"people open one with our marker before we do", func(w *world) {
			w.before("POST", "/pulls", func() { w.repo.Open(w, "eve", w.branch(), "main", "Theirs", marker) })
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, list open, list open, read, edit`},
		{"people push our commit to the target before we open one", func(w *world) {
			w.before("POST", "/pulls", func() {
				gitserver.Git(w, w.repo.Path, "update-ref", "refs/heads/main", w.head())
			})
		}, `
main: 1
ours: 1, 0 ahead, 0 behind
host: list open, list closed, list open, open, list open, list closed, list open`},
		{"a foreign one is open from our branch", func(w *world) {
			w.push(w.branch(), "note.txt", "theirs")
			w.repo.Open(w, "eve", w.branch(), "main", "Theirs", "Mine")
		}, `
1 open "Theirs" unmarked
main: nothing
ours: nothing note.txt, 1 ahead, 1 behind
host: list open, list closed, list open
error: an open pull request of these branches already exists`},
		{"a foreign one from our branch was closed", func(w *world) {
			w.must()
			w.repo.Edit(w, 1, "Mine")
			w.repo.Close(w, 1)
			w.loseState()
		}, `
1 closed "Set 1" unmarked
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"ours was closed, and a foreign one is open from our branch", func(w *world) {
			w.must()
			w.repo.Close(w, 1)
			w.repo.Open(w, "eve", w.branch(), "main", "Theirs", "Mine")
		}, `
1 closed "Set 1"
2 open "Theirs" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: an open pull request of these branches already exists`},
		{"a foreign one from our branch goes to another target", func(w *world) {
			w.must()
			gitserver.Git(w, w.repo.Path, "branch", "live", "main")
			w.repo.Open(w, "eve", w.branch(), "live", "Theirs", marker)
			w.value = "2"
		}, `
1 open "Set 2"
2 open "Theirs" to live
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`},

		// Rights.
		{"the host does not show the repo", func(w *world) {
			w.fake.AddToken("blind", "bot", nil)
			w.as("blind", hostingtest.NewClockNow())
		}, `
main: nothing
ours: none
host: list open
error: not found, or not visible to the credential`},
		{"we may read only", func(w *world) {
			w.fake.AddToken("reader", "bot", map[string]githubfake.Access{"acme/gitops": githubfake.Read})
			w.as("reader", hostingtest.NewClockNow())
		}, `
main: nothing
ours: none
host: list open, list closed, list open
error: not authorized`},
		{"the right to open is lost after the push",
			func(w *world) { w.fake.Fail("POST", "/pulls", -1, githubfake.Forbidden("no")) }, `
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open
error: the host does not allow this`},
		{"the right to edit is lost after the push", func(w *world) {
			w.must()
			w.value = "2"
			w.fake.Fail("PATCH", "/pulls/1", -1, githubfake.Forbidden("no"))
		}, `
1 open "Set 1"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit
error: the host does not allow this`},
		{"the token is revoked after the push", func(w *world) {
			w.must()
			w.value = "2"
			w.before("GET", "/pulls/1", func() { w.fake.Revoke(w.fake.Token) })
		}, `
1 open "Set 1"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read
error: the host does not accept the credential`},
		{"the push is refused", func(w *world) { w.must(); w.value = "2"; w.repo.Protect(w, "main", w.branch()) }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open
error: push rejected`},
		{"a label is refused, and the pull request is there", func(w *world) {
			w.settings.Labels = []string{"a"}
			w.fake.Fail("POST", "/labels", 1, githubfake.Failure{Status: 422, Body: `{"message":"Validation Failed"}`})
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, label
error: the host rejected the request at labels`},

		// Removals.
		{"a removal", func(w *world) { w.push("main", file, "0"); w.value = "" }, `
1 open "Remove the value"
main: 0
ours: nothing, 1 ahead, 0 behind
host: list open, list closed, list open, open`},
		{"a removal is open and equal", func(w *world) { w.push("main", file, "0"); w.propose("") }, `
1 open "Remove the value"
main: 0
ours: nothing, 1 ahead, 0 behind
host: list open, read`},
		{"a removal of what is gone", func(w *world) {
			w.push("main", file, "0")
			w.propose("")
			w.push("main", file, "")
		}, `
1 closed "Remove the value"
main: nothing
ours: none
host: list open, close`},
		{"a removal from a target that is gone", func(w *world) {
			w.push("main", file, "0")
			w.propose("")
			w.deleteBranch("main")
		}, `
1 closed "Remove the value"
main: none
ours: none
host: list open, list closed, list open`},
		{"a removal, and others have a branch of our name", func(w *world) {
			w.push("main", file, "0")
			w.push(w.branch(), "note.txt", "theirs")
			w.value = ""
		}, `
main: 0
ours: nothing note.txt, 1 ahead, 2 behind
host: list open, list closed, list open
error: the branch is not ours`},

		// The caller's step between the push and the pull request.
		{"the caller's step fails", func(w *world) { w.afterPush = func() error { return errStep } }, `
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: the step of the caller failed`},
		{"the caller's step fails, and nothing is needed", func(w *world) {
			w.push("main", file, "1")
			w.afterPush = func() error { return errStep }
		}, `
main: 1
ours: none
host: list open, list closed, list open
error: the step of the caller failed`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test.with(w)
			w.fake.ResetLog()
			if diff := cmp.Diff(test.want, w.see(w.run())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
