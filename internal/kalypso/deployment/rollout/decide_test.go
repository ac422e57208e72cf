package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// world returns a fleet with a canary a and two other cluster types, b and c. The branch contains their tree 1, which
// the clusters run. The fleet renders tree 2.
func world() (*rollout.Rollout, *rollout.Situation) {
	r := &rollout.Rollout{
		Stages: []rollout.Stage{
			{Name: "canary", Selector: fleet.Selector{MatchLabels: map[string]string{"ring": "0"}}, Soak: time.Hour},
			{Name: "rest", MaxConcurrency: &limit.Limit{Number: 1}},
		},
		Observed: &deployment.Observation{At: noon, Folders: map[string]deployment.FolderState{}},
	}
	s := &rollout.Situation{
		Target: map[string]rollout.RenderedFolder{}, TargetTreeHash: "target", Delivered: map[string]string{},
		OnBranch: map[string]string{},
	}
	for name, ring := range map[string]string{"a": "0", "b": "1", "c": "1"} {
		s.Target[name] = rollout.RenderedFolder{Hash: "2", Assignments: 1, Labels: map[string]string{"ring": ring}}
		s.Delivered[name], s.OnBranch[name] = "1", "1"
		r.Observed.Folders[name] = state("1", deployment.Success)
	}
	return r, s
}

func state(tree string, verdict deployment.Verdict) deployment.FolderState {
	return deployment.FolderState{
		Tree: tree, Verdict: verdict, Since: noon.Add(-2 * time.Hour), Counts: deployment.Counts{Total: 2, Current: 1},
	}
}

// canaryRuns lets the first wave commit tree 2 of the canary, and lets the canary's clusters run it.
func canaryRuns(r *rollout.Rollout, s *rollout.Situation) {
	s.Delivered["a"], s.OnBranch["a"] = "2", "2"
	s.Progress = &rollout.StoredProgress{
		Progress: rollout.Progress{TargetTreeHash: "target", Stage: "canary", EarlierHashes: map[string]string{"a": "1"}},
		Wave:     1, At: noon.Add(-3 * time.Hour),
	}
	r.Observed.Folders["a"] = state("2", deployment.Success)
}

// closed and open are two states of the rollout's windows.
var (
	closed = windows.State{Closed: "closed until noon", Reason: "the night"}
	open   = windows.State{OpenUntil: noon.Add(4 * time.Hour)}
)

// text returns what an apply does, and its messages.
func text(step *rollout.Step) string {
	if step.Uncertain {
		return "uncertain"
	}
	parts := []string{fmt.Sprintf("writes %v", step.Written)}
	if step.Progress != nil {
		parts = append(parts, step.Progress.Status(), fmt.Sprintf("from %v", step.Progress.EarlierHashes))
	}
	if step.Complete() {
		parts = append(parts, "complete")
	}
	parts = append(parts, step.Waiting...)
	parts = append(parts, step.Stopped...)
	if step.Paused != "" {
		parts = append(parts, "paused: "+step.Paused)
	}
	if !step.OpenUntil.IsZero() {
		parts = append(parts, "until "+step.OpenUntil.Format(time.RFC3339))
	}
	return strings.Join(parts, "; ")
}

