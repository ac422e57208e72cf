package promotion_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// revert reverts, as a person would, the last commit on the branch prod of a repo.
func (p *promotionRoot) revert(repo string) string { p.T.Helper(); return p.revertTo(repo, 1) }

// expectNoPlan fails the test if the plan changes the rendering.
func (p *promotionRoot) expectNoPlan() {
	p.T.Helper()
	if plan := p.Succeed("plan", "-no-color").Text(); strings.Contains(plan, "kalypso_environment_rendering.this ") {
		p.T.Errorf("the plan changes the rendering:\n%s", plan)
	}
}

// The break-glass of the guide: a person reverts the last commit on the GitOps branch. The next plan stops and names
// the revert. With the bad commit in rejected, the branch matches the configuration: the plan is empty, nothing is
// written, and the bad commit does not return.
func TestAccPromotionBreakGlass(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} { // a pipeline may skip the apply of an empty plan
		for _, drift := range []string{"fail", "overwrite"} {
			t.Run(fmt.Sprintf("on_drift %s, applied %t", drift, applied), func(t *testing.T) {
				t.Parallel()
				byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
					p.Set("on_drift", drift)
					if !applied {
						p.Set("preview", "manifests") // the plan shows no changed files either
					}
					first := p.commit()
					p.expect("promote", first)
					bad := p.commit()
					p.expect("promote", bad)
					revert := p.revert(p.gitAt)
					if drift == "fail" {
						p.ExpectError([]string{"Drift: rendered folders changed outside Terraform", "commit " + revert},
							"plan", "-no-color")
					}
					p.rules("rejected", map[string]any{bad: nil})
					p.expectNoPlan()
					if applied {
						p.expect("up_to_date", first)
					}
					if head := gitserver.Rev(t, p.gitAt, "prod"); head != revert {
						t.Errorf("there are new commits: %s", gitserver.Git(t, p.gitAt, "log", "--oneline", "prod"))
					}
					fix := p.commit()
					p.expectNoPlan()
					p.rules("rejected", map[string]any{bad: fix})
					p.expect("promote", fix)
					p.expectNoPlan()
				})
			})
		}
	}
}

// The state is lost and imported, and then a person reverts the last delivery: the import reads the earlier deliveries
// from the branch, so the plan recognizes the revert as it does after an apply.
func TestAccPromotionBreakGlassAfterImport(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		first := p.commit()
		p.expect("promote", first)
		bad := p.commit()
		p.expect("promote", bad)
		p.Succeed("state", "rm", "-no-color", "kalypso_environment_rendering.this")
		p.Succeed("import", "-no-color", "kalypso_environment_rendering.this", "prod@"+p.gitops.URL+"?ref=prod")
		p.expect("up_to_date", bad)
		revert := p.revert(p.gitAt)
		p.rules("rejected", map[string]any{bad: nil})
		p.expectNoPlan()
		p.expect("up_to_date", first)
		if head := gitserver.Rev(t, p.gitAt, "prod"); head != revert {
			t.Errorf("there are new commits: %s", gitserver.Git(t, p.gitAt, "log", "--oneline", "prod"))
		}
		fix := p.commit()
		p.rules("rejected", map[string]any{bad: fix})
		p.expect("promote", fix)
	})
}

// If the reverted change came from the environment's own branch, the plan is empty once the change is reverted there
// too. The next change is delivered, unless it restores the reverted files.
func TestAccPromotionBreakGlassOfOwnBranch(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		first := p.commit()
		p.expect("promote", first)
		p.ownChange("small")
		p.expect("up_to_date", first)
		p.revert(p.gitAt)
		p.ExpectError([]string{"Drift: rendered folders changed outside Terraform"}, "plan", "-no-color")
		own := gitserver.Rev(t, p.controlPlaneAt, "prod")
		p.revert(p.controlPlaneAt)
		p.expectUnchanged()
		p.ownChange("huge")
		p.expect("up_to_date", first)
		if files := gitserver.Tree(t, p.gitAt, "prod"); files["huge/README.md"] == "" || files["small/README.md"] != "" {
			t.Error("the branch does not contain huge without small")
		}

		p.revert(p.gitAt)
		p.ExpectError([]string{"Drift: rendered folders changed outside Terraform"}, "plan", "-no-color")
		p.revert(p.controlPlaneAt)
		p.expectUnchanged()
		gitserver.Git(t, p.controlPlaneAt, "update-ref", "refs/heads/prod", own)
		p.ownChange("huge") // on top of the old head: this change restores the reverted files
		p.ExpectError([]string{"Drift: rendered folders changed outside Terraform"}, "plan", "-no-color")
	})
}

