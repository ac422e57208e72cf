package delivery

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// change returns the change that an apply makes to the branch that it reads.
func (s *situation) change() (*Change, []error) {
	tree := NewNextTree(s.desired.rendered(), nil, s.state)
	return newChange(NewComparison(tree, s.state, s.branch), s.old)
}

// ids returns the IDs of the refused changes among errors.
func ids(errs []error) (all []string) {
	for _, err := range errs {
		if refused, ok := errors.AsType[*Refusal](err); ok && refused.ID != "" {
			all = append(all, string(refused.ID))
		}
	}
	return all
}

// moving moves the rendering to another branch, which is empty.
func (s *situation) moving(to string) {
	s.desired.Destination.Branch, s.branch = to, &Branch{Head: "head"}
}

// TestAcceptedChanges: each refused change has an ID. If accepted_changes contains the ID, the change is allowed in the
// plan and in the apply. The other changes of a row have other IDs, so they are still refused.
func TestAcceptedChanges(t *testing.T) {
	for _, test := range []struct {
		kind   string
		with   func(*situation)
		others map[string]func(*situation)
	}{
		{IDRemoved, func(s *situation) { s.desired.Tree = rendered("large/a=1") },
			map[string]func(*situation){
				"another target is kept": func(s *situation) { s.desired.Tree = rendered("large/b=1") },
				"another tree of a removed target": func(s *situation) {
					s.state, s.branch = usualState("large/a=1 large/b=2 small/c=1"), containing("large/a=1 large/b=2 small/c=1")
				},
				"one more removed target": func(s *situation) {
					now := delivered + " small/d=1"
					s.state, s.branch = usualState(now), containing(now)
				},
				"another head": func(s *situation) { s.state.LastRead.Head = "next" },
				"another destination": func(s *situation) {
					s.desired.Destination.Path, s.state.Destination.Path = "clusters", "clusters"
				},
			}},
		{IDEmptied, func(s *situation) {
			s.desired.Tree = rendered("large/a=1 large/b=1 small")
			s.desired.Guardrails = Guardrails{MaxRemoved: "100%", Emptied: problem.Fail}
		}, map[string]func(*situation){
			"another cluster type": func(s *situation) { s.desired.Tree = rendered("large small/c=1 small/d=1") },
			"another head":         func(s *situation) { s.state.LastRead.Head = "next" },
		}},
		{IDEmpty, func(s *situation) {
			s.state, s.branch = nil, &Branch{Head: "head", Folders: existing("theirs/x=1")}
			s.desired.Tree = rendered("large")
		}, map[string]func(*situation){
			"another destination": func(s *situation) { s.desired.Destination.Branch = "live" },
		}},
		{IDMove, func(s *situation) { s.moving("live") }, map[string]func(*situation){
			"another new location":                  func(s *situation) { s.moving("prod") },
			"another previous location":             func(s *situation) { s.state.Destination.Path = "old" },
			"another tree at the previous location": func(s *situation) { s.state = usualState("large/a=2") },
		}},
		{IDOccupied, func(s *situation) {
			s.state, s.branch.Record.Environment, s.desired.Guardrails = nil, "stage", free
		}, map[string]func(*situation){
			"another owner":  func(s *situation) { s.branch.Record.Environment = "prod" },
			"another folder": func(s *situation) { s.branch.Folders["large"] = existing("large/x=1")["large"] },
			"another record": func(s *situation) { s.branch.RecordHash = "next" },
		}},
		{IDOccupied, func(s *situation) {
			s.state, s.desired.Tree = nil, rendered("large/a=2 large/b=1 small/c=1")
		}, nil},
		{IDOccupied, func(s *situation) {
			s.state, s.branch = nil, &Branch{Head: "head", Folders: existing("large/a=9")}
		}, nil},
	} {
		t.Run(test.kind, func(t *testing.T) {
			refused := func(more ...func(*situation)) (id string) {
				s := usualSituation()
				for _, with := range append([]func(*situation){test.with}, more...) {
					with(s)
				}
				_, errs := s.change()
				all := ids(errs)
				if len(all) != 1 || len(errs) != 1 || !strings.HasPrefix(all[0], test.kind+"-") {
					t.Fatalf("the IDs are %v of %v", all, errs)
				}
				return all[0]
			}
			id := refused()
			accept := func(s *situation) { s.desired.AcceptedChanges = AcceptedChanges{"drift-000000000000", id} }
			s := usualSituation()
			test.with(s)
			accept(s)
			change, errs := s.change()
			if len(errs) > 0 || !change.Needed || len(change.Accepted) != 1 {
				t.Errorf("accepted: %v, needed %t, %v", change.Accepted, change.Needed, errs)
			}
			for name, other := range test.others {
				if refused(other, accept) == id {
					t.Errorf("%s: the ID is the same", name)
				}
			}
			s.desired.AcceptedChanges = AcceptedChanges{unknown.Text}
			if _, errs := s.change(); len(errs) > 0 {
				t.Errorf("with an unknown ID: %v", errs)
			}
		})
	}
}

