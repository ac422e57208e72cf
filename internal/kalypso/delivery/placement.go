package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// setEarlier passes the earlier decisions of placement to the fleet. If they can't be read, it refuses a fleet that
// keeps its decisions.
func setEarlier(f *fleet.Fleet, p *Prior, s *State) problem.Problems {
	if p == nil || !schedule.Places(f) {
		return nil
	}
	earlier, known := s.Earlier()
	switch {
	case known:
		f.Earlier = earlier
	case p.Commit != "" && schedule.KeepsEarlier(f):
		return problem.Problems{{
			Summary: "Earlier placement decisions can't be read",
			Detail: "The private state of the rendering is missing, or another version of the provider wrote it. Without the " +
				"earlier decisions, placement would decide again and move deployment targets. Plan with a refresh, which reads " +
				"them from the record on the branch. If that does not help, remove the rendering from the state with \"terraform " +
				"state rm\" and import it.",
		}}
	default:
		f.Earlier = placement.Earlier{Placed: p.Placed}
	}
	return nil
}

// Earlier returns the placement decisions of the last delivery, and whether s knows them. A state of another version
// does not know them. The state of a rendering that is only computed does.
func (s *State) Earlier() (e placement.Earlier, known bool) {
	if s == nil || s.Version != stateVersion || s.Engine != engineVersion {
		return e, false
	}
	existing := s.Delivered
	if s.BaselineUnknown() {
		existing = s.Ours()
	}
	return placement.Earlier{Decisions: s.Decisions, Placed: existing.Placed()}, true
}

// decisionsKnown reports whether no decision depends on values that are not known yet.
func (r *Rendered) decisionsKnown() bool {
	if r.Tree.Schedule == nil {
		return true
	}
	_, all := r.Tree.Schedule.Known()
	return all && r.Tree.Schedule.DecisionsKnown()
}

// desiredDecisions returns the decisions that were last delivered or proposed.
func desiredDecisions(s *State) placement.Decisions {
	if s == nil {
		return nil
	}
	if s.Proposal != nil {
		return s.Proposal.Head.Decisions
	}
	return s.Decisions
}

// decisionsChanged reports whether the decisions differ from those that were last delivered or proposed.
func (decision *Decision) decisionsChanged() bool {
	t, s := decision.Applied, decision.Before
	return t.Known() && !t.Tree.Unknown && t.decisionsKnown() && s != nil &&
		!t.decisions.Equal(desiredDecisions(s))
}

// checkDecisions returns a *DecisionsError if the state does not know the decisions in the record, and the tree was
// rendered with others. Adopting it would move targets.
func (c *comparison) checkDecisions() error {
	if c.before.Current() || c.branch.Record == nil || len(c.branch.Record.Decisions) == 0 {
		return nil
	}
	if !c.decisionsKnown() || c.decisions.Equal(c.branch.Record.Decisions) {
		return nil
	}
	return &DecisionsError{c.Destination, c.Environment}
}

// DecisionsError says that the destination contains a rendering that the state does not know, with other decisions of
// placement.
type DecisionsError struct {
	Destination record.Destination
	Environment string
}

// Error implements error.
func (e *DecisionsError) Error() string {
	return fmt.Sprintf(
		"At %s, the record %s contains placement decisions that the state does not know. Placement decided without them, so "+
			"the apply would move deployment targets.",
		e.Destination,
		e.Destination.RecordPath(),
	)
}

// Move is a deployment target that leaves some cluster types while it joins others.
type Move struct {
	Target    string
	From, To  []string
	Remaining []string // the cluster types that it stays on
}

// MovesError means that deployment targets move between cluster types, and that the guardrails refuse that.
type MovesError struct {
	Moves   []Move
	Renamed []string // folders of cluster types with a new name: old → new
	InWaves bool     // a rollout commits the moves wave by wave
}

// Error implements error.
func (e *MovesError) Error() string {
	return problem.Count(len(e.Moves), "deployment target") + " would move between cluster types"
}

// Moves returns the deployment targets that the fleet's tree moves, by name. With a rollout, a target may leave with
// one wave and join with a later one, so Moves looks beyond this apply. It skips those that are not known yet.
func (decision *Decision) moves() (all []Move) {
	t, s := decision.Applied, decision.Before
	if t.Tree == nil || s == nil {
		return nil
	}
	wanted := t.Target()
	joins := func(ct describe.ClusterType) bool { return len(ct.Added) > 0 }
	if !slices.ContainsFunc(s.Delivered.ChangesTo(wanted), joins) {
		return nil // at the least cost, for most changes
	}
	after := wanted.Placed()
	undecided := func(name string) bool { return wanted[name].Undecided }
	before := s.Delivered.Placed()
	for target, existing := range before {
		is, ok := after[target]
		if !ok || slices.Equal(is, existing) {
			continue
		}
		m := Move{
			Target: target,
			To:     sets.Without(is, existing),
			From:   slices.DeleteFunc(sets.Without(existing, is), undecided),
		}
		if len(m.From) > 0 && len(m.To) > 0 {
			m.Remaining = sets.Without(existing, m.From)
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Move) int { return strings.Compare(a.Target, b.Target) })
	return all
}

// renamedClusterTypes describes the cluster types that are gone while a new one has the same deployment targets.
func (decision *Decision) renamedClusterTypes() (lines []string) {
	t, s := decision.Applied, decision.Before
	names := func(f inventory.Folder) (all []string) {
		for _, t := range f.Targets {
			all = append(all, t.Name)
		}
		return all
	}
	wanted := t.Target()
	for _, was := range s.Delivered.Names() {
		if _, stays := wanted[was]; stays || len(s.Delivered[was].Targets) == 0 {
			continue
		}
		for _, is := range wanted.Names() {
			if _, old := s.Delivered[is]; !old && slices.Equal(names(s.Delivered[was]), names(wanted[is])) {
				lines = append(lines, fmt.Sprintf("%s → %s", t.Destination.Join(was), t.Destination.Join(is)))
				break
			}
		}
	}
	return lines
}
