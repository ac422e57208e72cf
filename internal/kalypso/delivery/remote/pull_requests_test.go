package remote_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestMergedBetweenReads: people merge the pull request after a refresh has read it, but before the refresh reads the
// branch.
func TestMergedBetweenReads(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.apply()
	r.merge()
	r.fake.Fail("GET", "/pulls/1", 1, hostfake.Failure{
		Status: 200, Body: `{"number": 1, "state": "open", "base": {"ref": "dev"}}`,
	})
	found, err := r.remote.Refresh(r.Context(), r.prior, r.state)
	if err != nil {
		t.Fatal(err)
	}
	if pr := found.PullRequest; pr == nil || pr.State != githost.Merged || !found.Delivered ||
		pr.MergeCommit != found.Commit {
		t.Errorf("delivered %v at %s by %+v", found.Delivered, found.Commit, pr)
	}
}

// TestPullRequests specifies how merges, commits of people, moves and removals change a rendering that is delivered by
// pull request.
func TestPullRequests(t *testing.T) {
	t.Parallel()
	specify(t, []reviewCase{
		// Proposed and merged.
		{"the tree is proposed", func(r *reviewed) error { r.apply(); return nil }, `
1 open: dev to dev
ours/dev: 1
plan: nothing`},
		{"the pull request is merged", func(r *reviewed) error { r.apply(); r.on.Merge(r, 1, "merge"); return nil }, `
1 merged: dev to dev
dev: 1
ours/dev: 1
plan: nothing, delivered`},
		{"the pull request is squashed", func(r *reviewed) error { r.apply(); r.on.Merge(r, 1, "squash"); return nil }, `
1 merged: dev to dev
dev: 1
ours/dev: 1
plan: nothing, delivered`},
		{"the pull request is rebased", func(r *reviewed) error { r.apply(); r.on.Merge(r, 1, "rebase"); return nil }, `
1 merged: dev to dev
dev: 1
ours/dev: 1
plan: nothing, delivered`},
		{"the pull request is merged, and another tree is proposed", func(r *reviewed) error {
			r.delivered()
			r.set("2")
			return nil
		}, `
1 merged: dev to dev
2 open: dev to dev
dev: 1
ours/dev: 2
plan: nothing`},
		{"the pull request is merged between plan and apply", func(r *reviewed) error {
			r.apply()
			r.value = "2"
			r.refresh()
			r.merge()
			return r.applyPlanned()
		}, `
1 merged: dev to dev
2 open: dev to dev
dev: 1
ours/dev: 2
plan: nothing`},
		{"the pull request is merged between plan and apply, with foreign changes", func(r *reviewed) error {
			r.apply()
			r.value = "2"
			r.refresh()
			r.push(r.ours(), "large/a-x/reconciler.yaml", "hotfix")
			r.merge()
			return r.applyPlanned()
		}, `
1 merged: dev to dev
dev: hotfix
ours/dev: hotfix
error: "dev" moved: [.kalypso/rendering.json]
plan: write, drift "the pull request was merged together with other people's changes" [large]`},
		{"the pull request is merged while we push the next tree", func(r *reviewed) error {
			r.apply()
			r.fake.Git.BeforeReceive(func() { r.on.Merge(r, 1, "rebase") })
			r.set("2")
			return nil
		}, `
1 merged: dev to dev
2 open: dev to dev
dev: 1
ours/dev: 2
plan: nothing`},
		{"the pull request is merged after we pushed the next tree", func(r *reviewed) error {
			r.apply()
			at := gitserver.Rev(r, r.on.Path, r.ours())
			r.fake.Before("GET", "/pulls/1", func() bool {
				if gitserver.Rev(r, r.on.Path, r.ours()) == at {
					return false
				}
				r.merge()
				return true
			})
			r.set("2")
			return nil
		}, `
1 merged: dev to dev
dev: 2
ours/dev: 2
plan: nothing, delivered`},
		{"the pull request is merged with foreign changes while we wait", func(r *reviewed) error {
			r.desired.PullRequest.Wait = true
			r.fake.Before("GET", "/pulls/1", func() bool {
				r.push(r.ours(), "large/a-x/reconciler.yaml", "hotfix")
				r.merge()
				return true
			})
			r.apply()
			return nil
		}, `
1 merged: dev to dev
dev: hotfix
ours/dev: hotfix
plan: write, drift "the pull request was merged together with other people's changes" [large]`},
		{"people pushed our commit to the target", func(r *reviewed) error {
			r.apply()
			gitserver.Git(r, r.on.Path, "update-ref", "refs/heads/dev", r.ours())
			return nil
		}, `
1 merged: dev to dev
dev: 1
ours/dev: 1
plan: nothing, delivered`},
		{"people closed the pull request", func(r *reviewed) error { r.apply(); r.on.Close(r, 1); return nil }, `
1 closed: dev to dev
ours/dev: 1
plan: nothing, 1 was closed`},
		{"people changed the target branch of the pull request", func(r *reviewed) error {
			r.apply()
			r.on.Retarget(r, 1, "live")
			return nil
		}, `
1 open: dev to live
ours/dev: 1
plan: nothing, 1 was closed`},
		{"people closed the pull request, and the target's tree is desired again", func(r *reviewed) error {
			r.delivered()
			r.set("2")
			r.on.Close(r, 2)
			r.set("1")
			return nil
		}, `
1 merged: dev to dev
2 closed: dev to dev
dev: 1
plan: nothing, delivered`},
		{"people deleted our branch, and the pull request is still open", func(r *reviewed) error {
			r.apply()
			r.on.KeepOpen()
			gitserver.Git(r, r.on.Path, "update-ref", "-d", "refs/heads/"+r.ours())
			return nil
		}, `
1 open: dev to dev
plan: write`},
		{"the settings of the pull request change", func(r *reviewed) error {
			r.apply()
			r.desired.PullRequest.Labels, r.desired.PullRequest.Reviewers = []string{"a"}, []string{"octocat"}
			r.apply()
			return nil
		}, `
1 open: dev to dev [a octocat]
ours/dev: 1
plan: nothing`},
		{"one more owner of changed folders", func(r *reviewed) error {
			r.desired.Owners = owners.Owners{{ClusterTypes: []string{"large"}, Reviewers: []string{"ann"}}}
			r.apply()
			r.desired.Owners = append(r.desired.Owners,
				owners.Owner{ClusterTypes: []string{"small"}, Reviewers: []string{"bob"}},
				owners.Owner{ClusterTypes: []string{"other"}, Reviewers: []string{"cora"}})
			r.apply()
			return nil
		}, `
1 open: dev to dev [ann bob]
ours/dev: 1
plan: nothing`},
		{"the owners of removed folders", func(r *reviewed) error {
			r.delivered()
			r.desired.Owners = owners.Owners{{ClusterTypes: []string{"large"}, Reviewers: []string{"ann"}},
				{ClusterTypes: []string{"other"}, Reviewers: []string{"bob"}}}
			return r.destroy()
		}, `
1 merged: dev to dev
2 open: remove to dev [ann]
dev: 1
ours/remove-dev:
plan: write`},

		// Foreign changes.
		{"people pushed to our branch", func(r *reviewed) error {
			r.apply()
			r.push(r.ours(), "large/a-x/reconciler.yaml", "hotfix")
			return nil
		}, `
1 open: dev to dev
ours/dev: hotfix
plan: write, drift "Seed" [large/a-x/reconciler.yaml]`},
		{"people pushed to our branch, and on_drift is overwrite", func(r *reviewed) error {
			r.apply()
			r.push(r.ours(), "large/a-x/reconciler.yaml", "hotfix")
			r.desired.OnDrift = drift.Overwrite
			r.apply()
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: nothing`},
		{"people pushed beside our folders", func(r *reviewed) error {
			r.apply()
			r.push(r.ours(), "note.txt", "1")
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: nothing`},
		{"people pushed beside our folders, and another tree is desired", func(r *reviewed) error {
			r.apply()
			r.push(r.ours(), "note.txt", "1")
			r.value = "2"
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: write, drift "Seed" [note.txt]`},
		{"people pushed beside our folders after the plan", func(r *reviewed) error {
			r.apply()
			r.value = "2"
			r.push(r.ours(), "note.txt", "1")
			return r.applyPlanned()
		}, `
1 open: dev to dev
ours/dev: 1
error: "ours/dev-7bf4c8d7" moved: [commits beside our folders]
plan: write, drift "Seed" [note.txt]`},
		{"people merged the target into our branch", func(r *reviewed) error {
			r.apply()
			r.push("dev", "apps.txt", "1")
			tree, _, _ := strings.Cut(gitserver.Git(r, r.on.Path, "merge-tree", "--write-tree", r.ours(), "dev"), "\n")
			merge := gitserver.Git(r, r.on.Path, "commit-tree", tree, "-m", "Merge", "-p", r.ours(), "-p", "dev")
			gitserver.Git(r, r.on.Path, "update-ref", "refs/heads/"+r.ours(), strings.TrimSpace(merge))
			r.value = "2"
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: write`},
		{"people rebased our branch, and another tree is desired", func(r *reviewed) error {
			r.apply()
			r.push("dev", "apps.txt", "1")
			r.rebase()
			r.value = "2"
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: write`},
		{"people pushed beside our folders, rebased our branch, and another tree is desired", func(r *reviewed) error {
			r.apply()
			r.push(r.ours(), "note.txt", "1")
			r.push("dev", "apps.txt", "1")
			r.rebase()
			r.value = "2"
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: write, drift "the branch was rebased, and contains other people's commits on top of ours" []`},
		{"the pull request was merged with commits of people", func(r *reviewed) error {
			r.apply()
			r.push(r.ours(), "large/a-x/reconciler.yaml", "hotfix")
			r.merge()
			return nil
		}, `
1 merged: dev to dev
dev: hotfix
ours/dev: hotfix
plan: write, drift "the pull request was merged together with other people's changes" [large]`},
		{"people change our folders on the target", func(r *reviewed) error {
			r.delivered()
			r.set("2")
			r.push("dev", "large/a-x/reconciler.yaml", "hotfix")
			return nil
		}, `
1 merged: dev to dev
2 open: dev to dev
dev: hotfix
ours/dev: 2
plan: write, drift "Seed" [large/a-x/reconciler.yaml]`},
		{"people change our folders on the target, and revert their change", func(r *reviewed) error {
			r.delivered()
			r.set("2")
			r.push("dev", "large/a-x/reconciler.yaml", "hotfix")
			r.push("dev", "large/a-x/reconciler.yaml", "1")
			return nil
		}, `
1 merged: dev to dev
2 open: dev to dev
dev: 1
ours/dev: 2
plan: nothing`},
		{"an update was killed after its push", func(r *reviewed) error {
			r.apply()
			state, prior := r.state, *r.prior
			r.set("2")
			r.state, r.prior = state, &prior
			r.value = "3"
			return nil
		}, `
1 open: dev to dev
ours/dev: 2
plan: write`},

		// Moves.
		{"the rendering moves within its branch before the pull request is merged", func(r *reviewed) error {
			r.apply()
			r.desired.Destination.Path = "clusters"
			r.apply()
			return nil
		}, `
1 closed: dev to dev
2 open: dev to dev
ours/dev-clusters: clusters/1
plan: nothing`},
		{"the rendering moves within its branch", func(r *reviewed) error {
			r.delivered()
			r.desired.Destination.Path = "clusters"
			r.apply()
			r.merge()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
dev: clusters/1
ours/dev: 1
ours/dev-clusters: clusters/1
plan: nothing, delivered`},
		{"the rendering moves to another branch", func(r *reviewed) error { r.delivered(); r.move("live"); return nil }, `
1 merged: dev to dev
2 open: dev to live
dev: 1
ours/dev: 1
ours/dev-live: 1
plan: nothing`},
		{"the rendering moves to another branch before the pull request is merged", func(r *reviewed) error {
			r.apply()
			r.move("live")
			return nil
		}, `
1 closed: dev to dev
2 open: dev to live
ours/dev-live: 1
plan: nothing`},
		{"the rendering moves to another branch, and its pull request is merged meanwhile", func(r *reviewed) error {
			r.apply()
			r.refresh()
			r.merge()
			r.desired.Destination.Branch = "live"
			return r.applyPlanned()
		}, `
1 merged: dev to dev
2 open: dev to live
dev: 1
ours/dev: 1
ours/dev-live: 1
plan: nothing`},
		{"the tree was merged to another branch", func(r *reviewed) error {
			r.delivered()
			r.move("live")
			r.merge()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to live
dev: 1
live: 1
ours/dev: 1
ours/dev-live: 1
plan: remove old, removes dev, delivered`},
		{
			"the tree was merged to another branch, and its removal from the previous location is open",
			func(r *reviewed) error { r.moved(); return nil },
			`
1 merged: dev to dev
2 merged: dev to live
3 open: remove to dev
dev: 1
live: 1
ours/dev: 1
ours/dev-live: 1
ours/remove-dev:
plan: nothing, delivered`,
		},
		{"auto-merge merges the tree to another branch during the apply", func(r *reviewed) error {
			r.desired.PullRequest.AutoMerge = "squash"
			r.apply()
			r.move("live")
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to live
3 open: remove to dev
dev: 1
live: 1
ours/dev: 1
ours/dev-live: 1
ours/remove-dev:
plan: nothing, delivered`},
		{"the removal from the previous location is merged", func(r *reviewed) error { r.moved(); r.merge(); return nil }, `
1 merged: dev to dev
2 merged: dev to live
3 merged: remove to dev
live: 1
ours/dev: 1
ours/dev-live: 1
ours/remove-dev:
plan: nothing, delivered`},
		{"people closed the removal from the previous location", func(r *reviewed) error {
			r.moved()
			r.on.Close(r, 3)
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to live
3 closed: remove to dev
dev: 1
live: 1
ours/dev: 1
ours/dev-live: 1
ours/remove-dev:
plan: nothing, delivered`},
		{"people closed the removal from the previous location, and reopen is set", func(r *reviewed) error {
			r.moved()
			r.on.Close(r, 3)
			r.desired.PullRequest.Reopen = true
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to live
3 closed: remove to dev
4 open: remove to dev
dev: 1
live: 1
ours/dev: 1
ours/dev-live: 1
ours/remove-dev:
plan: nothing, delivered`},
		{"the rendering moves again before the first move is merged", func(r *reviewed) error {
			r.delivered()
			r.move("live")
			r.move("third")
			return nil
		}, `
1 merged: dev to dev
2 closed: dev to live
3 open: dev to third
dev: 1
ours/dev: 1
ours/dev-third: 1
plan: nothing`},
		{"the rendering moves again before the first move is merged, and the second move is merged", func(r *reviewed) error {
			r.delivered()
			r.move("live")
			r.move("third")
			r.merge()
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 closed: dev to live
3 merged: dev to third
4 open: remove to dev
dev: 1
ours/dev: 1
ours/dev-third: 1
ours/remove-dev:
third: 1
plan: nothing, delivered`},
		{"the rendering moves back while its removal is open", func(r *reviewed) error {
			r.moved()
			r.move("dev")
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to live
3 closed: remove to dev
4 open: remove to live
dev: 1
live: 1
ours/dev: 1
ours/dev-live: 1
ours/remove-dev-live:
plan: nothing, delivered`},
		{"on_move changes to keep while the removal is open", func(r *reviewed) error {
			r.moved()
			r.desired.KeepOld = true
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to live
3 closed: remove to dev
dev: 1
live: 1
ours/dev: 1
ours/dev-live: 1
plan: nothing, delivered`},
		{"the strategy changes to push while a removal is open", func(r *reviewed) error {
			r.moved()
			r.desired.Strategy = destination.Push
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to live
3 closed: remove to dev
live: 1
ours/dev: 1
ours/dev-live: 1
plan: nothing, delivered`},
		{"the strategy changes to push while a pull request is open", func(r *reviewed) error {
			r.delivered()
			r.set("2")
			r.desired.Strategy = destination.Push
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 closed: dev to dev
dev: 2
plan: nothing, delivered`},
		{"an apply waits for the removal until its timeout, and the removal is merged later", func(r *reviewed) error {
			r.delivered()
			r.move("live")
			r.merge()
			r.desired.PullRequest.Wait = true
			r.refresh()
			r.timeUp(3)
			err := r.applyPlanned()
			r.merge()
			r.ctx = r.Context()
			r.apply()
			return err
		}, `
1 merged: dev to dev
2 merged: dev to live
3 merged: remove to dev
live: 1
ours/dev: 1
ours/dev-live: 1
ours/remove-dev:
error: pull request 3 (/acme/gitops/pull/3) was not merged before the timeout
plan: nothing, delivered`},

		// Destroys.
		{"the rendering is destroyed before its pull request is merged", func(r *reviewed) error {
			r.apply()
			return r.destroy()
		}, `
1 closed: dev to dev
plan: write`},
		{"the rendering is destroyed", func(r *reviewed) error { r.delivered(); return r.destroy() }, `
1 merged: dev to dev
2 open: remove to dev
dev: 1
ours/remove-dev:
plan: write`},
		{"the rendering is destroyed with an open update", func(r *reviewed) error {
			r.desired.PullRequest.Reviewers, r.desired.PullRequest.AutoMerge = []string{"octocat"}, "squash"
			r.apply()
			r.on.Require("dev", "ci")
			r.set("2")
			r.on.Review(r, 2, "octocat", "")
			return r.destroy()
		}, `
1 merged: dev to dev [octocat]
2 closed: dev to dev
3 open: remove to dev [octocat]
dev: 1
ours/remove-dev:
plan: write`},
		{"the rendering is destroyed after a killed apply, whose pull request is not in the state", func(r *reviewed) error {
			r.delivered()
			state, prior := r.state, *r.prior
			r.set("2")
			r.state, r.prior = state, &prior
			_, _, err := r.remote.Destroy(r.ctx, &r.desired, r.prior, r.state)
			return err
		}, `
1 merged: dev to dev
2 closed: dev to dev
3 open: remove to dev
dev: 1
ours/remove-dev:
plan: write, delivered`},
		{
			"a rendering is destroyed while its removal from a previous location is open",
			func(r *reviewed) error { r.moved(); return r.destroy() },
			`
1 merged: dev to dev
2 merged: dev to live
3 open: remove to dev
4 open: remove to live
dev: 1
live: 1
ours/dev: 1
ours/remove-dev:
ours/remove-dev-live:
plan: write`,
		},
		{
			"a rendering is destroyed before its move is merged",
			func(r *reviewed) error { r.delivered(); r.move("live"); return r.destroy() },
			`
1 merged: dev to dev
2 closed: dev to live
3 open: remove to dev
dev: 1
ours/dev: 1
ours/remove-dev:
plan: write`,
		},
		{"the destroy waits until its timeout", func(r *reviewed) error {
			r.delivered()
			r.desired.PullRequest.Wait = true
			r.timeUp(2)
			return r.destroy()
		}, `
1 merged: dev to dev
2 open: remove to dev
dev: 1
ours/remove-dev:
error: pull request 2 (/acme/gitops/pull/2) was not merged before the timeout
plan: nothing, delivered`},
		{"the destroy waits until its timeout, and its pull request is merged later", func(r *reviewed) error {
			r.delivered()
			r.desired.PullRequest.Wait = true
			r.timeUp(2)
			err := r.destroy()
			r.merge()
			return err
		}, `
1 merged: dev to dev
2 merged: remove to dev
ours/remove-dev:
error: pull request 2 (/acme/gitops/pull/2) was not merged before the timeout
plan: write`},
		{"the rendering is created again while its removal is open", func(r *reviewed) error {
			r.delivered()
			if err := r.destroy(); err != nil {
				return err
			}
			r.desired.Adopt = true
			r.set("2")
			return nil
		}, `
1 merged: dev to dev
2 closed: remove to dev
3 open: dev to dev
dev: 1
ours/dev: 2
plan: nothing`},
		{"the rendering is created again with the tree on the branch, while its removal is open", func(r *reviewed) error {
			r.delivered()
			if err := r.destroy(); err != nil {
				return err
			}
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 closed: remove to dev
dev: 1
plan: nothing, delivered`},
	})
}