// TestAcceptedInPlan: a plan refuses moves between cluster types and drift. It finds them in the state, without reading
// the branch.
func TestAcceptedInPlan(t *testing.T) {
	moves := func() *situation {
		s := usualSituation()
		s.desired.Tree, s.desired.Guardrails.Moved = rendered("large/a=1 small/b=1 small/c=1"), problem.Fail
		return s
	}
	s := moves()
	refused := ids(s.decide(t).All().Errors)
	if len(refused) != 1 || !strings.HasPrefix(refused[0], IDMoved+"-") {
		t.Fatalf("moves: %v", refused)
	}
	s.desired.AcceptedChanges = refused
	if d := s.decide(t).All(); len(d.Errors) > 0 || len(s.desired.AcceptedChanges.Spent(d.Accepted)) > 0 {
		t.Errorf("accepted moves: %v, accepted %v", d.Errors, d.Accepted)
	}
	s.desired.Tree = rendered("large/b=1 small/a=1 small/c=1")
	if again := ids(s.decide(t).All().Errors); len(again) != 1 || again[0] == refused[0] {
		t.Errorf("another move: %v", again)
	}

	drifted := usualSituation()
	edit(drifted.state, "large/a=7 large/b=1 small/c=1")
	drifted.desired.OnDrift = drift.Fail
	id := DriftID(drifted.state)
	drifted.desired.AcceptedChanges = AcceptedChanges{string(id)}
	d := drifted.decide(t).All()
	if len(d.Drift) != 1 || d.Next.Args.ReactionTo(d.Drift[0]) != drift.Overwrite || d.Accepted[0] != id {
		t.Errorf("accepted drift: %v, %v", d.Drift, d.Accepted)
	}
	for name, other := range map[string]func(*State){
		"another edit": func(s *State) { edit(s, "large/a=8 large/b=1 small/c=1") },
		"another head": func(s *State) { s.LastRead.Head = "next" },
	} {
		other(drifted.state)
		if d := drifted.decide(t).All(); d.Next.Args.ReactionTo(d.Drift[0]) != drift.Fail || len(d.Accepted) > 0 {
			t.Errorf("%s: %v", name, d.Accepted)
		}
	}
}

// TestRefusalsOfChange: a change returns all of its refusals with an ID together, each once. An error without an ID
// ends the list.
func TestRefusalsOfChange(t *testing.T) {
	for name, test := range map[string]struct {
		with func(*situation)
		want string
	}{
		"removed and emptied": {func(s *situation) {
			s.desired.Tree, s.desired.Guardrails.Emptied = rendered("large small/c=1"), problem.Fail
		}, "emptied removed"},
		"occupied and move": {func(s *situation) {
			s.moving("live")
			s.branch.Folders = existing("large/a=9")
		}, "move occupied"},
		"occupied, move and removed": {func(s *situation) {
			s.moving("live")
			s.branch.Folders = existing("large/x=9")
		}, "move occupied removed"},
		"occupied, empty and removed": {func(s *situation) {
			s.state, s.desired.Tree = nil, rendered("large")
			s.branch = &Branch{Head: "head", Folders: existing("large/a=9")}
		}, "empty occupied removed"},
		"another record and removed": {func(s *situation) {
			s.state.LastRead.Record.ClusterTypes = []string{"large"}
			s.state.LastRead.RecordHash = s.state.LastRead.Record.Hash()
			s.branch = &s.state.LastRead
			s.desired.Tree = rendered("large/x=1 small/c=1")
		}, "drift removed"},
		"occupied, and a file in place of a folder": {func(s *situation) {
			s.moving("live")
			s.branch.Folders, s.branch.Files = existing("large/a=9"), []string{"small"}
		}, "occupied, then these exist but are not directories"},
		"a path of another rendering": {func(s *situation) {
			s.moving("live")
			s.branch.Folders, s.branch.OtherRenderings = existing("large/a=9"), []string{"large"}
		}, ", then another rendering writes to path"},
	} {
		t.Run(name, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			_, errs := s.change()
			var kinds []string
			for _, id := range ids(errs) {
				kind, _, _ := strings.Cut(id, "-")
				kinds = append(kinds, kind)
			}
			slices.Sort(kinds)
			want, last, _ := strings.Cut(test.want, ", then ")
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if others := len(errs) - len(kinds); last == "" && others != 0 ||
				last != "" && (others != 1 || !strings.Contains(errs[len(errs)-1].Error(), last)) {
				t.Errorf("the errors are %v, and the last one has to contain %q", errs, last)
			}
		})
	}
}
