package delivery

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// decisionsFor returns the decisions that place hello-web on these cluster types.
func decisionsFor(clusterTypes ...string) placement.Decisions {
	return placement.Decisions{"web": {Targets: map[string][]string{"hello-web": clusterTypes}}}
}

// placedTree returns the tree of a fleet whose placement with number = 1 puts hello-web on large.
func placedTree(t *testing.T) *NextTree {
	t.Helper()
	f := &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}}, {Meta: fleet.Meta{Name: "small"}}},
		Policies: []*fleet.SchedulingPolicy{{
			Meta: fleet.Meta{Name: "web"}, Placement: &placement.Spec{Number: new(1)},
		}},
		Workloads: []*fleet.Workload{{
			Meta: fleet.Meta{Name: "hello"}, Targets: []fleet.Target{{Name: "web", Environment: "dev"}},
		}},
	}
	s, ps := schedule.New(t.Context(), f, placement.PriorResults{})
	if err := ps.Err(); err != nil {
		t.Fatal(err)
	}
	return NewNextTree(NewRendered(&Arguments{
		Strategy: destination.Push, Environment: "dev",
		Destination: destination.Destination{Repo: "file:///repo", Branch: "dev", Path: "."},
	}, &tree.Tree{Schedule: s}), nil, nil)
}

