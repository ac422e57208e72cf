package promotion_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// expectUnchanged expects that an apply changes no resource and writes nothing to the GitOps branch, and that its plan
// prints all of the texts.
func (p *promotionRoot) expectUnchanged(texts ...string) {
	p.T.Helper()
	head := gitserver.Rev(p.T, p.gitAt, "prod")
	plan := p.Succeed("plan", "-no-color").Text()
	if strings.Contains(plan, "kalypso_environment_rendering.this ") {
		p.T.Errorf("the plan changes the rendering:\n%s", plan)
	}
	flat := strings.Join(strings.Fields(plan), " ")
	for _, text := range texts {
		if !strings.Contains(flat, text) {
			p.T.Errorf("the plan does not say %q:\n%s", text, plan)
		}
	}
	p.apply()
	if now := gitserver.Rev(p.T, p.gitAt, "prod"); now != head {
		p.T.Errorf("the apply wrote a commit: %s", gitserver.Git(p.T, p.gitAt, "log", "--format=%B", "-1", "prod"))
	}
}

// versions returns the versions of the promoted template that the folders large and small on the branch contain.
func (p *promotionRoot) versions() string {
	p.T.Helper()
	var all []string
	files := gitserver.Tree(p.T, p.gitAt, "prod")
	for _, name := range []string{"large", "small"} {
		file := strings.TrimSpace(files[name+"/shop-web/namespace.yaml"])
		file = strings.TrimPrefix(file, "{apiVersion: v1, kind: N, metadata: {name: n")
		all = append(all, strings.TrimSuffix(file, "}}"))
	}
	return strings.Join(all, " ")
}

func (p *promotionRoot) expectVersions(want string) {
	p.T.Helper()
	if got := p.versions(); got != want {
		p.T.Fatalf("large and small contain %s, want %s", got, want)
	}
}

// People stop changes in progress: hold freezes the environment, rejected reverts a delivery or a rollout, and pause
// stops the waves. A rejected commit does not return by itself.
func TestAccPromotionStops(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		p.ownChange("small")
		gate := after("stage")
		p.rules("after", gate)
		first := p.commit()
		p.expect("hold", "") // a create that delivers nothing
		p.expectUnchanged("Nothing is promoted yet", "no status")
		p.status(first, "success", "")
		p.expect("promote", first)
		p.expectVersions("1 1")

		// A frozen environment gets neither a promotion nor a change of its own.
		second := p.commit()
		p.status(second, "success", "")
		p.ownChange("huge")
		p.rules("after", gate, "hold", "an incident")
		p.expectUnchanged("The environment is frozen", "Hold: an incident. This rendering writes nothing",
			"1 cluster type waits to change", "huge: +1 -0 ~0")
		if seen := p.decision(); seen.Decision != "frozen" || seen.Commit != first || len(seen.Waiting) != 1 {
			t.Errorf("the promotion is %+v", seen)
		}
		p.rules("after", gate)
		p.wave("promote", second, first)
		p.expectVersions("1 1") // huge is the first wave, by its name

		// A pause: no further wave.
		p.pause("an incident")
		p.expectUnchanged("The rollout is paused", "rollout.pause says: an incident")
		p.wave("hold", second, first)
		p.expectVersions("2 1")

		// A hold during a rollout, and the rejection of the commit that is rolled out.
		p.inWaves()
		p.rules("after", gate, "hold", "an incident")
		p.expectUnchanged("The environment is frozen", "1 cluster type waits to change", "small: +0 -0 ~1")
		p.rules("after", gate, "rejected", map[string]any{second: nil})
		seen := p.wave("rollback", first, first)
		acc.ExpectTexts(t, seen.Reason, second[:12]+" is rejected, and this is the newest earlier delivery")
		p.expectVersions("1 1")
		p.inWaves()
		if seen := p.run(); seen.Decision != "up_to_date" || seen.Commit != first || seen.RolledBack != second {
			t.Errorf("the promotion is %+v", seen)
		}
		p.rules("after", gate)
		p.expectUnchanged()
		p.expectVersions("1 1")

		// The rejection of a delivered commit.
		third := p.commit()
		p.status(third, "success", "")
		for range 3 {
			p.inWaves()
			p.apply()
		}
		p.expectVersions("3 3")
		p.rules("after", gate, "rejected", map[string]any{second: nil})
		p.wave("rollback", first, first)
		p.expectVersions("1 1")
		p.rules("after", gate, "rejected", map[string]any{first: nil})
		p.expectUnchanged("no earlier delivery on branch \"main\" is good", "The environment is frozen")
	})
}

