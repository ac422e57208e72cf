package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
)

// Earlier returns what placement keeps of what was delivered, and whether s tells it. A state of another version does not;
// that of a tree that was only computed does.
func (s *State) Earlier() (e placement.Earlier, known bool) {
	if s == nil || s.Version != stateVersion || s.Engine != engineVersion {
		return e, false
	}
	held := s.Delivered
	if s.BaselineUnknown() {
		held = s.Ours()
	}
	return placement.Earlier{Decisions: s.Decisions, Holds: held.holders()}, true
}

// holders returns the cluster types of each deployment target, sorted.
func (inv Inventory) holders() map[string][]string {
	all := map[string][]string{}
	for _, name := range inv.Names() {
		for _, target := range inv[name].Targets {
			all[target.Name] = append(all[target.Name], name)
		}
	}
	return all
}

// Decisions returns what placement decided for the tree, for the record and the next plan; empty until all is decided.
func (d *Desired) Decisions() placement.Decisions {
	if d.Tree == nil || d.Tree.Schedule == nil {
		return nil
	}
	if d.decided != d.Tree {
		d.decisions, d.decided = nil, d.Tree
		if _, all := d.Tree.Schedule.Known(); all {
			d.decisions = d.Tree.Schedule.Decisions()
		}
	}
	return d.decisions
}

// desiredDecisions returns the decisions of what was delivered or proposed last.
func (s *State) desiredDecisions() placement.Decisions {
	if s == nil {
		return nil
	}
	if s.Proposal != nil {
		return s.Proposal.Head.Decisions
	}
	return s.Decisions
}

// decidesAnew reports whether the decisions are others than those of what was delivered or proposed last.
func (d *Desired) decidesAnew(s *State) bool {
	return d.Known() && !d.Tree.Unknown && s != nil && !d.Decisions().Equal(s.desiredDecisions())
}

// mayDecide refuses a rendering that no state tells of onto a record with other decisions: adopted, targets would move.
func (d *Desired) mayDecide(s *State, at *BranchState) error {
	if s.Current() || at.Record == nil || len(at.Record.Decisions) == 0 {
		return nil
	}
	if _, all := d.Tree.Schedule.Known(); !all || d.Decisions().Equal(at.Record.Decisions) {
		return nil
	}
	return &DecisionsError{d.Destination, d.Environment}
}

// DecisionsError is a rendering at the destination whose record holds other decisions of placement than those desired, and
// that no state tells of.
type DecisionsError struct {
	Destination Destination
	Environment string
}

// Error implements error.
func (e *DecisionsError) Error() string {
	return fmt.Sprintf("At %s, the record %s holds decisions of placement that the state does not know, and without them others "+
		"were made. Deployment targets would move.", e.Destination, e.Destination.RecordPath())
}

// Move is a deployment target that leaves some cluster types while it joins others.
type Move struct {
	Target    string
	From, To  []string
	Remaining []string // those that it stays on
}

// Moves returns the deployment targets that the apply moves, by name. What is not known yet is left out.
func (d *Desired) Moves(s *State) (all []Move) {
	if d.Tree == nil || s == nil {
		return nil
	}
	wanted := d.Inventory()
	after := wanted.holders()
	undecided := func(name string) bool { return wanted[name].Undecided }
	before := s.Delivered.holders()
	for target, held := range before {
		is, ok := after[target]
		if !ok {
			continue
		}
		m := Move{Target: target, To: without(is, held), From: slices.DeleteFunc(without(held, is), undecided)}
		if len(m.From) > 0 && len(m.To) > 0 {
			m.Remaining = without(held, m.From)
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Move) int { return strings.Compare(a.Target, b.Target) })
	return all
}

// CheckMoves reports moves, as the guardrail says: a warning or an error. It reports none if the guardrail ignores them.
func CheckMoves(moves []Move, reaction fleet.Reaction) fleet.Problems {
	if len(moves) == 0 || reaction == fleet.Ignore || fleet.IsUnknown(string(reaction)) {
		return nil
	}
	lines := make([]string, len(moves))
	for i, m := range moves {
		lines[i] = fmt.Sprintf("%s: from %s to %s", m.Target, strings.Join(m.From, ", "), strings.Join(m.To, ", "))
	}
	return fleet.Problems{{
		Severity: reaction.Severity(),
		Path:     []fleet.Step{fleet.Attr("guardrails"), fleet.Attr("moved")},
		Summary:  "Deployment targets move between cluster types",
		Detail: fmt.Sprintf("%s while joining others:\n%s\nBoth happen in one commit. Clusters follow at their own pace, so a target "+
			"may be nowhere for a while. To move in two steps, let the target join first: select both cluster types, or raise "+
			"number_of_cluster_types. Apply, wait until the clusters report the new one, and then let it leave the old one.",
			leaves(len(moves)), fleet.IndentedList(lines, listed)),
	}}
}

func leaves(n int) string {
	if n == 1 {
		return "1 deployment target leaves cluster types"
	}
	return fmt.Sprintf("%d deployment targets leave cluster types", n)
}