// After a revert on both branches, the environment's own next change may come before any apply. Then the plan can't
// distinguish it from a change that restores the reverted files, so it stops and says what to do. After an apply of the
// empty plan, the change is delivered.
func TestAccPromotionBreakGlassNextChange(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprintf("applied %t", applied), func(t *testing.T) {
			t.Parallel()
			byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
				target := func(name string) { // another deployment target in the folder large
					gitserver.Seed(t, p.controlPlaneAt, "prod", map[string]string{name + ".yaml": acc.KalypsoYAML("Workload", name,
						"{deploymentTargets: [{name: web, environment: prod, manifests: {repo: r, branch: b, path: p}}]}")})
				}
				first := p.commit()
				p.expect("promote", first)
				target("bad")
				p.expect("up_to_date", first)
				p.revert(p.gitAt)
				p.revert(p.controlPlaneAt)
				p.expectNoPlan()
				if applied {
					p.expectUnchanged()
				}
				target("next")
				if !applied {
					p.ExpectError([]string{"Drift: rendered folders changed outside Terraform", "this is a revert",
						"Apply that plan before the next change", `accepted_changes = ["drift-`}, "plan", "-no-color")
					p.Set("on_drift", "overwrite")
				}
				p.expect("up_to_date", first)
				files := gitserver.Tree(t, p.gitAt, "prod")
				if files["large/next-web/reconciler.yaml"] == "" || files["large/bad-web/reconciler.yaml"] != "" {
					t.Errorf("the branch contains %v", slices.Sorted(maps.Keys(files)))
				}
			})
		})
	}
}

// With waves, a revert reverts one wave and its record. With the bad commit in rejected, the plan reverts the other
// waves too, also with on_drift = "fail".
func TestAccPromotionBreakGlassInWaves(t *testing.T) {
	t.Parallel()
	for _, waves := range []int{1, 2} {
		for _, reverts := range []int{1, 2} {
			if reverts > waves {
				continue
			}
			t.Run(fmt.Sprintf("%d of %d waves reverted", reverts, waves), func(t *testing.T) {
				t.Parallel()
				byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
					p.ownChange("small")
					first := p.commit()
					p.expect("promote", first)
					bad := p.commit()
					for range waves {
						p.inWaves()
						p.apply()
					}
					p.revertTo(p.gitAt, reverts)
					p.inWaves()
					p.ExpectError([]string{"Drift: rendered folders changed outside Terraform"}, "plan", "-no-color")
					p.rules("rejected", map[string]any{bad: nil})
					if reverts == waves { // the branch already contains the rendered files
						p.expectUnchanged()
					} else {
						p.run()
					}
					p.expectVersions("1 1")
					if r := p.record(); r.PromotedCommit != first {
						t.Errorf("the record says %+v", r)
					}
					fix := p.commit()
					p.rules("rejected", map[string]any{bad: fix})
					for range 2 {
						p.inWaves()
						p.apply()
					}
					p.expectVersions("3 3")
				})
			})
		}
	}
}

// revertTo commits, as a person would, the tree that the branch had n commits ago.
func (p *promotionRoot) revertTo(repo string, n int) string {
	p.T.Helper()
	tree := strings.TrimSpace(gitserver.Git(p.T, repo, "rev-parse", fmt.Sprintf("prod~%d^{tree}", n)))
	commit := strings.TrimSpace(gitserver.Git(p.T, repo, "commit-tree", tree, "-p", "prod", "-m", "Revert"))
	gitserver.Git(p.T, repo, "update-ref", "refs/heads/prod", commit)
	return commit
}

// A foreign change of the promoted commit in the record promotes nothing, even with on_drift = "overwrite".
func TestAccPromotionIgnoresForeignRecord(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.Set("on_drift", "overwrite")
	p.rules("after", after("stage"))
	first := p.commit()
	p.status(first, "success", "")
	p.expect("promote", first)
	ungated := p.commit()
	text := gitserver.Git(t, p.gitAt, "show", "prod:"+acc.RecordPath)
	forged := gitserver.SeedFiles(t, p.gitAt, "prod", "Mine", map[string]gitserver.File{
		acc.RecordPath: {Mode: "100644", Content: strings.ReplaceAll(text, first, ungated)},
	})
	says := []string{"Drift: the rendering's record changed outside Terraform", `it promotes commit "` + ungated + `"`,
		"Revert the change on the branch"}
	p.ExpectError(says, "plan", "-no-color")
	p.ExpectError(says, "apply", "-auto-approve", "-no-color")
	if head := gitserver.Rev(t, p.gitAt, "prod"); head != forged {
		t.Errorf("the branch is at %s", head)
	}
	gitserver.Git(t, p.gitAt, "update-ref", "refs/heads/prod", forged+"~1")
	p.expect("hold", first)
}