// pause pauses the rollout. The next call of inWaves continues it.
func (p *promotionRoot) pause(why string) {
	p.T.Helper()
	p.inWaves()
	rollout, _ := p.Vars["rollout"].(map[string]any)
	rollout["pause"] = why
	p.Set("rollout", rollout)
}

// If its gate closes again, the first pull request stays open, and nothing is destroyed, even without protection. While
// hold is set, the pull request is a draft.
func TestAccPromotionWaitsForReview(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.reviews()
	p.Set("deletion_protection", false)
	gate := after("stage")
	p.rules("after", gate)
	first := p.commit()
	p.run()
	p.status(first, "success", "")
	p.run()
	p.expectPullRequest(1, "open", false)
	p.status(first, "failure", "Failed")
	p.expectUnchanged("Nothing is promoted yet")
	seen := p.decision()
	if seen.Commit != "" || seen.Current != "" || seen.ProposedCommit != first {
		t.Errorf("the promotion is %+v", seen)
	}
	acc.ExpectTexts(t, seen.Summary, "Pull request 1, which is open, would promote "+first[:12])
	p.status(first, "success", "renewed")
	p.expectUnchanged()
	reason := p.decision().Reason
	p.now = p.now.Add(time.Hour)
	p.status(first, "success", "renewed")
	p.expectUnchanged()
	if now := p.decision().Reason; now != reason || reason == "" {
		t.Errorf("the reason was %q, and is %q", reason, now)
	}
	p.gitops.Merge(t, 1, "merge")
	p.expectUnchanged()

	second := p.commit()
	p.status(second, "success", "")
	p.run()
	p.expectPullRequest(2, "open", false)
	p.rules("after", gate, "hold", "an incident")
	if plan := p.Succeed("plan", "-no-color").Text(); !strings.Contains(plan, "Pull request 2 is a draft") {
		t.Errorf("the plan:\n%s", plan)
	}
	p.apply()
	p.expectPullRequest(2, "open", true)
	acc.ExpectTexts(t, p.gitops.PullRequests()[1].Body, "**Do not merge this pull request now.**", "Hold: an incident")
	p.expectUnchanged("The environment is frozen")
	p.rules("after", gate)
	p.run()
	p.expectPullRequest(2, "open", false)
	if body := p.gitops.PullRequests()[1].Body; strings.Contains(body, "Do not merge") {
		t.Errorf("the text is still %s", body)
	}
	p.gitops.Merge(t, 2, "squash")
	p.expectUnchanged()

	// The merged commit is rejected: the rollback is a pull request, too.
	p.rules("after", gate, "rejected", map[string]any{second: nil})
	p.run()
	p.expectPullRequest(3, "open", false)
	p.gitops.Merge(t, 3, "squash")
	p.expectUnchanged()
	if file := gitserver.Tree(t, p.gitAt, "prod")["large/shop-web/namespace.yaml"]; !strings.Contains(file, "name: n1}") {
		t.Errorf("the branch contains %s", file)
	}
}

