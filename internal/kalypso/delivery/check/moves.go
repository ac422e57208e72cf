package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish/accepted"
	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Move is a deployment target that leaves some cluster types while it joins others.
type Move struct {
	Target   string
	From, To []string
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

// Moves returns the deployment targets that the fleet's tree moves, by name. With a rollout, a target may leave in one
// wave and join in a later one, so Moves looks beyond this apply. It skips targets that are not known yet.
func Moves(t *next.Next, s *past.State) (all []Move) {
	if t.Rendered.Tree == nil || s == nil {
		return nil
	}
	wanted := t.Target()
	joins := func(ct describe.ClusterType) bool { return len(ct.Added) > 0 }
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
		m := Move{
			Target: target,
			To:     sets.Without(is, existing),
			From:   slices.DeleteFunc(sets.Without(existing, is), undecided),
		}
		if len(m.From) > 0 && len(m.To) > 0 {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Move) int { return strings.Compare(a.Target, b.Target) })
	return all
}

// Renamed describes the removed cluster types whose deployment targets a new cluster type has.
func Renamed(t *next.Next, s *past.State) (lines []string) {
	wanted := t.Target()
	for _, was := range s.Delivered.Names() {
		if _, stays := wanted[was]; stays || len(s.Delivered[was].Targets) == 0 {
			continue
		}
		for _, is := range wanted.Names() {
			if _, old := s.Delivered[is]; !old && slices.Equal(s.Delivered[was].Names(), wanted[is].Names()) {
				lines = append(lines, fmt.Sprintf("%s → %s", t.Wish.Destination.Join(was), t.Wish.Destination.Join(is)))
				break
			}
		}
	}
	return lines
}

// Moved returns an error if the guardrails forbid moves of deployment targets between cluster types, unless
// accepted_changes allows these moves. Then it adds their ID to used.
func Moved(t *next.Next, s *past.State, moves []Move, renamed []string, used *[]accepted.ID) error {
	if t.Wish.Guardrails.Moved != problem.Fail {
		return nil
	}
	stake := []string{t.Wish.Destination.String(), s.LastRead.Head}
	for _, m := range moves {
		stake = append(stake, fmt.Sprint(m.Target, m.From, m.To))
	}
	err := &MovesError{moves, renamed, t.Wish.Rollout != nil}
	return t.Wish.AcceptedChanges.Refuse(err, used, accepted.Moved, stake...)
}

// checkKept returns an error if folders can't stay as delivered, because the rendering moves to a repo without them.
func (c *Comparison) checkKept() error {
	if !c.Next.Wish.Moves(c.Before) || giturl.Same(c.Before.Destination.Repo, c.Next.Wish.Destination.Repo) {
		return nil
	}
	if names := c.Next.Stored(); len(names) > 0 {
		return &RolloutMoveError{From: c.Before.Destination, Folders: names, Target: c.Next.TargetTreeHash()}
	}
	return nil
}

// RolloutMoveError means that a rendering moves to another repo during a rollout. Only the old repo contains the
// folders whose wave has not come yet.
type RolloutMoveError struct {
	From    record.Destination
	Folders []string
	Target  string // the tree that the fleet renders to; "": not known yet
}

// Error implements error.
func (e *RolloutMoveError) Error() string {
	skip := ""
	if e.Target != "" {
		skip = fmt.Sprintf(", or set rollout.skip = %q", e.Target)
	}
	return fmt.Sprintf("the rendering moves to another repo, and %s contains folders that no wave has reached yet: %s. "+
		"Finish the rollout first%s.", e.From, strings.Join(e.Folders, ", "), skip)
}