// TestDecisionsOfRecord: the record contains the decisions. Two records with different decisions are different.
func TestDecisionsOfRecord(t *testing.T) {
	t.Parallel()
	d := placedTree(t)
	written, err := record.Parse(d.Record.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decisionsFor("large"), written.Decisions); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	other := written
	other.Decisions = decisionsFor("small")
	if written.Same(other) || !written.Same(written) {
		t.Error("records with different decisions are the same, or a record differs from itself")
	}
	for name, text := range map[string]string{
		"invalid name": `{"version": 1, "environment": "dev", "decisions": {"web": {"on": {"../x": "hello-web"}}}}`,
		"target twice": `{"version": 1, "environment": "dev", "decisions": {"web": {"on": {"a": "x", "b": "x"}}}}`,
		"list":         `{"version": 1, "environment": "dev", "decisions": {"web": []}}`,
	} {
		if _, err := record.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "it was changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChangedDecisions: if the decisions differ from the delivered or proposed decisions, they are written. Without a
// state, decisions that differ from the record are an error, even with adopt.
func TestChangedDecisions(t *testing.T) {
	t.Parallel()
	d := placedTree(t)
	state := func(decisions placement.Decisions) *State {
		s := NewState(d.Args.Destination, "dev")
		s.Decisions, s.Delivered, s.LastRead.Head = decisions, inventory.Folders{}, "1"
		return &s
	}
	proposed := state(nil)
	proposed.Proposal = &Proposal{Head: state(decisionsFor("large"))}
	for name, c := range map[string]struct {
		state *State
		want  bool
	}{
		"same decisions": {state(decisionsFor("large")), false}, "other decisions": {state(decisionsFor("small")), true},
		"no earlier decisions": {state(nil), true}, "same decisions, proposed": {proposed, false},
	} {
		now := &Situation{Args: d.Args, Prior: &Prior{TreeHash: d.Folders.TreeHash().String()}, State: c.state}
		if got := slices.Contains(now.treeReasons(d), "the placement decisions change"); got != c.want {
			t.Errorf("%s: the decisions are known to change: %t", name, got)
		}
	}
	at := &Branch{Record: &record.Record{Version: 1, Environment: "dev", Decisions: decisionsFor("small")}}
	refused := func(s *State) bool {
		err := NewComparison(d, s, at).checkUnchanged()
		refusal, ok := errors.AsType[*Refusal](err)
		return ok && refusal.Kind == OtherDecisions
	}
	for _, adopt := range []bool{false, true} {
		d.Args.Adopt = adopt
		if !refused(nil) {
			t.Errorf("adopt = %t takes over a record with other decisions", adopt)
		}
	}
	if refused(state(nil)) {
		t.Error("the decisions of a rendering that the state knows are refused")
	}
	at.Record.Decisions = decisionsFor("large")
	if refused(nil) {
		t.Error("equal decisions are refused")
	}
}

// TestMoves: a target moves if it leaves a cluster type and joins another one.
func TestMoves(t *testing.T) {
	t.Parallel()
	d := placedTree(t)
	target := []inventory.Target{{Name: "hello-web"}}
	d.Rendered.Folders = inventory.Folders{"large": {Targets: target}, "small": {}, "new": {Known: inventory.Unread}}
	// The apply writes only a wave, which does not matter for moves.
	d.Folders, d.Complete = inventory.Folders{"small": {Targets: target}}, false
	for name, c := range map[string]struct {
		existing inventory.Folders
		want     int
	}{
		"target on another cluster type":  {inventory.Folders{"small": {Targets: target}}, 1},
		"target on the same cluster type": {inventory.Folders{"large": {Targets: target}}, 0},
		"new target":                      {inventory.Folders{"large": {}}, 0},
		"target that leaves one of two cluster types": {
			inventory.Folders{"large": {Targets: target}, "small": {Targets: target}}, 0},
		"target on a cluster type whose targets are unknown": {inventory.Folders{"new": {Targets: target}}, 0},
	} {
		moves := targetMoves(d, &State{Delivered: c.existing})
		if len(moves) != c.want {
			t.Errorf("%s: %v", name, moves)
		}
	}
}

// TestGuardrailsAtApply: an apply checks the guardrails on the branch that it read. If the private state is lost, the
// plan knows no earlier delivery, so nothing else checks them. As a warning, the change passes with one.
func TestGuardrailsAtApply(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		delivered, wanted string
		set               func(*Guardrails, problem.Reaction)
		want              RefusalKind
		warns             int
	}{
		"moved": {"large/a=1 large/b=1 small/b=1", "large/b=1 small/a=1 small/b=1",
			func(g *Guardrails, r problem.Reaction) { g.Moved = r }, TargetsMove, 1},
		"emptied": {"large/a=1 small/a=1", "large/a=1 small",
			func(g *Guardrails, r problem.Reaction) { g.Emptied = r }, Emptied, 1},
		"removed": {"large/a=1 large/b=1 large/c=1", "large/a=1", func(g *Guardrails, r problem.Reaction) {
			if r == problem.Fail {
				g.MaxRemoved = "1"
			}
		}, Guardrail, 0},
	} {
		for _, reaction := range []problem.Reaction{problem.Fail, problem.Warn} {
			s := usualSituation()
			s.state, s.desired.Tree = usualState(tt.delivered), rendered(tt.wanted)
			s.desired.Guardrails = Guardrails{MaxRemoved: "100%"}
			tt.set(&s.desired.Guardrails, reaction)
			next := NewNextTree(s.desired.rendered(), s.prior, s.state)
			change, err := CompareWithBranch(next, s.state, &s.state.LastRead, nil)
			if reaction == problem.Warn {
				if err != nil || len(change.Warnings) != tt.warns || tt.warns > 0 && change.Warnings[0].Kind != tt.want {
					t.Errorf("%s as a warning: %v, %v", name, change, err)
				}
				continue
			}
			refused, _ := errors.AsType[problem.Errors](err)
			if len(refused) != 1 {
				t.Fatalf("%s: %v, want 1 error", name, err)
			}
			if r, ok := errors.AsType[*Refusal](refused[0]); !ok || r.Kind != tt.want || r.ID == "" {
				t.Errorf("%s: %v", name, refused[0])
			}
		}
	}
}

// TestRenamedClusterTypes: a cluster type counts as renamed if a new cluster type has all its targets.
func TestRenamedClusterTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, delivered, wanted string
		want                    []string
	}{
		{"new cluster type with the same targets", "large/a=1 large/b=1 small/a=1", "big/a=2 big/b=2 small/a=1",
			[]string{"large → big"}},
		{"two of three cluster types renamed", "a/x=1 b/y=1 c/z=1", "d/x=1 e/y=1 c/z=1", []string{"a → d", "b → e"}},
		{"new cluster type without one of the targets", "large/a=1 large/b=1", "big/a=1", nil},
		{"cluster type that existed before", "large/a=1 big/b=1", "big/a=1", nil},
		{"old cluster type with another target", "large/a=1 small/b=1", "large/c=1 big/a=1 small/b=1", nil},
		{"old cluster type without targets", "large small/a=1", "big small/b=1", nil},
	} {
		s := usualSituation()
		s.state, s.desired.Tree = usualState(tt.delivered), rendered(tt.wanted)
		s.desired.Guardrails.Moved = problem.Warn
		decision := Decide(s.desired.rendered(), s.prior, s.state)
		if diff := cmp.Diff(tt.want, RenamedTargets(decision.All().Next, decision.All().State)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