// A proposed wave stops, too: a pause and a hold mark its pull request until they are removed, and a rejection turns it
// into the rollback. A rejected commit does not return by itself.
func TestAccPromotionStopsWavesInReview(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.reviews()
	p.ownChange("small")
	first := p.commit()
	p.run()
	p.gitops.Merge(t, 1, "merge")
	p.expectUnchanged()
	second := p.commit()
	p.inWaves()
	p.apply()
	p.expectPullRequest(2, "open", false)
	marked := func(reason string) {
		t.Helper()
		p.apply()
		p.expectPullRequest(2, "open", true)
		body := p.gitops.PullRequests()[1].Body
		acc.ExpectTexts(t, body, reason)
		if !strings.HasPrefix(body, "**Do not merge this pull request now.**") {
			t.Errorf("the text begins with %s", body)
		}
		p.expectUnchanged("Pull request 2 is a draft")
	}
	back := func() {
		t.Helper()
		p.inWaves()
		p.rules()
		p.run()
		p.expectPullRequest(2, "open", false)
		if body := p.gitops.PullRequests()[1].Body; strings.Contains(body, "Do not merge") {
			t.Errorf("the text is still %s", body)
		}
	}
	p.pause("an incident")
	marked("The rollout is paused: an incident.")
	back()
	p.rules("hold", "the holidays")
	marked("the holidays")
	back()

	p.gitops.Merge(t, 2, "merge")
	p.expectVersions("2 1")
	p.inWaves()
	p.apply()
	p.expectPullRequest(3, "open", false)
	p.rules("rejected", map[string]any{second: nil})
	p.apply()
	if seen := p.decision(); seen.Decision != "rollback" || seen.Commit != first {
		t.Errorf("the decision is %s %s\n%s", seen.Decision, seen.Commit, seen.Summary)
	}
	p.expectPullRequest(3, "open", false)
	p.gitops.Merge(t, 3, "merge")
	p.expectVersions("1 1")
	p.expectUnchanged()
	p.rules()
	p.inWaves()
	p.expectUnchanged()
	if n := len(p.gitops.PullRequests()); n != 3 {
		t.Errorf("%d pull requests", n)
	}
	p.expectVersions("1 1")

	// Without the argument rollout, its attributes are null, in a frozen environment too.
	p.rules("hold", "an incident")
	p.Set("rollout", nil)
	p.apply()
	if now := p.Rendered(); now["rollout_status"] != nil || now["target_tree_hash"] != nil {
		t.Errorf("without a rollout: %v, %v", now["rollout_status"], now["target_tree_hash"])
	}
	p.expectUnchanged("The environment is frozen")
}

// If an environment is frozen from the start, and its rollout is paused when hold is removed, nothing is written until
// the pause ends, too.
func TestAccPromotionStopsFirstWave(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.reviews()
	p.commit()
	p.inWaves()
	p.rules("hold", "an incident")
	p.apply()
	p.rules()
	p.pause("the holidays")
	p.apply()
	if rollout, _ := p.Rendered()["rollout"].(map[string]any); rollout["pause"] != "the holidays" {
		t.Errorf("the state lacks the pause, which the decision of an apply needs: %v", rollout["pause"])
	}
	p.ownChange("small")
	p.expectUnchanged("The rollout is paused", "rollout.pause says: the holidays", "Nothing was delivered yet")
	if n := len(p.gitops.PullRequests()); n != 0 {
		t.Errorf("%d pull requests", n)
	}
	p.inWaves()
	p.run()
	p.expectPullRequest(1, "open", false)
}

// An environment is frozen while its first pull request is open: nothing is promoted yet, and the pull request
// becomes a draft until the hold ends.
func TestAccPromotionStopsFirstPullRequest(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.reviews()
	p.commit()
	p.run()
	p.expectPullRequest(1, "open", false)
	p.rules("hold", "an incident")
	p.run()
	p.expectPullRequest(1, "open", true)
	p.expectUnchanged("Nothing is promoted yet", "Pull request 1 is a draft", "Hold: an incident")
	p.rules()
	p.run()
	p.expectPullRequest(1, "open", false)
	p.ExpectEmptyPlan()
}

