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

// world has a canary and two other cluster types. The branch contains their tree 1, and the fleet renders tree 2. The
// clusters run tree 1.
func world() (*rollout.Rollout, *rollout.Situation) {
	r := &rollout.Rollout{
		Stages: []rollout.Stage{
			{Name: "canary", Selector: fleet.Selector{MatchLabels: map[string]string{"ring": "0"}}, Soak: time.Hour},
			{Name: "rest", MaxConcurrency: &limit.Limit{Number: 1}},
		},
		Observed: &rollout.Observation{At: noon, Folders: map[string]deployment.FolderState{}},
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

// canaryRuns makes the canary run tree 2, after the commit of its wave.
func canaryRuns(r *rollout.Rollout, s *rollout.Situation) {
	s.Delivered["a"], s.OnBranch["a"] = "2", "2"
	s.Progress = &rollout.StoredProgress{
		Progress: rollout.Progress{TargetTreeHash: "target", Stage: "canary", EarlierHashes: map[string]string{"a": "1"}},
		Wave:     1, At: noon.Add(-3 * time.Hour),
	}
	r.Observed.Folders["a"] = state("2", deployment.Success)
}

// closed and open are states of the rollout's windows.
var (
	closed = windows.State{Closed: "closed until noon", Reason: "the night"}
	open   = windows.State{OpenUntil: noon.Add(4 * time.Hour)}
)

// text describes an apply, with its messages.
func text(step *rollout.Step) string {
	if step.Uncertain {
		return "uncertain"
	}
	parts := []string{fmt.Sprintf("takes %v", step.Written)}
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

// The table specifies the next apply. Each row changes one part of the usual case, in which the canary runs tree 2.
func TestNext(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(*rollout.Rollout, *rollout.Situation)
		want string
	}{
		"the next stage, by name": {nil, "takes [b]; stage rest, wave 1; from map[a:1 b:1]"},
		"the soak is not over": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Stages[0].Soak = 3 * time.Hour },
			"takes []; stage canary, wave 1; from map[a:1]; the soak of 3h, which ends at 2026-01-31T13:00:00Z: " +
				"the last clusters run the change since 2026-01-31T10:00:00Z",
		},
		"the beginning of the soak is unknown": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				f := r.Observed.Folders["a"]
				f.Since = time.Time{}
				r.Observed.Folders["a"] = f
			},
			"takes []; stage canary, wave 1; from map[a:1]; the soak of 1h: no report says " +
				"when these started to run the change: a",
		},
		"an observation from before the commit": {
			func(_ *rollout.Rollout, s *rollout.Situation) { s.Progress.At = noon.Add(time.Minute) },
			"takes []; stage canary, wave 1; from map[a:1]; a: it was last observed at 2026-01-31T12:00:00Z, before the last " +
				"commit of the rollout",
		},
		"nothing was observed": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Observed = nil },
			"takes []; stage canary, wave 1; from map[a:1]; a: rollout.observed is null, so nothing says " +
				"whether its clusters run the change",
		},
		"no cluster has reported yet": {
			func(r *rollout.Rollout, _ *rollout.Situation) { delete(r.Observed.Folders, "a") },
			"takes []; stage canary, wave 1; from map[a:1]; a: no cluster has reported it yet",
		},
		"the canary fails": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["a"] = state("2", deployment.Failure)
				r.Observed.Problems = []deployment.Problem{{Cluster: "x", Folder: "a", State: deployment.StateFailed,
					Message: "broken"}}
			},
			"takes []; stage canary, wave 1; from map[a:1]; a: 1 of 2 clusters current;   x failed: broken",
		},
		"the canary failed with an earlier tree": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["a"] = state("1", deployment.Failure)
			},
			"takes []; stage canary, wave 1; from map[a:1]; a: it was observed with another tree on the branch",
		},
		"the fleet changes the folder that fails": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Observed.Folders["a"] = state("2", deployment.Failure)
				s.Target["a"] = rollout.RenderedFolder{Hash: "3", Assignments: 1, Labels: map[string]string{"ring": "0"}}
				s.TargetTreeHash = "another"
			},
			"takes [a]; stage canary, wave 1; from map[a:1]",
		},
		"the folder that fails is reverted": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Observed.Folders["a"] = state("2", deployment.Failure)
				s.Target["a"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			},
			"takes [a]; stage canary, wave 1; from map[]",
		},
		"skipped": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "target" },
			"takes [b c]; all at once; from map[]; complete",
		},
		"skipped for another tree": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip = "other" },
			"takes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"a folder that needs no cluster is delivered in its wave": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["b"] = deployment.FolderState{Tree: "1", Verdict: deployment.Success}
			},
			"takes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"a canary without clusters, observed before the wave": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Observed.Folders["a"] = deployment.FolderState{Tree: "1", Verdict: deployment.Success}
			},
			"takes []; stage canary, wave 1; from map[a:1]; a: it was observed with another tree on the branch",
		},
		"a canary without clusters, and an older observation": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				s.Progress.At = noon.Add(time.Minute)
				r.Observed.Folders["a"] = deployment.FolderState{Tree: "2", Verdict: deployment.Success}
			},
			"takes []; stage canary, wave 1; from map[a:1]; a: it was last observed at 2026-01-31T12:00:00Z, before the last " +
				"commit of the rollout",
		},
		"a canary without clusters, observed after the wave": {
			func(r *rollout.Rollout, _ *rollout.Situation) {
				r.Observed.Folders["a"] = deployment.FolderState{Tree: "2", Verdict: deployment.Success}
			},
			"takes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"a removed cluster type is removed by the last wave": {
			func(_ *rollout.Rollout, s *rollout.Situation) { delete(s.Target, "b") },
			"takes [c]; stage rest, wave 1; from map[a:1 c:1]",
		},
		"a folder of a later wave was changed outside Terraform": {
			func(_ *rollout.Rollout, s *rollout.Situation) { s.OnBranch["c"] = "theirs" },
			"takes [b]; stage rest, wave 1; from map[a:1 b:1]",
		},
		"an apply was killed after its push": {
			func(_ *rollout.Rollout, s *rollout.Situation) { s.OnBranch["b"] = "2" },
			"takes []; stage canary, wave 1; from map[a:1 b:1]; b: it was observed with another tree on the branch",
		},
		"paused": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause = "an incident" },
			"takes []; stage canary, wave 1; from map[a:1]; paused: an incident",
		},
		"paused and skipped": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause, r.Skip = "an incident", "target" },
			"takes []; stage canary, wave 1; from map[a:1]; paused: an incident",
		},
		"paused, and the canary is reverted": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Pause = "an incident"
				s.Target["a"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			},
			"takes [a]; stage canary, wave 1; from map[]; paused: an incident",
		},
		"paused, and the branch contains the target": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Pause = "an incident"
				for name := range s.Target {
					s.Delivered[name], s.OnBranch[name] = "2", "2"
				}
			}, "takes []; stage canary, wave 1; from map[]; complete",
		},
		"outside of the windows": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Window = closed },
			"takes []; stage canary, wave 1; from map[a:1]; paused: its windows are closed until noon",
		},
		"outside of the windows, and skipped": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip, r.Window = "target", closed },
			"takes []; stage canary, wave 1; from map[a:1]; paused: its windows are closed until noon",
		},
		"outside of the windows, and paused": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Pause, r.Window = "an incident", closed },
			"takes []; stage canary, wave 1; from map[a:1]; paused: an incident",
		},
		"outside of the windows, and the canary is reverted": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Window = closed
				s.Target["a"] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: map[string]string{"ring": "0"}}
			},
			"takes [a]; stage canary, wave 1; from map[]; paused: its windows are closed until noon",
		},
		"outside of the windows, and a rollback": {
			func(r *rollout.Rollout, s *rollout.Situation) { r.Window, s.Rollback = closed, true },
			"takes [b c]; all at once; from map[]; complete",
		},
		"outside of the windows, and the branch contains the target": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Window = closed
				for name := range s.Target {
					s.Delivered[name], s.OnBranch[name] = "2", "2"
				}
			},
			"takes []; stage canary, wave 1; from map[]; complete",
		},
		"in an open window": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Window = open },
			"takes [b]; stage rest, wave 1; from map[a:1 b:1]; until 2026-01-31T16:00:00Z",
		},
		"in an open window, and skipped": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Skip, r.Window = "target", open },
			"takes [b c]; all at once; from map[]; complete; until 2026-01-31T16:00:00Z",
		},
		"in an open window, while the canary soaks": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.Stages[0].Soak, r.Window = 3*time.Hour, open },
			"takes []; stage canary, wave 1; from map[a:1]; the soak of 3h, which ends at 2026-01-31T13:00:00Z: " +
				"the last clusters run the change since 2026-01-31T10:00:00Z",
		},
		"in an open window, and the canary is reverted": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Window = open
				for name := range s.Target {
					s.Target[name] = rollout.RenderedFolder{Hash: "1", Assignments: 1, Labels: s.Target[name].Labels}
				}
			},
			"takes [a]; all at once; from map[]; complete",
		},
		"in an open window, and a rollback": {
			func(r *rollout.Rollout, s *rollout.Situation) { r.Window, s.Rollback = open, true },
			"takes [b c]; all at once; from map[]; complete",
		},
		"pause is unknown": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.PauseUnknown = true }, "uncertain",
		},
		"a rollback, with a change of the environment's own": {
			func(r *rollout.Rollout, s *rollout.Situation) {
				r.Pause, s.Rollback, s.TargetTreeHash = "an incident", true, "another"
				r.Observed = nil
				for name, hash := range map[string]string{"a": "1", "b": "1", "c": "3"} {
					s.Target[name] = rollout.RenderedFolder{Hash: hash, Assignments: 1, Labels: map[string]string{"ring": "1"}}
				}
			}, "takes [a c]; all at once; from map[]; complete",
		},
		"a rollback with an unknown tree": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				s.Rollback = true
				s.Target["c"] = rollout.RenderedFolder{Assignments: 1, Unknown: true}
			}, "uncertain",
		},
		"the branch contains the target": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				for name := range s.Target {
					s.Delivered[name], s.OnBranch[name] = "2", "2"
				}
			}, "takes []; stage canary, wave 1; from map[]; complete",
		},
		"a tree of a later stage is not known": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				s.Progress.At, s.TargetTreeHash = noon.Add(time.Minute), ""
				s.Target["c"] = rollout.RenderedFolder{Assignments: 1, Unknown: true, Labels: map[string]string{"ring": "1"}}
			},
			"takes []; stage canary, wave 1; from map[a:1]; a: it was last observed at 2026-01-31T12:00:00Z, before the last " +
				"commit of the rollout",
		},
		"a tree of this stage is not known": {
			func(_ *rollout.Rollout, s *rollout.Situation) {
				s.Target["c"] = rollout.RenderedFolder{Assignments: 1, Unknown: true, Labels: map[string]string{"ring": "1"}}
			}, "uncertain",
		},
		"the observation is not known": {
			func(r *rollout.Rollout, _ *rollout.Situation) { r.ObservedUnknown = true }, "uncertain",
		},
		"a label is not known": {
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
