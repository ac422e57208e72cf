package remote_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// freeze freezes the environment for a reason, or ends the freeze if the reason is empty.
func (r *reviewed) freeze(why string) {
	r.desired.Promotion = promotion.Promotion{}
	if why != "" {
		r.desired.Promotion.Reason = promotion.Reason{Decision: promotion.Frozen, Summary: why + "\nand more"}
	}
}

// frozen opens a pull request, and then freezes the environment.
func (r *reviewed) frozen(why string) { r.Helper(); r.apply(); r.freeze(why); r.apply() }

// frozenFirst freezes the environment before any commit was promoted.
func (r *reviewed) frozenFirst(why string) { r.freeze(why); r.desired.NoCommit = true }

// autoMerge enables auto-merge, and requires a check for pull requests to dev.
func (r *reviewed) autoMerge() {
	r.on.Require("dev", "ci")
	r.desired.PullRequest.AutoMerge = githost.Squash
}

// inWaves delivers a rendering, and then configures a rollout with a wave for each cluster type, large before small.
func (r *reviewed) inWaves() {
	r.Helper()
	r.delivered()
	r.desired.Rollout = &rollout.Rollout{
		Stages: []rollout.Stage{{Name: "all", MaxConcurrency: &limit.Limit{Number: 1}}},
	}
	r.observe(deployment.Success)
	r.value = "2"
}

// observe lets the clusters of both cluster types report a verdict on the tree of the branch dev.
func (r *reviewed) observe(verdict deployment.Verdict) {
	r.Helper()
	o := &deployment.Observation{At: time.Now().Add(time.Hour), Folders: map[string]deployment.FolderState{}}
	for _, name := range []string{"large", "small"} {
		o.Folders[name] = deployment.FolderState{
			Tree:    strings.TrimSpace(gitserver.Git(r, r.on.Path, "rev-parse", "dev:"+name)),
			Verdict: verdict, Counts: deployment.Counts{Total: 1},
		}
	}
	now := *r.desired.Rollout
	now.Observed = o
	r.desired.Rollout = &now
}

// pause pauses the rollout for a reason, or continues it if the reason is empty.
func (r *reviewed) pause(why string) {
	now := *r.desired.Rollout
	now.Pause = why
	r.desired.Rollout = &now
}

// secondWave prepares a rollout. The pull request of its first wave is merged, and clusters run the wave. The pull
// request of its second wave is open.
func (r *reviewed) secondWave() {
	r.Helper()
	r.inWaves()
	r.apply()
	r.merge()
	r.observe(deployment.Success)
	r.apply()
}

// failingWave prepares a rollout in which the clusters of the first wave fail while the second wave's pull request is
// open.
func (r *reviewed) failingWave() {
	r.Helper()
	r.secondWave()
	r.observe(deployment.Failure)
	r.apply()
}

