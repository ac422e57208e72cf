package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// TargetMove is a deployment target that leaves some cluster types while it joins others.
type TargetMove struct {
	Target   string
	From, To []string
}

// targetMoves returns the deployment targets that the fleet's tree moves, by name. With a rollout, a target may leave
// in one wave and join in a later one, so targetMoves looks beyond this apply. It skips targets that are not known yet.
func targetMoves(t *NextTree, s *State) (all []TargetMove) {
	if t.Rendered.Tree == nil || s == nil {
		return nil
	}
	wanted := t.Target()
	joins := func(ct inventory.ClusterType) bool { return len(ct.Added) > 0 }
	if !slices.ContainsFunc(s.Delivered.ChangesTo(wanted), joins) {
		return nil // at the least cost, for most changes
	}
	after := wanted.Placed()
	undecided := func(name string) bool { return wanted[name].Known == inventory.Unread }
	before := s.Delivered.Placed()
	for target, existing := range before {
		is, ok := after[target]
		if !ok || slices.Equal(is, existing) {
			continue
		}
		m := TargetMove{
			Target: target,
			To:     sets.Without(is, existing),
			From:   slices.DeleteFunc(sets.Without(existing, is), undecided),
		}
		if len(m.From) > 0 && len(m.To) > 0 {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b TargetMove) int { return strings.Compare(a.Target, b.Target) })
	return all
}

// RenamedTargets describes the removed cluster types whose deployment targets a new cluster type has.
func RenamedTargets(t *NextTree, s *State) (lines []string) {
	wanted := t.Target()
	for _, was := range s.Delivered.Names() {
		if _, stays := wanted[was]; stays || len(s.Delivered[was].Targets) == 0 {
			continue
		}
		for _, is := range wanted.Names() {
			if _, old := s.Delivered[is]; !old && slices.Equal(s.Delivered[was].Names(), wanted[is].Names()) {
				lines = append(lines, fmt.Sprintf("%s → %s", t.Args.Destination.Join(was), t.Args.Destination.Join(is)))
				break
			}
		}
	}
	return lines
}

// CheckMoves returns the moves of deployment targets between cluster types as a warning, or as an error if the
// guardrails forbid them, and accepted_changes does not allow these moves. If it does, CheckMoves adds their ID to
// used.
func CheckMoves(t *NextTree, s *State, used *[]ChangeID) (warnings []*Refusal, err error) {
	moves := targetMoves(t, s)
	if len(moves) == 0 {
		return nil, nil
	}
	e := movesTargets(moves, RenamedTargets(t, s), t.Args.Rollout != nil)
	return e.react(t.Args.Guardrails.Moved, func() error {
		return e.unlessAccepted(t.Args, used, IDMoved, s.LastRead.Head)
	})
}

// movesTargets refuses moves of deployment targets between cluster types. renamed lists the folders of cluster types
// with a new name: old → new. inWaves says that a rollout commits the moves wave by wave.
func movesTargets(moves []TargetMove, renamed []string, inWaves bool) *Refusal {
	lines := lists.Map(moves, func(m TargetMove) string {
		return fmt.Sprintf("%s: from %s to %s", m.Target, strings.Join(m.From, ", "), strings.Join(m.To, ", "))
	})
	when := "Clusters follow the commit at their own pace, so a target may be nowhere for a while."
	if inWaves {
		when = "Each happens with the wave of its cluster type. A target that leaves with an early wave and joins with a " +
			"late one is nowhere in between."
	}
	advice := "To move in two steps, select both cluster types, or raise number_of_cluster_types. Apply, wait until the " +
		"clusters report the new one, and then let the target leave the old one."
	if len(renamed) > 0 {
		advice += "\nThese folders have other names now:\n" + problem.IndentedList(renamed, problem.MaxListed) +
			"\nClusters that sync from the old folder delete its objects, and they do not know the new one. Point them " +
			"at the new folder first, while there are both cluster types."
	}
	stake := lists.Map(moves, func(m TargetMove) string { return fmt.Sprint(m.Target, m.From, m.To) })
	return &Refusal{Kind: TargetsMove, stake: stake, Reason: fmt.Sprintf("%s while joining others:\n%s\n%s %s",
		problem.OneOrMany(len(moves), "1 deployment target leaves cluster types",
			"%d deployment targets leave cluster types"),
		problem.IndentedList(lines, problem.MaxListed), when, advice)}
}

// checkPendingWaves returns an error if folders can't stay as delivered: the rendering moves to another repo during a
// rollout, and only the old repo contains the folders whose wave has not come yet.
func (c *Comparison) checkPendingWaves() error {
	if !c.Case.moves() || giturl.Same(c.Before.Destination.Repo, c.Next.Args.Destination.Repo) {
		return nil
	}
	names, skip := c.Next.Stored(), ""
	if len(names) == 0 {
		return nil
	}
	if target := c.Next.TargetTreeHash(); target != "" {
		skip = fmt.Sprintf(", or set rollout.skip = %q", target)
	}
	return &Refusal{Kind: InRollout, Reason: fmt.Sprintf(
		"The rendering moves to another repo, and %s contains folders that no wave has reached yet: %s. Finish the rollout "+
			"first%s.", c.Before.Destination, strings.Join(names, ", "), skip)}
}
