package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
)

// TestReturn specifies when a rollout restores its folders to their trees from before it. In the usual case, the canary
// a fails with tree 2, and b has tree 2 already. Each row changes one part of this case.
func TestReturn(t *testing.T) {
	t.Parallel()
	const stopped = "writes []; stage canary, wave 1; from map[a:1 b:1]; a: 1 of 2 clusters current"
	const returns = `restores [a b] because folder "a" has been failing since 2026-01-31T10:00:00Z; ` +
		`stage canary, rolled back`
	complete := func(s *rollout.Situation) {
		for name := range s.Target {
			s.Delivered[name], s.OnBranch[name], s.Progress.EarlierHashes[name], s.Replaced[name] = "2", "2", "1", "1"
		}
		s.Progress.Complete = true
	}
	for name, test := range map[string]struct {
		edit func(*rollout.Rollout, *rollout.Situation)
		want string
	}{
		"failed folder of the rollout": {nil, returns},
		"on_failure is stop": {func(r *rollout.Rollout, _ *rollout.Situation) {
			r.ReturnOnFailure = false
		}, stopped},
		"on_failure was stop when the rollout began": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Progress.RestoresOnFailure = false
		}, stopped},
		"observation from before the last commit": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Progress.At = noon.Add(time.Minute)
		}, stopped},
		"folder that failed with another tree": {func(r *rollout.Rollout, _ *rollout.Situation) {
			r.Observed.Folders["a"] = state("1", deployment.Failure)
		}, "writes []; stage canary, wave 1; from map[a:1 b:1]; a: it was observed while the branch contained another tree"},
		"failed folder that the rollout did not change": {func(r *rollout.Rollout, s *rollout.Situation) {
			s.Target["d"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			s.Delivered["d"], s.OnBranch["d"] = "1", "1"
			r.Observed.Folders["a"], r.Observed.Folders["d"] = state("2", deployment.Success), state("1", deployment.Failure)
		}, "writes []; stage canary, wave 1; from map[a:1 b:1]; d: 1 of 2 clusters current"},
		"earlier tree that can't be read": {func(_ *rollout.Rollout, s *rollout.Situation) {
			delete(s.Replaced, "b")
		}, stopped},
		"folder that did not exist before the rollout": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Progress.EarlierHashes["b"] = ""
			delete(s.Replaced, "b")
		}, returns},
		"folder that the fleet reverts": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Target["b"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "1"}}
		}, "writes [b]; " + strings.Replace(returns, "[a b]", "[a]", 1)},
		"failed folder that the fleet changes": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Target["a"] = rollout.RenderedFolder{Hash: "3", Assignments: 1, Labels: map[string]string{"ring": "0"}}
		}, "writes [a]; stage canary, wave 2; from map[a:1 b:1]"},
		"skip names the target": {func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "target" },
			"writes [c]; all at once; from map[a:1 b:1 c:1]; complete"},
		"pause": {func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause = "an incident" }, returns},
		"rollback of the promotion": {func(_ *rollout.Rollout, s *rollout.Situation) { s.Rollback = true },
			"writes [c]; all at once; from map[a:1 b:1 c:1]; complete"},
		"complete rollout": {func(_ *rollout.Rollout, s *rollout.Situation) { complete(s) },
			strings.Replace(returns, "[a b]", "[a b c]", 1)},
		"complete rollout of a promoted commit": {func(_ *rollout.Rollout, s *rollout.Situation) {
			complete(s)
			s.PromotedCommit = "c"
		}, "writes []; stage canary, wave 1; from map[a:1 b:1 c:1]; complete"},
		"rollout of a promoted commit": {func(_ *rollout.Rollout, s *rollout.Situation) { s.PromotedCommit = "c" }, returns},
		"unknown skip": {func(r *rollout.Rollout, _ *rollout.Situation) { r.SkipUnknown = true },
			"uncertain"},
		"unknown on_failure": {func(r *rollout.Rollout, _ *rollout.Situation) {
			r.ReturnOnFailure, r.OnFailureUnknown = false, true
		}, "uncertain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := world()
			canaryRuns(r, s)
			r.ReturnOnFailure, s.Progress.RestoresOnFailure = true, true
			s.Delivered["b"], s.OnBranch["b"], s.Progress.EarlierHashes["b"] = "2", "2", "1"
			s.Replaced = map[string]string{"a": "1", "b": "1"}
			r.Observed.Folders["a"] = state("2", deployment.Failure)
			if test.edit != nil {
				test.edit(r, s)
			}
			step := r.Next(*s)
			got := text(step)
			if len(step.Restored) > 0 {
				got = fmt.Sprintf("restores %v because %s; %s", step.Restored, step.RolledBack, step.Progress.Status())
				if len(step.Written) > 0 {
					got = fmt.Sprintf("writes %v; %s", step.Written, got)
				}
				if step.Complete() || step.Progress.UnderWay() || len(step.Stopped) == 0 {
					t.Errorf("after the trees were restored: %+v, progress %+v", step, step.Progress)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAfterReturn: after a rollout restored its folders, it does not try the failed tree again, until the fleet changes
// or skip names the tree.
func TestAfterReturn(t *testing.T) {
	t.Parallel()
	r, s := world()
	s.Progress = &rollout.StoredProgress{Progress: rollout.Progress{
		TargetTreeHash: "target", Stage: "canary", RestoresOnFailure: true, RolledBack: "it failed",
	}}
	for name, test := range map[string]struct {
		edit             func(*rollout.Rollout, *rollout.Situation)
		want, rolledBack string
	}{
		"same target": {func(*rollout.Rollout, *rollout.Situation) {}, "writes []; stage canary, rolled back; from map[]",
			"it failed"},
		"on_failure is stop": {func(r *rollout.Rollout, _ *rollout.Situation) { r.ReturnOnFailure = false },
			"writes []; stage canary, rolled back; from map[]", "it failed"},
		"another target": {func(_ *rollout.Rollout, s *rollout.Situation) { s.TargetTreeHash = "other" },
			"writes [a]; stage canary, wave 1; from map[a:1]", ""},
		"skip names the target": {func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "target" },
			"writes [a b c]; all at once; from map[a:1 b:1 c:1]; complete", ""},
		"rollback of the promotion": {func(_ *rollout.Rollout, s *rollout.Situation) { s.Rollback = true },
			"writes [a b c]; all at once; from map[a:1 b:1 c:1]; complete", ""},
		"target that the branch contains": {func(_ *rollout.Rollout, s *rollout.Situation) {
			for name, f := range s.Target {
				f.Hash = "1"
				s.Target[name] = f
			}
		}, "writes []; stage canary, rolled back; from map[]; complete", ""},
	} {
		r, s := *r, *s
		r.ReturnOnFailure, s.Target = true, map[string]rollout.RenderedFolder{}
		_, fresh := world()
		s.Target = fresh.Target
		test.edit(&r, &s)
		step := r.Next(s)
		if diff := cmp.Diff(test.want, text(step)); diff != "" || step.RolledBack != test.rolledBack {
			t.Errorf("%s: rolled back: %q (-want +got):\n%s", name, step.RolledBack, diff)
		}
	}
}
