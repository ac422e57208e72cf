package promotion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// brokenProd is a world in which environment prod is at commit 3 of 5, after commits 0, 1 and 2. Commit 3 changed the
// folder canary, which has failed for an hour. It did not change the folder large.
func brokenProd(change func(*promotion.World)) promotion.World {
	return prod(func(w *promotion.World) {
		w.Current = promotion.Current{Promotion: promoted(hash(3)), Head: "head", Delivered: delivered(hashes(3, 0)...)}
		for i := range w.Current.Delivered {
			w.Current.Delivered[i].Folders = map[string]string{"canary": w.Current.Delivered[i].Commit, "large": "same"}
		}
		w.Rollback = &promotion.AutomaticRollback{Observed: &deployment.Observation{
			Head: "head", At: at(600), Folders: map[string]deployment.FolderState{
				"canary": {Tree: hash(3), Verdict: deployment.Failure, Since: at(540)},
				"large":  {Tree: "same", Since: at(0)},
			},
			Problems: []deployment.Problem{
				{Cluster: "edge-1", Folder: "canary", State: deployment.StateFailed, Message: "`close #1` @team"},
			},
		}}
		if change != nil {
			change(w)
		}
	}, status{commit: 4, context: stage, state: githost.Pending, at: 1, by: "ci[bot]"})
}

// observed changes the observation of a folder.
func observed(folder, tree string, verdict deployment.Verdict) func(*promotion.World) {
	return func(w *promotion.World) {
		w.Rollback.Observed.Folders[folder] = deployment.FolderState{Tree: tree, Verdict: verdict, Since: at(540)}
	}
}

// rolledBackTo1 changes [brokenProd]: commit 3 was rolled back automatically to commit 1, and canary fails with commit
// 1 too.
func rolledBackTo1(w *promotion.World) {
	w.Current.Commit, w.Current.Decision, w.Current.By = hash(1), promotion.Rollback, promotion.ByRollback
	w.Current.RolledBack, w.Current.Unsettled = hash(3), true
	w.Current.Delivered[0].Folders["canary"] = hash(3)
	w.Current.Delivered = append([]promotion.Delivery{{Commit: hash(1), RolledBack: hash(3),
		Folders: map[string]string{"canary": hash(1), "large": "same"}}}, w.Current.Delivered...)
	observed("canary", hash(1), deployment.Failure)(w)
}