// People merge the pull request after the plan that makes it a draft. The apply shows that it is merged, and the
// environment is frozen with what was merged.
func TestAccPromotionStopsAfterMerge(t *testing.T) {
	t.Parallel()
	p := newPromotionRoot(t)
	p.reviews()
	p.commit()
	p.run()
	p.gitops.Merge(t, 1, "merge")
	p.expectUnchanged()
	p.commit()
	p.run()
	p.rules("hold", "an incident")
	p.Succeed("plan", "-out=hold.tfplan")
	p.gitops.Merge(t, 2, "merge")
	p.Succeed("apply", "hold.tfplan")
	shown, _ := p.Rendered()["pull_request"].(map[string]any)
	if shown["state"] != "merged" || shown["merge_commit"] != gitserver.Rev(t, p.gitAt, "prod") {
		t.Errorf("the apply shows the pull request %v", shown)
	}
	p.expectUnchanged("The environment is frozen")
}

func (p *promotionRoot) expectPullRequest(number int, state string, draft bool) {
	p.T.Helper()
	all := p.gitops.PullRequests()
	if len(all) != number || all[number-1].State != state || all[number-1].Draft != draft {
		p.T.Fatalf("the pull requests are %+v, want %d, %s, draft %t", all, number, state, draft)
	}
}

// The plan after a promotion is empty, also with outputs that show commit and reason, as in the examples, and after a
// renewed status.
func TestAccPromotionOutputsAreStable(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		p.Write("outputs.tf", "output \"commit\" {\n  value = data.kalypso_promotion.this.commit\n}\n\n"+
			"output \"reason\" {\n  value = data.kalypso_promotion.this.reason\n}\n")
		p.ownChange("small")
		gate := after("stage", "soak", "1h")
		p.rules("after", gate)
		first := p.commit()
		p.apply()
		p.ExpectEmptyPlan()
		gitserver.Seed(t, p.gitAt, "prod", map[string]string{"README.md": "GitOps\n"})
		renew := func(commit string) {
			for range 2 {
				p.status(commit, "success", "renewed")
				p.now = p.now.Add(time.Hour)
			}
			p.status(commit, "success", "renewed")
		}
		var reason string
		promote := func(commit string) {
			renew(commit)
			p.inWaves()
			p.apply()
			p.ExpectEmptyPlan()
			p.Output("reason", &reason)
			acc.ExpectTexts(t, reason, `status "stage environment" is success by acme-ci[bot]`, "soaked for 1h since")
			renew(commit)
			p.ExpectEmptyPlan()
		}
		for range 2 {
			promote(p.commit())
			was := reason
			p.inWaves() // the last wave
			p.apply()
			p.ExpectEmptyPlan()
			p.Output("reason", &reason)
			if reason != was {
				t.Errorf("the reason was %q before the last wave, and is %q", was, reason)
			}
		}
		p.commit() // this commit waits
		p.ExpectEmptyPlan()
		p.rules("after", gate, "hold", "an incident")
		p.ExpectEmptyPlan()
		p.rules("after", gate, "pinned_commit", first)
		p.apply()
		p.Output("reason", &reason)
		acc.ExpectTexts(t, reason, "pinned by pinned_commit")
	})
}

// Other errors do not hide the decision of the promotion and the state of the waves.
func TestAccPromotionErrorsExplain(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		p.ownChange("small")
		first := p.commit()
		p.expect("promote", first)
		second := p.commit()
		p.inWaves()
		p.apply()
		p.inWaves()
		gitserver.Seed(t, p.controlPlaneAt, "prod", map[string]string{"broken.yaml": acc.KalypsoYAML("ClusterType", "broken",
			"{reconciler: nope, namespaceService: namespace}")})
		says := []string{"The promotion would stay at commit " + second, "while its rollout is under way",
			"The waves: the last commit wrote stage all, wave 1, and the rollout is under way."}
		p.ExpectError(says, "plan", "-no-color")
		// With an error of the branch, the plan still knows the decision of the waves.
		gitserver.Git(t, p.controlPlaneAt, "update-ref", "refs/heads/prod", "refs/heads/prod~1")
		gitserver.Seed(t, p.gitAt, "prod", map[string]string{"large/x.yaml": "theirs"})
		p.ExpectError(append(says, "Drift: rendered folders changed outside Terraform"), "plan", "-no-color")
		// An observation without the number of clusters proves nothing.
		p.inWaves()
		rollout, _ := p.Vars["rollout"].(map[string]any)
		observed, _ := rollout["observed"].(map[string]any)
		folders, _ := observed["folders"].(map[string]any)
		delete(folders["large"].(map[string]any), "total") //nolint:forcetypeassert // inWaves sets this type
		p.Set("rollout", rollout)
		p.ExpectError([]string{"Missing total", "lacks total"}, "plan", "-no-color")
	})
}

