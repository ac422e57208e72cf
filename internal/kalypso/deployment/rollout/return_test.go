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

// TestReturn specifies when the folders of a rollout return to their trees from before it. In the usual case, the
// canary a fails with tree 2, and b has tree 2 already. Each row changes one part of it.
func TestReturn(t *testing.T) {
	t.Parallel()
	const stopped = "takes []; stage canary, wave 1; from map[a:1 b:1]; a: 1 of 2 clusters current"
	const returns = `returns [a b] since folder "a" fails since 2026-01-31T10:00:00Z; stage canary, rolled back`
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
		"a folder of the rollout fails": {nil, returns},
		"stop": {func(r *rollout.Rollout, _ *rollout.Situation) {
			r.ReturnOnFailure = false
		}, stopped},
		"the rollout began with stop": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Progress.RestoresOnFailure = false
		}, stopped},
		"an observation from before the last commit": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Progress.At = noon.Add(time.Minute)
		}, stopped},
		"the folder has another tree": {func(r *rollout.Rollout, _ *rollout.Situation) {
			r.Observed.Folders["a"] = state("1", deployment.Failure)
		}, "takes []; stage canary, wave 1; from map[a:1 b:1]; a: it was observed with another tree on the branch"},
		"a folder fails that the rollout did not change": {func(r *rollout.Rollout, s *rollout.Situation) {
			s.Target["d"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			s.Delivered["d"], s.OnBranch["d"] = "1", "1"
			r.Observed.Folders["a"], r.Observed.Folders["d"] = state("2", deployment.Success), state("1", deployment.Failure)
		}, "takes []; stage canary, wave 1; from map[a:1 b:1]; d: 1 of 2 clusters current"},
		"the tree from before can't be read": {func(_ *rollout.Rollout, s *rollout.Situation) {
			delete(s.Replaced, "b")
		}, stopped},
		"a folder did not exist before": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Progress.EarlierHashes["b"] = ""
			delete(s.Replaced, "b")
		}, returns},
		"the fleet renders the tree from before of a folder": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Target["b"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "1"}}
		}, "takes [b]; " + strings.Replace(returns, "[a b]", "[a]", 1)},
		"the fleet changes the folder that fails": {func(_ *rollout.Rollout, s *rollout.Situation) {
			s.Target["a"] = rollout.RenderedFolder{Hash: "3", Assignments: 1, Labels: map[string]string{"ring": "0"}}
		}, "takes [a]; stage canary, wave 2; from map[a:1 b:1]"},
		"skipped": {func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "target" },
			"takes [c]; all at once; from map[a:1 b:1 c:1]; complete"},
		"paused": {func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause = "an incident" }, returns},
		"a rollback of the promotion": {func(_ *rollout.Rollout, s *rollout.Situation) { s.Rollback = true },
			"takes [c]; all at once; from map[a:1 b:1 c:1]; complete"},
		"after the last wave": {func(_ *rollout.Rollout, s *rollout.Situation) { complete(s) },
			strings.Replace(returns, "[a b]", "[a b c]", 1)},
		"after the last wave, with a promoted commit": {func(_ *rollout.Rollout, s *rollout.Situation) {
			complete(s)
			s.PromotedCommit = "c"
		}, "takes []; stage canary, wave 1; from map[a:1 b:1 c:1]; complete"},
		"with a promoted commit": {func(_ *rollout.Rollout, s *rollout.Situation) { s.PromotedCommit = "c" }, returns},
		"skip is unknown":        {func(r *rollout.Rollout, _ *rollout.Situation) { r.SkipUnknown = true }, "uncertain"},
		"on_failure is unknown": {func(r *rollout.Rollout, _ *rollout.Situation) {
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
				got = fmt.Sprintf("returns %v since %s; %s", step.Restored, step.RolledBack, step.Progress.Status())
				if len(step.Written) > 0 {
					got = fmt.Sprintf("takes %v; %s", step.Written, got)
				}
				if step.Complete() || step.Progress.UnderWay() || len(step.Stopped) == 0 {
					t.Errorf("after the return: %+v, of %+v", step, step.Progress)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAfterReturn: a failed tree is not tried again until the fleet changes, or skip names it.
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
		"the same tree": {func(*rollout.Rollout, *rollout.Situation) {}, "takes []; stage canary, rolled back; from map[]",
			"it failed"},
		"with stop": {func(r *rollout.Rollout, _ *rollout.Situation) { r.ReturnOnFailure = false },
			"takes []; stage canary, rolled back; from map[]", "it failed"},
		"another tree": {func(_ *rollout.Rollout, s *rollout.Situation) { s.TargetTreeHash = "other" },
			"takes [a]; stage canary, wave 1; from map[a:1]", ""},
		"skip": {func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "target" },
			"takes [a b c]; all at once; from map[a:1 b:1 c:1]; complete", ""},
		"a rollback of the promotion": {func(_ *rollout.Rollout, s *rollout.Situation) { s.Rollback = true },
			"takes [a b c]; all at once; from map[a:1 b:1 c:1]; complete", ""},
		"the tree of the branch": {func(_ *rollout.Rollout, s *rollout.Situation) {
			for name, f := range s.Target {
				f.Hash = "1"
				s.Target[name] = f
			}
		}, "takes []; stage canary, rolled back; from map[]; complete", ""},
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
