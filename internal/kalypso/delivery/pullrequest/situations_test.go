package pullrequest_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// situation names the changes of people, the host and earlier runs before a run, and the result of the run.
type situation struct {
	rule string
	with func(*world)
	// want is the result of the run: all pull requests, the value and other files on both branches, the requests to
	// GitHub, and the error.
	want string
	// but contains the hosts with another result, by name.
	but map[string]difference
}

// difference is the result on a host that behaves differently, and the reason.
type difference struct {
	why  string
	want string
}

// wantOn returns the expected result on a host.
func (s situation) wantOn(host hosts.Host) string {
	for _, name := range []string{host.String(), host.Name} {
		if other, differs := s.but[name]; differs {
			return other.want
		}
	}
	return s.want
}

// The names of hosts that differ from GitHub.
const (
	onGitLab     = "GitLab"
	onGitLabLags = "GitLab, which lags"
	onGitea      = "Gitea"
	onAzure      = "Azure DevOps"
)

// TestSituations specifies what a run does with our branch and its pull request, on a real repo of each host. The
// desired value is 1, unless a row says otherwise.
func TestSituations(t *testing.T) {
	t.Parallel()
	for _, test := range []situation{
		// There is no pull request, or people have not changed it.
		{"no pull request", func(*world) {}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"open pull request, same tree", func(w *world) { w.must() }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`, nil},
		{"open pull request, older tree", func(w *world) { w.must(); w.value = "2" }, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, nil},
		{"other labels in the settings", func(w *world) {
			w.settings.Labels, w.promoted = []string{"a", "b"}, true
			w.must()
			w.settings.Labels, w.promoted = []string{"b", "c"}, false
		}, `
1 open "Set 1" labels [a b c]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, label, unlabel`, nil},
		{"a label of the promotion that is also in the settings", func(w *world) {
			w.settings.Labels, w.promoted = []string{"promoted"}, true
			w.must()
			w.promoted = false
		}, `
1 open "Set 1" labels [promoted]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`, nil},
		{"another reviewer", func(w *world) {
			w.settings.Reviewers = []string{"ann"}
			w.must()
			w.settings.Reviewers = []string{"ann", "bob"}
		}, `
1 open "Set 1" asked [ann bob]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, ask`, nil},
		{"the next value changes folders of one more owner", func(w *world) {
			w.settings.Reviewers, w.owners = []string{"ann"}, []string{"bob"}
			w.must()
			w.value, w.owners = "2", []string{"bob", "cora"}
		}, `
1 open "Set 2" asked [ann bob cora]
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit, ask`, nil},
		{"the next value does not change folders of one owner", func(w *world) {
			w.owners = []string{"ann", "bob"}
			w.must()
			w.value, w.owners = "2", []string{"ann"}
		}, `
1 open "Set 2" asked [ann bob]
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, nil},
		{"an owner has reviewed, and the third value changes the owner's folders again", func(w *world) {
			w.owners = []string{"ann"}
			w.must()
			w.people.Review(w, 1, "ann")
			w.owners = nil
			w.propose("2")
			w.value, w.owners = "3", []string{"Ann"}
		}, `
1 open "Set 3" asked [ann]
main: nothing
ours: 3, 1 ahead, 0 behind
host: list open, read, edit`, nil},
		{"a reviewer has reviewed, and another value is desired", func(w *world) {
			w.settings.Reviewers = []string{"ann"}
			w.must()
			w.people.Review(w, 1, "ann")
			w.value = "2"
		}, `
1 open "Set 2" asked [ann]
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, nil},
		{"a reviewer has reviewed, and the state is lost", func(w *world) {
			w.settings.Reviewers = []string{"ann", "bob"}
			w.must()
			w.people.Review(w, 1, "ann")
			w.loseState()
			w.settings.Reviewers = []string{"ann", "bob", "cora"}
		}, `
1 open "Set 1" asked [ann bob cora]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, reviews, timeline, ask`, nil},
		{"a team has reviewed, and the state is lost", func(w *world) {
			w.settings.Reviewers = []string{w.team()}
			if w.on.Traits.Team == "" {
				return
			}
			w.must()
			w.people.Review(w, 1, "ann")
			w.loseState()
		}, `
1 open "Set 1" asked [the team]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, reviews, timeline`, map[string]difference{
			onGitLab: {"teams can't review", `
main: nothing
ours: none
error: the host rejected the request at reviewers`},
			onAzure: {"a person who has reviewed is a reviewer", `
1 open "Set 1" asked [the team ann]
main: nothing
ours: 1, 1 ahead, 0 behind`},
		}},
		{"the pull request becomes a draft", func(w *world) { w.must(); w.settings.Draft = true }, `
1 open "Set 1" draft
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, convertPullRequestToDraft`, nil},
		{"the pull request becomes ready", func(w *world) {
			w.settings.Draft = true
			w.must()
			w.settings.Draft = false
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, markPullRequestReadyForReview`, nil},
		{"another branch_prefix", func(w *world) {
			w.must()
			w.settings.BranchPrefix = "new/"
		}, `
1 open "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},

		// People edited the text.
		{"people added to the text", func(w *world) {
			w.must()
			w.people.Edit(w, 1, "Set 1", w.people.PullRequests()[0].Body+"\nLooks good.\n")
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, edit`, nil},
		{"people replaced the text, and the state has the number", func(w *world) {
			w.must()
			w.people.Edit(w, 1, "Set 1", "Mine")
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, read, edit`, nil},
		{"people replaced the text, and the state is lost", func(w *world) {
			w.must()
			w.people.Edit(w, 1, "Set 1", "Mine")
			w.loseState()
			w.value = "2"
		}, `
1 open "Set 1" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: an open pull request between these branches already exists`, nil},
		{"a text that only quotes the marker", func(w *world) {
			w.must()
			w.people.Edit(w, 1, "Set 1", "> "+marker)
			w.loseState()
		}, `
1 open "Set 1" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: an open pull request between these branches already exists`, nil},

		// People moved the head.
		{"people pushed after the plan", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.value = "2"
		}, `
1 open "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: list open
error: people pushed after the plan`, nil},
		{"people pushed, and the plan listed the push", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.plan()
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, nil},
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
error: people pushed to the branch`, nil},
		{"people pushed another value, and the state is lost", func(w *world) {
			w.must()
			w.push(w.branch(), file, "theirs")
			w.loseState()
		}, `
1 open "Set 1"
main: nothing
ours: theirs, 2 ahead, 0 behind
host: list open
error: people pushed to the branch`, nil},
		{"people pushed, and closed the pull request; the state is lost", func(w *world) {
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.people.Close(w, 1)
			w.loseState()
			w.value = "2"
		}, `
1 closed "Set 1"
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, map[string]difference{
			onGitLabLags: {"the host did not see what people pushed", `
1 closed "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
error: the branch is not ours`},
			onAzure: {"the host did not see what people pushed", `
1 closed "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
error: the branch is not ours`},
		}},
		{"people closed the pull request, and pushed; the state is lost", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.push(w.branch(), "note.txt", "theirs")
			w.loseState()
			w.value = "2"
		}, `
1 closed "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: list open, list closed, list open
error: the branch is not ours`, nil},
		{"people push while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Before(hostingtest.Push, func() { w.push(w.branch(), "note.txt", "theirs") })
		}, `
1 open "Set 1"
main: nothing
ours: 1 note.txt, 2 ahead, 0 behind
host: list open
error: people pushed after the plan`, nil},
		{"people rebased our commit onto a commit of their own, and the state is lost", func(w *world) {
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
error: people pushed to the branch`, nil},
		{"people merged the target into our branch, and the plan listed the merge", func(w *world) {
			w.must()
			w.push("main", "apps.txt", "1")
			w.mergeTarget()
			w.plan()
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing apps.txt
ours: 2 apps.txt, 1 ahead, 0 behind
host: list open, read, edit`, nil},
		{"a foreign branch has the name of our branch", func(w *world) {
			w.push(w.branch(), "note.txt", "theirs")
		}, `
main: nothing
ours: nothing note.txt, 1 ahead, 1 behind
host: list open, list closed, list open
error: the branch is not ours`, nil},

		// The head branch was deleted.
		{"people deleted our branch, and the host closed the pull request", func(w *world) {
			w.must()
			w.deleteBranch(w.branch())
			w.plan()
		}, `
1 closed "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, map[string]difference{
			onAzure: {"the host keeps the pull request open", `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
		}},
		{"people deleted our branch, and the pull request is still open", func(w *world) {
			w.must()
			w.people.KeepOpen()
			w.deleteBranch(w.branch())
			w.plan()
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`, map[string]difference{
			onGitLab: {"the host closes the pull request with the branch", `
1 closed "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
			onGitea: {"the host closes the pull request with the branch", `
1 closed "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
		}},

		// The base moved.
		{"the target moved", func(w *world) { w.must(); w.push("main", "apps.txt", "1") }, `
1 open "Set 1"
main: nothing apps.txt
ours: 1 apps.txt, 1 ahead, 0 behind
host: list open, read`, nil},
		{"the target moved, in conflict with our branch", func(w *world) {
			w.must()
			w.push("main", file, "theirs")
		}, `
1 open "Set 1"
main: theirs
ours: 1, 1 ahead, 0 behind
host: list open, read`, nil},
		{"the target moves while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Before(hostingtest.Push, func() { w.push("main", "apps.txt", "1") })
		}, `
1 open "Set 2"
main: nothing apps.txt
ours: 2, 1 ahead, 1 behind
host: list open, read, edit`, nil},
		{"people pushed the change to the target", func(w *world) {
			w.must()
			w.push("main", file, "1")
		}, `
1 closed "Set 1"
main: 1
ours: none
host: list open, close`, nil},
		{"people pushed our commit to the target", func(w *world) {
			w.must()
			w.pushOurs()
		}, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 0 behind
host: list open, list closed, list open`, map[string]difference{
			onGitea: {"the pull request stays open, so we close it", `
1 closed "Set 1"
main: 1
ours: none`},
			onAzure: {"the pull request stays open, so we close it", `
1 closed "Set 1"
main: 1
ours: none`},
		}},
		{"the desired value is again the target's value", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, close`, nil},
		{"the desired value is again the target's value, and people pushed to our branch", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.push(w.branch(), "note.txt", "theirs")
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: 1 note.txt, 2 ahead, 0 behind
host: list open, close`, nil},
		{"the desired value is again the target's value, and the state is lost", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.loseState()
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, close`, nil},
		{"the desired value is again the target's value, the state is lost, people pushed to our branch", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.push(w.branch(), file, "theirs")
			w.loseState()
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: theirs, 2 ahead, 0 behind
host: list open, close`, nil},
		{"the target was deleted", func(w *world) { w.must(); w.deleteBranch("main") }, `
1 closed "Set 1"
main: none
ours: 1
host: list open, list closed, list open
error: branch not found`, map[string]difference{
			onGitea: {"the host changes the target to the default branch", `
1 open "Set 1" to default
main: none
ours: 1
error: branch not found`},
			onAzure: {"the host keeps the pull request open", `
1 open "Set 1"
main: none
ours: 1
error: branch not found`},
		}},

		// Closed by people.
		{"people closed the pull request", func(w *world) { w.must(); w.people.Close(w, 1) }, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open`, nil},
		{"people closed the pull request, and the apply waits", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.settings.Wait = true
		}, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: closed without being merged`, nil},
		{"people closed the pull request, and reopen is set", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.settings.Reopen = true
		}, `
1 closed "Set 1"
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"people closed the pull request, and another value is desired", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.value = "2"
		}, `
1 closed "Set 1"
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"people closed the pull request, and the state is lost", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.loseState()
		}, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open`, nil},
		{"people closed the pull request, and the desired value is again the target's value", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.people.Close(w, 1)
			w.value = "0"
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, list closed, list open`, nil},
		{"people closed the pull request, the target's value was desired, and then the value again", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.people.Close(w, 1)
			w.propose("0")
			w.value = "1"
		}, `
1 closed "Set 1"
2 open "Set 1"
main: 0
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"people closed a pull request for each of two values", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.propose("2")
			w.people.Close(w, 2)
		}, `
1 closed "Set 1"
2 closed "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open`, nil},
		{"people closed and reopened the pull request", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.must()
			w.people.Reopen(w, 1)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`, nil},
		{"people changed the target of the pull request", func(w *world) {
			w.must()
			w.branchOff("live")
			w.people.Retarget(w, 1, "live")
			w.value = "2"
		}, `
1 open "Set 1" to live
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},

		// Merged.
		{"merged pull request", func(w *world) { w.must(); w.people.Merge(w, 1, "merge") }, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 1 behind
host: list open, list closed, list open`, nil},
		{"squashed pull request", func(w *world) { w.must(); w.people.Merge(w, 1, "squash") }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open`, nil},
		{"rebased pull request", func(w *world) { w.must(); w.people.Merge(w, 1, "rebase") }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open`, map[string]difference{
			onGitLab: {"a branch on top of the target is not rebased", `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 0 behind`},
			onGitea: {"a branch on top of the target is not rebased", `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 0 behind`},
			onAzure: {"a branch on top of the target is not rebased", `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 0 behind`},
		}},
		{"merged pull request, another value", func(w *world) {
			w.must()
			w.people.Merge(w, 1, "merge")
			w.value = "2"
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"squashed pull request, another value", func(w *world) {
			w.must()
			w.people.Merge(w, 1, "squash")
			w.value = "2"
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"rebased pull request, another value", func(w *world) {
			w.must()
			w.people.Merge(w, 1, "rebase")
			w.value = "2"
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"merged pull request, reverted", func(w *world) {
			w.must()
			w.people.Merge(w, 1, "squash")
			w.push("main", file, "0")
		}, `
1 merged "Set 1"
2 open "Set 1"
main: 0
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"the pull request is merged while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Before(hostingtest.Push, func() { w.people.Merge(w, 1, "merge") })
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`, nil},
		{"the pull request is squashed while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Before(hostingtest.Push, func() { w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`, nil},
		{"the pull request is rebased while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Before(hostingtest.Push, func() { w.people.Merge(w, 1, "rebase") })
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`, nil},
		{"people merge the pull request between our push and our edit", func(w *world) {
			w.must()
			w.value = "2"
			w.afterPush = w.once(func() { w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 2
ours: 2, 1 ahead, 1 behind
host: list open, read, list open, list closed, list open`, map[string]difference{
			onGitLabLags: {"the host merges the older head that it sees", `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind`},
		}},
		{"the pull request is merged while we edit", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Before(hostingtest.Edit, func() { w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 2"
main: 2
ours: 2, 1 ahead, 1 behind
host: list open, read, edit, list open, list closed, list open`, map[string]difference{
			onGitLabLags: {"the host merges the older head that it sees", `
1 merged "Set 2"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind`},
			onAzure: {"the host does not edit a completed pull request", `
1 merged "Set 1"
main: 2
ours: 2, 1 ahead, 1 behind`},
		}},
		{"the pull request is closed while we push", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Before(hostingtest.Push, func() { w.people.Close(w, 1) })
		}, `
1 closed "Set 1"
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`, nil},
		{"people change the target of the pull request while we push", func(w *world) {
			w.must()
			w.branchOff("live")
			w.value = "2"
			w.people.Before(hostingtest.Push, func() { w.people.Retarget(w, 1, "live") })
		}, `
1 open "Set 1" to live
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`, nil},
		{"the pull request is merged while we close", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.value = "0"
			w.people.Before(hostingtest.Edit, func() { w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
2 open "Set 0"
main: 1
ours: 0, 1 ahead, 0 behind
host: list open, close, list open, list closed, list open, open`, nil},

		// Waiting.
		{"the apply waits, and people merge the pull request", func(w *world) {
			w.settings.Wait = true
			w.sleep = w.onSecond(func() { w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, read, read`, nil},
		{"the apply waits, and people close the pull request", func(w *world) {
			w.settings.Wait = true
			w.sleep = w.onSecond(func() { w.people.Close(w, 1) })
		}, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, read, read
error: closed without being merged`, nil},
		{"the apply waits, and people merge the pull request into another branch", func(w *world) {
			w.branchOff("live")
			w.settings.Wait = true
			w.sleep = w.onSecond(func() { w.people.Retarget(w, 1, "live"); w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1" to live
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, read, read
error: closed without being merged`, nil},
		{"the apply waits until its timeout", func(w *world) {
			w.settings.Wait, w.sleep = true, w.timeUp(nil)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, read, read
error: not merged yet`, nil},
		{"the apply waits, and people merge the pull request at the timeout", func(w *world) {
			w.settings.Wait, w.sleep = true, w.timeUp(func() { w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, read, read`, nil},
		{"the apply waited in vain, and the next apply continues", func(w *world) {
			w.settings.Wait, w.sleep = true, w.timeUp(nil)
			if w.run() == nil {
				w.Fatal("the first apply did not wait")
			}
			w.ctx = w.Context()
			w.sleep = w.onSecond(func() { w.people.Merge(w, 1, "squash") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, read, read, read`, nil},

		// Auto-merge.
		{"the host merges at once", func(w *world) { w.settings.AutoMerge = "squash" }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, merge, read`, nil},
		{"the host merges once the checks have passed", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
		}, `
1 open "Set 1" auto-merge squash
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge`, nil},
		{"the host merges by rebase", func(w *world) { w.settings.AutoMerge = "rebase" }, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, merge, read`, map[string]difference{
			onGitLab: {"the project chooses how to merge", `
main: nothing
ours: none
error: the host rejected the request at auto_merge`},
			onGitea: {"a branch on top of the target is not rebased", `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 0 behind`},
			onAzure: {"a branch on top of the target is not rebased", `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 0 behind`},
		}},
		{"the host merges, and the apply waits", func(w *world) {
			w.settings.AutoMerge, w.settings.Wait = "squash", true
			w.people.Require("main", "ci")
			w.sleep = w.onSecond(func() { w.people.SetStatus(w.head(), "ci", githost.Success) })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, read, read`, nil},
		{"we enabled auto-merge, which is no longer configured", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
			w.must()
			w.settings.AutoMerge = ""
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, disablePullRequestAutoMerge`, nil},
		{"we enabled auto-merge, and people changed its method", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
			w.must()
			w.people.AutoMerge(w, 1, "merge")
			w.settings.AutoMerge = ""
		}, `
1 open "Set 1" auto-merge merge
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`, map[string]difference{
			onGitea: {"the host hides the method", `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind`},
		}},
		{"we enabled auto-merge, and another method is configured now", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
			w.must()
			w.settings.AutoMerge = "merge"
		}, `
1 open "Set 1" auto-merge merge
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, disablePullRequestAutoMerge, enablePullRequestAutoMerge`, nil},
		{"people enabled auto-merge", func(w *world) {
			w.people.Require("main", "ci")
			w.must()
			w.people.AutoMerge(w, 1, "merge")
			w.value = "2"
		}, `
1 open "Set 2" auto-merge merge
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, map[string]difference{
			onGitLab: {"a push disables auto-merge that people enabled", `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind`},
			onGitLabLags: {"the host has not seen the push yet", `
1 open "Set 2" auto-merge merge
main: nothing
ours: 2, 1 ahead, 0 behind`},
		}},
		{"people enabled auto-merge, which merges while we push", func(w *world) {
			w.people.Require("main", "ci")
			w.must()
			w.people.AutoMerge(w, 1, "merge")
			w.value = "2"
			w.people.Before(hostingtest.Push, func() {
				w.people.SetStatus(w.head(), "ci", githost.Success)
				w.awaitState(1, githost.Merged)
			})
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, read, list open, list closed, list open, open`, map[string]difference{
			onGitLabLags: {"the host merges once it has checked that it can", `
1 merged "Set 2"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind`},
			onAzure: {"the host merges in the background, and sees our push first", `
1 open "Set 2" auto-merge merge
main: nothing
ours: 2, 1 ahead, 0 behind`},
		}},
		{"the host refuses auto-merge", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
			w.people.Fail(w, hostingtest.AutoMerge, 1, hostingtest.Refused)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, read
error: the host rejected the request at auto_merge`, nil},
		{"people merge the pull request before auto-merge", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
			w.people.Before(hostingtest.AutoMerge, func() { w.people.Merge(w, 1, "merge") })
		}, `
1 merged "Set 1"
main: 1
ours: 1, 0 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, read`, nil},
		{"people close the pull request before auto-merge", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Require("main", "ci")
			w.people.Before(hostingtest.AutoMerge, func() { w.people.Close(w, 1) })
		}, `
1 closed "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, read`, nil},
		{"auto-merge is configured, and another value is desired", func(w *world) {
			w.people.Require("main", "ci")
			w.must()
			w.settings.AutoMerge, w.value = "squash", "2"
		}, `
1 open "Set 2" auto-merge squash
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit, enablePullRequestAutoMerge`, nil},
		{"the host has not seen the push to the target yet", func(w *world) {
			w.settings.AutoMerge = "squash"
			w.people.Fail(w, hostingtest.AutoMerge, 2, hostingtest.NotReady)
		}, `
1 merged "Set 1"
main: 1
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open, enablePullRequestAutoMerge, queue, merge, merge, merge, read`, nil},

		// Answers are lost or late, or applies are killed.
		{"the answer of the create is lost", func(w *world) {
			w.people.Fail(w, hostingtest.Open, 1, hostingtest.AnswerLost)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, open, list open`, nil},
		{"the create is lost", func(w *world) {
			w.people.Fail(w, hostingtest.Open, 1, hostingtest.Dropped)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, open`, nil},
		{"the answer of the edit is lost", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Fail(w, hostingtest.Edit, 1, hostingtest.AnswerLost)
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit, edit`, nil},
		{"the answer of the close is lost", func(w *world) {
			w.push("main", file, "0")
			w.must()
			w.value = "0"
			w.people.Fail(w, hostingtest.Edit, 1, hostingtest.AnswerLost)
		}, `
1 closed "Set 1"
main: 0
ours: none
host: list open, close, close`, nil},
		{"the host has not seen our push yet", func(w *world) {
			w.people.Fail(w, hostingtest.Open, 1, hostingtest.NotSeen)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: 2 times list open, list closed, list open, open`, nil},
		{"the host never sees our push", func(w *world) {
			w.people.Fail(w, hostingtest.Open, -1, hostingtest.NotSeen)
		}, `
main: nothing
ours: 1, 1 ahead, 0 behind
host: 5 times list open, list closed, list open, open
error: the host does not know the branch to be merged`, nil},
		{"the apply was killed before the pull request was opened", func(w *world) {
			w.people.Fail(w, hostingtest.Open, 1, hostingtest.Forbidden)
			_ = w.run()
			w.loseState()
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"the apply was killed before the pull request was opened, and another value is desired", func(w *world) {
			w.people.Fail(w, hostingtest.Open, 1, hostingtest.Forbidden)
			_ = w.run()
			w.loseState()
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"the apply was killed after the pull request was opened", func(w *world) { w.must(); w.loseState() }, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read`, nil},
		{"the apply was killed after the pull request was opened, and another value is desired", func(w *world) {
			w.must()
			w.loseState()
			w.value = "2"
		}, `
1 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, nil},

		// Duplicates and foreign pull requests.
		{"people open a pull request from our branch before the apply", func(w *world) {
			w.people.Before(hostingtest.Open, func() { w.people.Open(w, w.branch(), "main", "Theirs", "Mine") })
		}, `
1 open "Theirs" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, list open, list open, list closed, list open
error: an open pull request between these branches already exists`, nil},
		{"people open a pull request with our marker before the apply", func(w *world) {
			w.people.Before(hostingtest.Open, func() { w.people.Open(w, w.branch(), "main", "Theirs", marker) })
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, list open, list open, read, edit`, nil},
		{"people push our commit to the target before the pull request is opened", func(w *world) {
			w.people.Before(hostingtest.Open, func() {
				w.pushOurs()
			})
		}, `
main: 1
ours: 1, 0 ahead, 0 behind
host: list open, list closed, list open, open, list open, list closed, list open`, map[string]difference{
			onGitLab: {"the host opens an empty pull request, which we close", `
1 closed "Set 1"
main: 1
ours: none`},
			onGitea: {"the host opens an empty pull request, which we close", `
1 closed "Set 1"
main: 1
ours: none`},
			onAzure: {"the host opens an empty pull request, which we close", `
1 closed "Set 1"
main: 1
ours: none`},
		}},
		{"open foreign pull request from our branch", func(w *world) {
			w.push(w.branch(), "note.txt", "theirs")
			w.people.Open(w, w.branch(), "main", "Theirs", "Mine")
		}, `
1 open "Theirs" unmarked
main: nothing
ours: nothing note.txt, 1 ahead, 1 behind
host: list open, list closed, list open
error: an open pull request between these branches already exists`, nil},
		{"closed foreign pull request from our branch", func(w *world) {
			w.must()
			w.people.Edit(w, 1, "Set 1", "Mine")
			w.people.Close(w, 1)
			w.loseState()
		}, `
1 closed "Set 1" unmarked
2 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"our closed pull request, and an open foreign pull request from our branch", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.people.Open(w, w.branch(), "main", "Theirs", "Mine")
		}, `
1 closed "Set 1"
2 open "Theirs" unmarked
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: an open pull request between these branches already exists`, nil},
		{"foreign pull request from our branch to another target", func(w *world) {
			w.must()
			w.branchOff("live")
			w.people.Open(w, w.branch(), "live", "Theirs", marker)
			w.value = "2"
		}, `
1 open "Set 2"
2 open "Theirs" to live
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, nil},

		// Rights.
		{"the host does not show the repo", func(w *world) {
			w.as(hostingtest.Foreign)
		}, `
main: nothing
ours: none
host: list open
error: not found, or not visible to the credential`, nil},
		{"our credential may only read", func(w *world) {
			w.as(hostingtest.Reader)
		}, `
main: nothing
ours: none
host: list open, list closed, list open
error: not authorized`, nil},
		{"the right to open is lost after the push", func(w *world) {
			w.people.Fail(w, hostingtest.Open, -1, hostingtest.Forbidden)
		}, `
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open
error: the host does not allow this`, nil},
		{"the right to edit is lost after the push", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Fail(w, hostingtest.Edit, -1, hostingtest.Forbidden)
		}, `
1 open "Set 1"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit
error: the host does not allow this`, nil},
		{"the token is revoked after the push", func(w *world) {
			w.must()
			w.value = "2"
			w.afterPush = func() error { w.people.Revoke(w); return nil }
		}, `
1 open "Set 1"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read
error: the host does not accept the credential`, nil},
		{"the push is refused", func(w *world) {
			w.must()
			w.value = "2"
			w.people.Protect(w, "main", w.branch())
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open
error: push rejected`, nil},
		{"the host refuses a label of the pull request that was opened", func(w *world) {
			w.settings.Labels = []string{"a"}
			w.people.Fail(w, hostingtest.Label, 1, hostingtest.Refused)
		}, `
1 open "Set 1"
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open, label
error: the host rejected the request at labels`, map[string]difference{
			onGitLab: {"the host sets labels together with other settings", `
1 open "Set 1" labels [a]
main: nothing
ours: 1, 1 ahead, 0 behind`},
			onAzure: {"the host sets labels together with other settings", `
1 open "Set 1" labels [a]
main: nothing
ours: 1, 1 ahead, 0 behind`},
		}},

		// Differences between hosts.
		{"people push the change to the target before the pull request is opened", func(w *world) {
			w.people.Before(hostingtest.Open, func() { w.push("main", file, "1") })
		}, `
1 closed "Set 1"
main: 1
ours: none
host: list open, list closed, list open, open, list open, close`, nil},
		{"people push another change to the target before the pull request is opened", func(w *world) {
			w.people.Before(hostingtest.Open, func() { w.push("main", "note.txt", "theirs") })
		}, `
1 open "Set 1"
main: nothing note.txt
ours: 1, 1 ahead, 1 behind
host: list open, list closed, list open, open`, nil},
		{"people pushed the change to the target, and reverted the change", func(w *world) {
			w.people.Before(hostingtest.Open, func() { w.push("main", file, "1") })
			w.must()
			w.push("main", file, "0")
		}, `
1 closed "Set 1"
2 open "Set 1"
main: 0
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"interrupted between push and open, older pull request closed", func(w *world) {
			w.must()
			w.people.Close(w, 1)
			w.must()
			w.value, w.afterPush = "2", func() error { return errStep }
			if err := w.run(); err == nil {
				w.Error("the step did not fail")
			}
			w.afterPush = nil
		}, `
1 closed "Set 1"
2 open "Set 2"
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"interrupted between push and open, older pull request merged", func(w *world) {
			w.must()
			w.people.Merge(w, 1, "squash")
			w.value, w.afterPush = "2", func() error { return errStep }
			if err := w.run(); err == nil {
				w.Error("the step did not fail")
			}
			w.afterPush = nil
		}, `
1 merged "Set 1"
2 open "Set 2"
main: 1
ours: 2, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"a draft with labels and a reviewer, and then other settings", func(w *world) {
			w.settings.Draft, w.settings.Labels, w.settings.Reviewers = true, []string{"a"}, []string{"ann"}
			w.promoted = true
			w.must()
			w.settings.Draft, w.settings.Reviewers, w.promoted = false, []string{"ann", "bob"}, false
		}, `
1 open "Set 1" labels [a] asked [ann bob]
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, read, markPullRequestReadyForReview, unlabel, ask`, nil},
		{"we enabled auto-merge, and another value is desired", func(w *world) {
			w.people.Require("main", "ci")
			w.settings.AutoMerge = githost.Merge
			w.must()
			w.value = "2"
		}, `
1 open "Set 2" auto-merge merge
main: nothing
ours: 2, 1 ahead, 0 behind
host: list open, read, edit`, nil},

		// Removals.
		{"a removal", func(w *world) { w.push("main", file, "0"); w.value = "" }, `
1 open "Remove the value"
main: 0
ours: nothing, 1 ahead, 0 behind
host: list open, list closed, list open, open`, nil},
		{"a removal that is already proposed", func(w *world) { w.push("main", file, "0"); w.propose("") }, `
1 open "Remove the value"
main: 0
ours: nothing, 1 ahead, 0 behind
host: list open, read`, nil},
		{"a removal of files that are already gone", func(w *world) {
			w.push("main", file, "0")
			w.propose("")
			w.push("main", file, "")
		}, `
1 closed "Remove the value"
main: nothing
ours: none
host: list open, close`, nil},
		{"a removal from a target that was deleted", func(w *world) {
			w.push("main", file, "0")
			w.propose("")
			w.deleteBranch("main")
		}, `
1 closed "Remove the value"
main: none
ours: none
host: list open, list closed, list open`, map[string]difference{
			onGitea: {"the host changes the target to the default branch", `
1 closed "Remove the value" to default
main: none
ours: none`},
		}},
		{"a removal, and a foreign branch has the name of our branch", func(w *world) {
			w.push("main", file, "0")
			w.push(w.branch(), "note.txt", "theirs")
			w.value = ""
		}, `
main: 0
ours: nothing note.txt, 1 ahead, 2 behind
host: list open, list closed, list open
error: the branch is not ours`, nil},

		// The caller's step between the push and the pull request.
		{"the caller's step fails", func(w *world) { w.afterPush = func() error { return errStep } }, `
main: nothing
ours: 1, 1 ahead, 0 behind
host: list open, list closed, list open
error: the step of the caller failed`, nil},
		{"the caller's step fails, and the target contains the value", func(w *world) {
			w.push("main", file, "1")
			w.afterPush = func() error { return errStep }
		}, `
main: 1
ours: none
host: list open, list closed, list open
error: the step of the caller failed`, nil},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			onEachHost(t, func(w *world) {
				test.with(w)
				w.resetLog()
				w.expect(test.wantOn(w.which), w.run())
			})
		})
	}
}