// TestAutomaticRollback has rows for each rule in the guide. The reason must not contain texts of clusters, since it
// gets into commit messages; the summary may.
func TestAutomaticRollback(t *testing.T) {
	const back = `automatic rollback: 000000000000 is rolled back, and this is the newest earlier delivery
folder "canary" has been failing since 2026-03-01T21:00:00Z`
	both := func(changes ...func(*promotion.World)) func(*promotion.World) {
		return func(w *promotion.World) {
			for _, change := range changes {
				change(w)
			}
		}
	}
	for name, tc := range map[string]struct {
		change  func(*promotion.World)
		kind    promotion.Kind
		commit  int
		summary string
		warning string
	}{
		"the commit broke a folder": {nil, "rollback", 2, `folder "canary", cluster "edge-1": ` + "`close #1` @team", ""},
		"no argument rollback":      {func(w *promotion.World) { w.Rollback = nil }, "hold", 3, "", ""},
		"no observation":            {func(w *promotion.World) { w.Rollback.Observed = nil }, "hold", 3, "", ""},
		"an older head was observed": {func(w *promotion.World) { w.Rollback.Observed.Head = "older" }, "hold", 3,
			"Note: rollback.observed describes commit older, but the branch is at head, so it is ignored.", ""},
		"the branch does not exist": {func(w *promotion.World) {
			w.Current.Head, w.Rollback.Observed.Head = "", ""
		}, "hold", 3, "", ""},
		"a source did not answer": {observed("canary", hash(3), deployment.Pending), "hold", 3, "", ""},
		"a failure that is long enough": {func(w *promotion.World) { w.Rollback.FailureDuration = time.Hour },
			"rollback", 2, "", ""},
		"a failure that is too short": {func(w *promotion.World) {
			w.Rollback.FailureDuration = time.Hour + time.Second
		}, "hold", 3, "", ""},
		"a failure whose beginning is unknown": {both(func(w *promotion.World) {
			w.Rollback.FailureDuration = time.Second
			w.Rollback.Observed.Folders["canary"] = deployment.FolderState{Tree: hash(3), Verdict: deployment.Failure}
		}), "hold", 3, "", ""},
		"a folder fails that the commit did not change": {both(
			observed("canary", hash(3), deployment.Success), observed("large", "same", deployment.Failure),
		), "hold", 3, "", ""},
		"a folder fails that the earlier delivery did not have": {func(w *promotion.World) {
			delete(w.Current.Delivered[1].Folders, "canary")
		}, "rollback", 2, "", ""},
		"the trees of the earlier delivery are unknown": {func(w *promotion.World) {
			w.Current.Delivered[1].Folders = nil
		}, "hold", 3, "", ""},
		"the earlier delivery is rejected": {func(w *promotion.World) {
			w.Rejected = map[string]string{hash(2): hash(3)}
		}, "rollback", 1, "", ""},
		"the earlier delivery is of a newer commit": {func(w *promotion.World) {
			w.Current.Delivered[1].Commit = hash(5)
		}, "rollback", 1, "", ""},
		"the earlier delivery was rolled back": {func(w *promotion.World) {
			w.Current.Delivered = delivered(hash(3), hash(1), hash(2), hash(0))
			w.Current.Delivered[1].RolledBack, w.Rejected = hash(2), map[string]string{hash(1): hash(2)}
			w.Current.Delivered[3].Folders = map[string]string{"canary": "x"}
		}, "rollback", 0, "", ""},
		"the earlier delivery was rolled back, and approved later": {func(w *promotion.World) {
			w.Current.Delivered = delivered(hash(3), hash(2), hash(1), hash(2), hash(0))
			w.Current.Delivered[2].RolledBack = hash(2)
			w.Current.Delivered[1].Folders = map[string]string{"canary": "x"}
		}, "rollback", 2, "", ""},
		"a rollout is under way": {func(w *promotion.World) {
			w.Current.Rollout, w.Current.OtherCommits = true, []string{hash(2)}
			w.Current.Delivered = w.Current.Delivered[1:]
		}, "rollback", 2, "", ""},
		"a hold":                       {func(w *promotion.World) { w.Hold = "x" }, "frozen", 3, "Hold: x", ""},
		"a pin":                        {func(w *promotion.World) { w.Pinned = hash(3) }, "pinned", 3, "", ""},
		"the commit is approved":       {func(w *promotion.World) { w.Approved = []string{hash(3)} }, "hold", 3, "", ""},
		"a newer commit is approved":   {func(w *promotion.World) { w.Approved = []string{hash(4)} }, "promote", 4, "", ""},
		"an older commit was approved": {func(w *promotion.World) { w.Approved = []string{hash(1)} }, "rollback", 2, "", ""},
		"the commit is rejected": {func(w *promotion.World) {
			w.Rejected = map[string]string{hash(3): ""}
		}, "rollback", 2, "", ""},
		"the branch lost the commit": {func(w *promotion.World) {
			w.Current.Commit, w.Current.Delivered[0].Commit = "f00", "f00"
		}, "rollback", 2, "", ""},
		"the target of a rollback fails": {rolledBackTo1, "hold", 1, "", "has not succeeded since"},
		"the target of a rollback fails after a success": {both(rolledBackTo1, func(w *promotion.World) {
			w.Current.Unsettled = false
		}), "rollback", 0, "", ""},
		"a newer commit fails, without a success after the rollback": {func(w *promotion.World) {
			w.Current.Unsettled = true
		}, "hold", 3, "", "has not succeeded since"},
		"no earlier delivery": {func(w *promotion.World) { w.Current.Delivered = delivered(hash(3)) }, "frozen", 3,
			`folder "canary" has been failing since 2026-03-01T21:00:00Z, and no earlier delivery on branch "main" is good`, ""},
		"no earlier delivery, during a rollout": {func(w *promotion.World) {
			w.Current.Delivered, w.Current.Rollout = nil, true
		}, "frozen", 3, "no earlier delivery", ""},
		"no earlier delivery, and the gates of a newer commit are open": {func(w *promotion.World) {
			w.Current.Delivered, w.Current.Rollout, w.Gates, w.Dwell = nil, true, nil, time.Hour
		}, "promote", 5, "", ""},
		"no earlier delivery, and a newer commit is approved": {func(w *promotion.World) {
			w.Current.Delivered, w.Current.Rollout, w.Approved = nil, true, []string{hash(4)}
		}, "promote", 4, "", ""},
		"an open pull request of the rollback, no observation": {func(w *promotion.World) {
			w.Current.Proposal = &promotion.PendingPromotion{Number: 7, Promotion: promotion.Promotion{Commit: hash(2),
				Reason: promotion.Reason{By: promotion.ByRollback, RolledBack: hash(3), Explanation: back}}}
			w.Rollback = nil
		}, "rollback", 2, "Pull request 7", ""},
		"an open pull request of the rollback, a success was observed": {func(w *promotion.World) {
			w.Current.Proposal = &promotion.PendingPromotion{Number: 7, Promotion: promotion.Promotion{Commit: hash(2),
				Reason: promotion.Reason{By: promotion.ByRollback, RolledBack: hash(3), Explanation: back}}}
			observed("canary", hash(3), deployment.Success)(w)
			w.Rollback.Observed.Verdict = deployment.Success
		}, "hold", 3, "", ""},
		"an open pull request that claims a rollback to a commit that was never delivered": {func(w *promotion.World) {
			w.Current.Proposal = &promotion.PendingPromotion{Number: 7, Promotion: promotion.Promotion{Commit: hash(4),
				Reason: promotion.Reason{By: promotion.ByRollback, RolledBack: hash(3)}}}
			w.Rollback = nil
		}, "hold", 3, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := brokenProd(tc.change)
			d, err := promotion.Decide(w)
			if err != nil || len(d.Unread) > 0 {
				t.Fatal(err, d.Unread)
			}
			if d.Decision != tc.kind || d.Commit != hash(tc.commit) {
				t.Errorf("%s %s, want %s %s\n%s", d.Decision, d.Commit, tc.kind, hash(tc.commit), d.Summary)
			}
			if !strings.Contains(d.Summary, tc.summary) {
				t.Errorf("the summary lacks %q:\n%s", tc.summary, d.Summary)
			}
			warnings := ""
			for _, w := range d.Warnings {
				warnings += w.Summary + ": " + w.Detail
			}
			if !strings.Contains(warnings, tc.warning) || tc.warning == "" && warnings != "" {
				t.Errorf("the warnings are %q, want %q", warnings, tc.warning)
			}
			if strings.Contains(d.Explanation, "edge-1") {
				t.Errorf("the reason contains a text of a cluster: %s", d.Explanation)
			}
			byItself := d.Decision == promotion.Rollback && !strings.Contains(d.Explanation, "is rejected")
			if got := d.Decision == promotion.Rollback && d.By == promotion.ByRollback; got != byItself ||
				byItself && !d.Unsettled {
				t.Errorf("automatic rollback: %t, unsettled %t", got, d.Unsettled)
			}
			if back := w.Current.RolledBack; back == "" && byItself && w.History.Has(w.Current.Commit) &&
				d.RolledBack != w.Current.Commit || byItself && d.RolledBack < back {
				t.Errorf("the rolled-back commit is %q", d.RolledBack)
			}
			if byItself && !w.NeedsDeliveries() {
				t.Error("NeedsDeliveries is false, but the decision is a rollback")
			}
		})
	}
	if d, _ := promotion.Decide(brokenProd(nil)); d.Explanation != back {
		t.Errorf("the reason is %q, want %q", d.Explanation, back)
	}
}