// A refresh and a destroy do not know the promotion of this run. Their errors end with the promotion from the state.
func TestAccPromotionStateErrorsExplain(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		p.ownChange("small")
		first := p.commit()
		p.expect("promote", first)
		second := p.commit()
		p.inWaves()
		p.apply()
		says := []string{"When the last change was planned, the promotion took commit " + second, "Promote " + second[:12],
			"The waves: the last commit wrote stage all, wave 1, and the rollout is under way."}
		p.ExpectError(append(says, "The rendering is protected"), "destroy", "-no-color", "-auto-approve")
		p.inWaves()
		p.apply()
		says = []string{"When the last change was planned, the promotion stayed at commit " + second,
			"while its rollout is under way.", "The waves: the last commit wrote stage all, wave 2, and completed the rollout."}
		p.ExpectError(append(says, "The rendering is protected"), "destroy", "-no-color", "-auto-approve")
		p.Set("deletion_protection", false)
		p.Apply()
		if p.merges { // the host refuses the pull request that removes the rendering
			p.fake.Fail("POST", "/pulls", -1, githubfake.Forbidden("Not today"))
			p.ExpectError(append(says, "Not today"), "destroy", "-no-color", "-auto-approve")
			p.fake.ClearFailures()
		} else { // the branch refuses the push
			p.gitops.Protect(t, "prod")
			p.ExpectError(append(says, "The server refused the push"), "destroy", "-no-color", "-auto-approve")
		}
		// Remove the data sources, since they need the repo too.
		p.Write("override.tf", "resource \"kalypso_environment_rendering\" \"this\" {\n  manifests = {}\n"+
			"  sources = null\n  promotion = { commit = \"\", decision = \"hold\", summary = \"Other\" }\n}\n")
		if err := os.Rename(p.gitAt, p.gitAt+".moved"); err != nil {
			t.Fatal(err)
		}
		p.ExpectError(append(says, "with kalypso_environment_rendering.this"), "plan", "-no-color")
	})
}

// After a force-push of main, an environment without gates continues with a commit of the same tree, or with a commit
// that people approve.
func TestAccPromotionForcePush(t *testing.T) {
	t.Parallel()
	byPushAndByPullRequest(t, func(t *testing.T, p *promotionRoot) {
		p.commit()
		p.run()
		second := p.commit()
		p.expect("promote", second)
		rewrite := func(tree string) string {
			commit := strings.TrimSpace(
				gitserver.Git(t, p.controlPlaneAt, "commit-tree", tree, "-p", "main~1", "-m", "Amended"),
			)
			gitserver.Git(t, p.controlPlaneAt, "update-ref", "refs/heads/main", commit)
			return commit
		}
		amended := rewrite("main^{tree}")
		acc.ExpectTexts(t, p.expect("promote", amended).Reason, "rewritten: it has the tree of "+second[:12])
		p.expect("up_to_date", amended)
		other := rewrite("main~1^{tree}")
		acc.ExpectTexts(t, p.expect("hold", amended).Summary, `not on branch "main" any more`,
			"once approved or pinned_commit names a commit")
		p.rules("approved", []string{other})
		p.expect("promote", other)
	})
}