// A person with push rights writes a record that promotes a commit whose gates are closed, together with exactly the
// files that the fleet renders from it. The rendering delivered another commit, so it does not follow this record, with
// any on_drift. It follows a record that promotes a commit whose gates are open, as after an apply that was killed
// after its push, or a commit that people name.
func TestAccPromotionUnproven(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		gate := after("stage")
		p.rules("after", gate)
		first := p.commit()
		p.status(first, "success", "")
		p.expect("promote", first)
		before, state := gitserver.Rev(t, p.gitAt, "prod"), acc.ReadFile(t, filepath.Join(p.Folder, "terraform.tfstate"))
		second := p.commit()
		p.rules("after", gate, "approved", []string{second})
		p.expect("promote", second)
		// A person commits the same files, and copies our message.
		forged := strings.TrimSpace(gitserver.Git(t, p.gitAt, "commit-tree", "prod^{tree}", "-p", before,
			"-m", "Render environment prod\n\nKalypso-Proof: "+strings.Repeat("0", 40)))
		gitserver.Git(t, p.gitAt, "update-ref", "refs/heads/prod", forged)
		// Our branch would prove that people merged the pull request that an apply from the restored state opened.
		deleteOurs := func() {
			ours := gitserver.Git(t, p.gitAt, "for-each-ref", "--format=%(refname)", "refs/heads/deployment")
			for branch := range strings.FieldsSeq(ours) {
				gitserver.Git(t, p.gitAt, "update-ref", "-d", branch)
			}
		}
		deleteOurs()

		p.rules("after", gate)
		restoreState := func() { p.Write("terraform.tfstate", state) }
		restoreState()
		says := []string{"Drift: the rendering's record changed outside Terraform", `it promotes commit "` + second + `"`,
			`The gates of that commit are closed: stage: no status "stage environment"`, "add it to approved"}
		for _, drift := range []string{"fail", "overwrite"} {
			p.Set("on_drift", drift)
			p.ExpectError(says, "plan", "-no-color")
			p.ExpectError(says, "apply", "-auto-approve", "-no-color")
		}
		lost := regexp.MustCompile(`"private": "[^"]*"`).ReplaceAllString(state, `"private": ""`)
		p.Write("terraform.tfstate", lost) // the attributes still contain the commit
		p.ExpectError(says, "plan", "-no-color")
		p.ExpectError(says, "apply", "-auto-approve", "-no-color")
		restoreState()
		if head := gitserver.Rev(t, p.gitAt, "prod"); head != forged {
			t.Errorf("the branch is at %s", head)
		}

		p.rules("after", gate, "approved", []string{second})
		p.expect("up_to_date", second)
		restoreState()
		p.rules("after", gate, "pinned_commit", second)
		p.expect("pinned", second)
		p.rules("after", gate)
		p.expect("up_to_date", second) // the state contains this commit now

		p.Succeed("state", "rm", "-no-color", "kalypso_environment_rendering.this")
		p.Succeed("import", "-no-color", "kalypso_environment_rendering.this", "prod@"+p.gitops.URL+"?ref=prod")
		const unproven = "The promoted commit is unproven"
		acc.ExpectTexts(t, p.Succeed("plan", "-no-color").Text(), unproven, `no status "stage environment"`)
		p.expect("up_to_date", second)
		if plan := p.Succeed("plan", "-no-color").Text(); strings.Contains(plan, unproven) {
			t.Errorf("the plan warns again:\n%s", plan)
		}

		restoreState()
		p.status(second, "success", "") // as if an apply had been killed after its push
		p.expect("up_to_date", second)

		deleteOurs()
		restoreState()
		p.status(second, "failure", "")
		p.ExpectError([]string{"is failure by acme-ci[bot]"}, "plan", "-no-color")
		gitserver.Git(t, p.gitAt, "update-ref", "refs/heads/prod", before) // people reset the branch
		p.expect("hold", first)
	})
}