// TestStops specifies what happens to a rendering that is frozen, paused or withheld, mostly while its pull request is
// open.
func TestStops(t *testing.T) {
	t.Parallel()
	specify(t, []reviewCase{
		{"frozen before the first delivery", func(r *reviewed) error { r.freeze("an incident"); return nil }, `
plan: deliver nothing`},
		{"paused before the first delivery", func(r *reviewed) error {
			r.desired.Rollout = &rollout.Rollout{Stages: []rollout.Stage{{Name: "all"}}, Pause: "an incident"}
			return nil
		}, `
plan: deliver nothing`},
		{"frozen after the delivery", func(r *reviewed) error {
			r.delivered()
			r.freeze("an incident")
			r.set("2")
			return nil
		}, `
1 merged: dev to dev
dev: 1
ours/dev: 1
plan: nothing, delivered`},
		{"frozen, and people change the branch", func(r *reviewed) error {
			r.delivered()
			r.freeze("an incident")
			r.push("dev", "large/a-x/reconciler.yaml", "hotfix")
			r.set("2")
			return nil
		}, `
1 merged: dev to dev
dev: hotfix
ours/dev: 1
plan: nothing, drift "Seed" [large/a-x/reconciler.yaml]`},
		{"frozen while a pull request is open, before the apply", func(r *reviewed) error {
			r.apply()
			r.freeze("an incident")
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: withhold`},
		{"frozen while a pull request is open", func(r *reviewed) error {
			r.frozen("an `incident`")
			return nil
		}, `
1 open: dev to dev draft "an 'incident'."
ours/dev: 1
plan: nothing`},
		{"frozen while auto-merge is enabled", func(r *reviewed) error {
			r.autoMerge()
			r.frozen("an incident")
			return nil
		}, `
1 open: dev to dev draft "an incident."
ours/dev: 1
plan: nothing`},
		{"frozen on a host without drafts", func(r *reviewed) error {
			r.on.NoDrafts = true
			r.autoMerge()
			r.frozen("an incident")
			return nil
		}, `
1 open: dev to dev "an incident."
ours/dev: 1
plan: nothing`},
		{"no longer frozen, on a host without drafts", func(r *reviewed) error {
			r.on.NoDrafts = true
			r.autoMerge()
			r.frozen("an incident")
			r.freeze("")
			r.apply()
			return nil
		}, `
1 open: dev to dev auto-merge
ours/dev: 1
plan: nothing`},
		{"frozen, and the host does not find the pull request", func(r *reviewed) error {
			r.apply()
			r.freeze("an incident")
			r.refresh()
			r.fake.Fail("POST", "graphql", -1, hostfake.Failure{
				Status: 200, Body: `{"errors": [{"type": "NOT_FOUND", "message": "Gone"}]}`,
			})
			return r.applyPlanned()
		}, `
1 open: dev to dev
ours/dev: 1
error: read the merge queue of pull request 1 of acme/gitops: not found, or not visible to the credential: "Gone"
plan: withhold`},
		{"frozen for another reason", func(r *reviewed) error {
			r.frozen("an incident")
			r.freeze("the holidays")
			r.apply()
			return nil
		}, `
1 open: dev to dev draft "the holidays."
ours/dev: 1
plan: nothing`},
		{"frozen, and people pushed to our branch", func(r *reviewed) error {
			r.frozen("an incident")
			r.push(r.ours(), "large/a-x/reconciler.yaml", "hotfix")
			return nil
		}, `
1 open: dev to dev draft "an incident."
ours/dev: hotfix
plan: nothing`},
		{"no longer frozen, before the apply", func(r *reviewed) error {
			r.frozen("an incident")
			r.freeze("")
			return nil
		}, `
1 open: dev to dev draft "an incident."
ours/dev: 1
plan: write`},
		{"no longer frozen", func(r *reviewed) error {
			r.autoMerge()
			r.frozen("an incident")
			r.freeze("")
			r.apply()
			return nil
		}, `
1 open: dev to dev auto-merge
ours/dev: 1
plan: nothing`},
		{"frozen, and people merged the pull request between plan and apply", func(r *reviewed) error {
			r.apply()
			r.freeze("an incident")
			r.refresh()
			r.merge()
			return r.applyPlanned()
		}, `
1 merged: dev to dev
dev: 1
ours/dev: 1
plan: nothing, delivered`},
		{"frozen, and people close the pull request", func(r *reviewed) error {
			r.frozen("an incident")
			r.on.Close(r, 1)
			r.desired.PullRequest.Reopen = true
			r.apply()
			return nil
		}, `
1 closed: dev to dev draft "an incident."
ours/dev: 1
plan: nothing`},
		{"nothing is promoted yet", func(r *reviewed) error { r.desired.NoCommit = true; return nil }, `
plan: deliver nothing`},
		{"the promotion is removed while a pull request is open", func(r *reviewed) error {
			r.apply()
			r.desired.NoCommit = true
			r.set("2")
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: nothing`},

		{"frozen before the first promotion, before the apply", func(r *reviewed) error {
			r.apply()
			r.frozenFirst("an incident")
			return nil
		}, `
1 open: dev to dev
ours/dev: 1
plan: withhold`},
		{"frozen before the first promotion", func(r *reviewed) error {
			r.autoMerge()
			r.apply()
			r.frozenFirst("an incident")
			r.apply()
			return nil
		}, `
1 open: dev to dev draft "an incident."
ours/dev: 1
plan: nothing`},
		{"no longer frozen, and the first commit is promoted", func(r *reviewed) error {
			r.autoMerge()
			r.apply()
			r.frozenFirst("an incident")
			r.apply()
			r.freeze("")
			r.desired.NoCommit = false
			r.apply()
			return nil
		}, `
1 open: dev to dev auto-merge
ours/dev: 1
plan: nothing`},

		{"the second wave's pull request is open", func(r *reviewed) error { r.secondWave(); return nil }, `
1 merged: dev to dev
2 merged: dev to dev
3 open: dev to dev
dev: 2
ours/dev: 2
plan: nothing`},
		{"the first wave fails while the second is open, before the apply", func(r *reviewed) error {
			r.secondWave()
			r.observe(deployment.Failure)
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 open: dev to dev
dev: 2
ours/dev: 2
plan: withhold`},
		{"the first wave fails while the second is open", func(r *reviewed) error {
			r.autoMerge()
			r.failingWave()
			r.observe(deployment.Pending)
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 open: dev to dev draft "An earlier wave of the rollout, in stage \"all\", is not current yet."
dev: 2
ours/dev: 2
plan: nothing`},
		{"the first wave runs again", func(r *reviewed) error {
			r.autoMerge()
			r.failingWave()
			r.observe(deployment.Success)
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 open: dev to dev auto-merge
dev: 2
ours/dev: 2
plan: nothing`},
		{"people closed the second wave, and the first wave fails", func(r *reviewed) error {
			r.secondWave()
			r.on.Close(r, 3)
			r.desired.PullRequest.Reopen = true
			r.observe(deployment.Failure)
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 closed: dev to dev
dev: 2
ours/dev: 2
plan: nothing, 3 was closed`},
		{"people closed the second wave, and the first wave runs", func(r *reviewed) error {
			r.secondWave()
			r.on.Close(r, 3)
			r.desired.PullRequest.Reopen = true
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 closed: dev to dev
4 open: dev to dev
dev: 2
ours/dev: 2
plan: nothing`},
		{"paused before a wave", func(r *reviewed) error { r.inWaves(); r.pause("an incident"); r.apply(); return nil }, `
1 merged: dev to dev
dev: 1
ours/dev: 1
plan: nothing, delivered`},
		{"paused while a wave is open", func(r *reviewed) error {
			r.secondWave()
			r.pause("an incident")
			r.apply()
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 open: dev to dev draft "The rollout is paused: an incident."
dev: 2
ours/dev: 2
plan: nothing`},
		{"paused, and the open wave is rolled back", func(r *reviewed) error {
			r.secondWave()
			r.pause("an incident")
			r.apply()
			r.set("1")
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 open: dev to dev
dev: 2
ours/dev: 1
plan: nothing`},
		{"rolled back while a wave is open", func(r *reviewed) error {
			r.secondWave()
			r.desired.Promotion = promotion.Promotion{Commit: "c0", Reason: promotion.Reason{Decision: promotion.Rollback}}
			r.set("1")
			return nil
		}, `
1 merged: dev to dev
2 merged: dev to dev
3 open: dev to dev [promoted]
dev: 2
ours/dev: 1
plan: nothing`},
	})
}

// TestStopWarnings: if a plan writes nothing, its warnings name the reason, the changes that wait, and the drift. They
// also say that the pull request must not be merged.
func TestStopWarnings(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.secondWave()
	problems := func() string {
		r.Helper()
		r.refresh()
		var texts []string
		for _, p := range report.Plan(r.decide()) {
			texts = append(texts, p.Summary+": "+p.Detail)
		}
		return strings.Join(texts, "\n")
	}
	for _, test := range []struct {
		with func()
		want []string
	}{
		{func() {}, nil},
		{func() { r.observe(deployment.Failure) }, []string{
			"Pull request must not be merged yet: An earlier wave", "Pull request 3 is a draft",
		}},
		{func() { r.freeze("An incident."); r.push("dev", "large/a-x/reconciler.yaml", "hotfix") }, []string{
			"Drift: rendered folders changed outside Terraform",
			"The environment is frozen: An incident. This rendering writes nothing",
			"1 cluster type waits to change", "small: +0 -0 ~1", "Pull request 3 is a draft",
		}},
		{func() { r.desired.NoCommit = true }, []string{"Nothing is promoted yet: ", "Pull request 3 is a draft"}},
	} {
		test.with()
		text := problems()
		if len(test.want) == 0 && text != "" {
			t.Errorf("the warnings are %s", text)
		}
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("the warnings do not contain %q:\n%s", want, text)
			}
		}
	}
}

// TestFilesOfTheBranch: Files reads our files at the head that the state names. If the branch has moved since, it reads
// none.
func TestFilesOfTheBranch(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivered()
	files, err := r.remote.Files(t.Context(), r.state)
	if err != nil || string(files["large/a-x/reconciler.yaml"]) != "1" || files["README.md"] != nil {
		t.Errorf("files are %q, %v", files, err)
	}
	r.push("dev", "note.txt", "1")
	if files, err := r.remote.Files(t.Context(), r.state); err != nil || files != nil {
		t.Errorf("files of a branch that moved are %q, %v", files, err)
	}
}