// TestAfterAutomaticRollback: the record has the rolled-back commit, and that the rollback was automatic. It is
// unsettled until a run observes a success.
func TestAfterAutomaticRollback(t *testing.T) {
	w := brokenProd(nil)
	d, err := promotion.Decide(w)
	if err != nil {
		t.Fatal(err)
	}
	w.Current.Promotion, w.Current.Proposal = d.Promotion, nil
	w.Current.Delivered = append([]promotion.Delivery{{Commit: hash(2), RolledBack: hash(3)}}, w.Current.Delivered...)
	seen := w.Rollback.Observed
	for name, tc := range map[string]struct {
		observe            func()
		unsettled, settled bool
	}{
		"no observation":         {func() { w.Rollback.Observed = nil }, true, false},
		"a failure was observed": {func() { w.Rollback.Observed = seen; seen.Verdict = deployment.Failure }, true, false},
		"a success was observed": {func() { w.Rollback.Observed = seen; seen.Verdict = deployment.Success }, false, true},
		"a success of an older head": {func() {
			w.Rollback.Observed = seen
			seen.Verdict, seen.Head = deployment.Success, ""
		}, true, false},
	} {
		seen.Folders, seen.Head = nil, "head"
		tc.observe()
		again, err := promotion.Decide(w)
		if err != nil || again.Commit != hash(2) || again.Decision == promotion.Promote || again.By != promotion.ByRollback ||
			again.RolledBack != hash(3) || again.Unsettled != tc.unsettled || again.Settled != tc.settled {
			t.Errorf("%s: %+v, %v", name, again.Promotion, err)
		}
		if again.Unproven != "" {
			t.Errorf("%s: the target is unproven: %s", name, again.Unproven)
		}
	}
	w.Current.Delivered = w.Current.Delivered[:2] // only the record claims that commit 2 was delivered before
	if d, err := promotion.Decide(w); err != nil || d.Unproven == "" {
		t.Errorf("a target that was never delivered is proven (%v)", err)
	}
}