// TestNext specifies what the next apply does. In the usual case, the canary runs tree 2. Each row changes one part of
// this case.
func TestNext(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(*rollout.Rollout, *rollout.Situation)
		want string
	}{
		"soaked canary": {nil, "writes [b]; stage rest, wave 1; from map[a:1 b:1]"},
		"canary that has not soaked": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Stages[0].Soak = 3 * time.Hour },
			"writes []; stage canary, wave 1; from map[a:1]; the soak of 3h, which ends at 2026-01-31T13:00:00Z: " +
				"the last clusters have run the change since 2026-01-31T10:00:00Z",
		},
		"canary without the time since which it runs the change": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				f := r.Observed.Folders["a"]
				f.Since = time.Time{}
				r.Observed.Folders["a"] = f
			},
			"writes []; stage canary, wave 1; from map[a:1]; the soak of 1h: no report says " +
				"when these started to run the change: a",
		},
		"observation from before the commit": {
			func(_ *rollout.Rollout, s *rollout.Situation) { s.Progress.At = noon.Add(time.Minute) },
			"writes []; stage canary, wave 1; from map[a:1]; a: it was last observed at 2026-01-31T12:00:00Z, before the last " +
				"commit of the rollout",
		},
		"no observation": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Observed = nil },
			"writes []; stage canary, wave 1; from map[a:1]; a: rollout.observed is null, so it is unknown " +
				"whether its clusters run the change",
		},
		"no report of the canary": {
			func(r *rollout.Rollout, _ *rollout.Situation) { delete(r.Observed.Folders, "a") },
			"writes []; stage canary, wave 1; from map[a:1]; a: no cluster has reported it yet",
		},
		"failed canary": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["a"] = state("2", deployment.Failure)
				r.Observed.Problems = []deployment.Problem{{Cluster: "x", Folder: "a", State: deployment.StateFailed,
					Message: "broken"}}
			},
			"writes []; stage canary, wave 1; from map[a:1]; a: 1 of 2 clusters current;   x failed: broken",
		},
		"canary that failed with an earlier tree": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["a"] = state("1", deployment.Failure)
			},
			"writes []; stage canary, wave 1; from map[a:1]; a: it was observed while the branch contained another tree",
		},
		"failed canary that the fleet changes": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Observed.Folders["a"] = state("2", deployment.Failure)
				s.Target["a"] = rollout.RenderedFolder{Hash: "3", Assignments: 1, Labels: map[string]string{"ring": "0"}}
				s.TargetTreeHash = "another"
			},
			"writes [a]; stage canary, wave 1; from map[a:1]",
		},
		"failed canary that the fleet reverts": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Observed.Folders["a"] = state("2", deployment.Failure)
				s.Target["a"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			},
			"writes [a]; stage canary, wave 1; from map[]",
		},
		"skip names the target": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "target" },
			"writes [b c]; all at once; from map[]; complete",
		},
		"skip names another target": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "other" },
			"writes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"folder without clusters in the next stage": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["b"] = deployment.FolderState{Tree: "1", Verdict: deployment.Success}
			},
			"writes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"canary without clusters, observed before the wave": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Observed.Folders["a"] = deployment.FolderState{Tree: "1", Verdict: deployment.Success}
			},
			"writes []; stage canary, wave 1; from map[a:1]; a: it was observed while the branch contained another tree",
		},
		"canary without clusters, observed before the last commit": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				s.Progress.At = noon.Add(time.Minute)
				r.Observed.Folders["a"] = deployment.FolderState{Tree: "2", Verdict: deployment.Success}
			},
			"writes []; stage canary, wave 1; from map[a:1]; a: it was last observed at 2026-01-31T12:00:00Z, before the last " +
				"commit of the rollout",
		},
		"canary without clusters, observed after the wave": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["a"] = deployment.FolderState{Tree: "2", Verdict: deployment.Success}
			},
			"writes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"cluster type that the fleet no longer contains": {
			func(_ *rollout.Rollout, s *rollout.Situation) { delete(s.Target, "b") },
			"writes [c]; stage rest, wave 1; from map[a:1 c:1]",
		},
		"folder of a later wave that was changed outside Terraform": {
			func(_ *rollout.Rollout, s *rollout.Situation) { s.OnBranch["c"] = "theirs" },
			"writes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"push of an apply that was killed": {
			func(_ *rollout.Rollout, s *rollout.Situation) { s.OnBranch["b"] = "2" },
			"writes []; stage canary, wave 1; from map[a:1 b:1]; b: it was observed while the branch contained another tree",
		},
		"pause": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause = "an incident" },
			"writes []; stage canary, wave 1; from map[a:1]; paused: an incident",
		},
		"pause, skip names the target": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause, r.Skip = "an incident", "target" },
			"writes []; stage canary, wave 1; from map[a:1]; paused: an incident",
		},
		"pause, canary that the fleet reverts": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Pause = "an incident"
				s.Target["a"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			},
			"writes [a]; stage canary, wave 1; from map[]; paused: an incident",
		},
		"pause, branch that contains the target": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Pause = "an incident"
				for name := range s.Target {
					s.Delivered[name], s.OnBranch[name] = "2", "2"
				}
			}, "writes []; stage canary, wave 1; from map[]; complete",
		},
		"closed window": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Window = closed },
			"writes []; stage canary, wave 1; from map[a:1]; paused: its windows are closed until noon",
		},
		"closed window, skip names the target": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip, r.Window = "target", closed },
			"writes []; stage canary, wave 1; from map[a:1]; paused: its windows are closed until noon",
		},
		"closed window, pause": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause, r.Window = "an incident", closed },
			"writes []; stage canary, wave 1; from map[a:1]; paused: an incident",
		},
		"closed window, canary that the fleet reverts": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Window = closed
				s.Target["a"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			},
			"writes [a]; stage canary, wave 1; from map[]; paused: its windows are closed until noon",
		},
		"closed window, rollback": {
			func(r *rollout.Rollout, s *rollout.Situation) { r.Window, s.Rollback = closed, true },
			"writes [b c]; all at once; from map[]; complete",
		},
		"closed window, branch that contains the target": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Window = closed
				for name := range s.Target {
					s.Delivered[name], s.OnBranch[name] = "2", "2"
				}
			},
			"writes []; stage canary, wave 1; from map[]; complete",
		},
		"open window": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Window = open },
			"writes [b]; stage rest, wave 1; from map[a:1 b:1]; until 2026-01-31T16:00:00Z",
		},
		"open window, skip names the target": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip, r.Window = "target", open },
			"writes [b c]; all at once; from map[]; complete; until 2026-01-31T16:00:00Z",
		},
		"open window, canary that has not soaked": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Stages[0].Soak, r.Window = 3*time.Hour, open },
			"writes []; stage canary, wave 1; from map[a:1]; the soak of 3h, which ends at 2026-01-31T13:00:00Z: " +
				"the last clusters have run the change since 2026-01-31T10:00:00Z",
		},
		"open window, fleet that reverts the change": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Window = open
				for name := range s.Target {
					s.Target[name] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: s.Target[name].Labels}
				}
			},
			"writes [a]; all at once; from map[]; complete",
		},
		"open window, rollback": {
			func(r *rollout.Rollout, s *rollout.Situation) { r.Window, s.Rollback = open, true },
			"writes [b c]; all at once; from map[]; complete",
		},
		"unknown pause": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.PauseUnknown = true }, "uncertain",
		},
		"rollback together with a change of the environment": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Pause, s.Rollback, s.TargetTreeHash = "an incident", true, "another"
				r.Observed = nil
				for name, hash := range map[string]string{"a": "1", "b": "1", "c": "3"} {
					s.Target[name] = rollout.RenderedFolder{Hash: hash, Assignments: 1, Labels: map[string]string{"ring": "1"}}
				}
			}, "writes [a c]; all at once; from map[]; complete",
		},
		"rollback with an unknown tree": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				s.Rollback = true
				s.Target["c"] = rollout.RenderedFolder{Assignments: 1, Unknown: true}
			}, "uncertain",
		},
		"branch that contains the target": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				for name := range s.Target {
					s.Delivered[name], s.OnBranch[name] = "2", "2"
				}
			}, "writes []; stage canary, wave 1; from map[]; complete",
		},
		"unknown tree of a later stage": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				s.Progress.At, s.TargetTreeHash = noon.Add(time.Minute), ""
				s.Target["c"] = rollout.RenderedFolder{Assignments: 1, Unknown: true, Labels: map[string]string{"ring": "1"}}
			},
			"writes []; stage canary, wave 1; from map[a:1]; a: it was last observed at 2026-01-31T12:00:00Z, before the last " +
				"commit of the rollout",
		},
		"unknown tree of the next stage": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				s.Target["c"] = rollout.RenderedFolder{Assignments: 1, Unknown: true, Labels: map[string]string{"ring": "1"}}
			}, "uncertain",
		},
		"unknown observation": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.ObservedUnknown = true }, "uncertain",
		},
		"unknown label": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				s.Target["c"] = rollout.RenderedFolder{Hash: "2", Assignments: 1, Labels: map[string]string{"ring": unknown.Text}}
			}, "uncertain",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := world()
			canaryRuns(r, s)
			if test.edit != nil {
				test.edit(r, s)
			}
			if diff := cmp.Diff(test.want, text(r.Next(*s))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
