package delivery

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Plan says what the apply of a rendering does, and why. It is one of [*Rest], [*Withhold], [*Keep],
// [*Undecided], [*RemoveOld] and [*Write].
//
// A plan depends on the rendered fleet, the state, and the branch as the last run read it. Package remote applies the
// same rules to the branch that it reads: see [Comparison]. No later step changes a plan.
type Plan interface {
	// All returns the common part of all plans.
	All() *Basis
	isPlan()
}

func (*Rest) isPlan()      {}
func (*Withhold) isPlan()  {}
func (*Keep) isPlan()      {}
func (*Undecided) isPlan() {}
func (*RemoveOld) isPlan() {}
func (*Write) isPlan()     {}

// Basis is the common part of all plans.
type Basis struct {
	*Situation
	// Next is the tree that the apply leaves at the destination.
	Next *NextTree
	// Reasons say why, without a full stop, such as "the folder large changes".
	Reasons []string
	// Withheld is the reason why the open pull request must not be merged now; "": it may be.
	Withheld string
	// Drift lists the branches with foreign changes: the destination, and the branch of the pull request. A Write
	// overwrites these changes, an Undecided may, and a Rest only names those of the destination.
	Drift []*State
	// Accepted lists the changes that a check would refuse, but accepted_changes allows.
	Accepted []ChangeID
	// Unproven says why a gate of the promoted commit is closed. It is set only if the rendering never promoted before
	// and takes the commit from the record on the branch.
	Unproven string
	// Errors are the reasons why the apply would fail, as far as the state shows.
	Errors []error
}

// All returns b.
func (b *Basis) All() *Basis { return b }

// Rest writes nothing, whatever the fleet renders to, because a [Stop] lets nothing go. Everything stays as it is. A
// create delivers nothing.
type Rest struct {
	Basis
	// Waiting maps each cluster type to the change that waits, as far as it is known.
	Waiting map[string]string
}

// Withhold writes nothing to any branch. It makes the open pull request a draft, which must not be merged now, for the
// reason in Withheld.
type Withhold struct {
	Basis
	// Waiting maps each cluster type to the change that waits, as far as it is known.
	Waiting map[string]string
}

// Keep writes nothing: the delivered or proposed tree is the desired one.
type Keep struct {
	Basis
}

// Undecided depends on unknown values. The apply decides once it knows them.
type Undecided struct {
	Basis
	Effects
}

// RemoveOld writes nothing to the destination, which contains the tree already. It opens pull requests that remove the
// folders at old locations, and closes those for locations that stay.
type RemoveOld struct {
	Basis
	Removed, Kept []destination.Destination
}

// Write delivers the tree to its branch, or proposes it in a pull request. With the strategy none, it changes the state
// only.
type Write struct {
	Basis
	Effects
	// Described says how much package describe can show. Partial: only the trees before and after the apply.
	Described inventory.Known
}

// Effects are the effects of an apply that writes, or that may write.
type Effects struct {
	// Adoption lists the foreign folders that the rendering adopts.
	Adoption Adoption
	// Warnings are changes that a guardrail allows: moves between cluster types, and cluster types that lose all their
	// deployment targets.
	Warnings []*Refusal
	// Replaced is the environment whose rendering this one replaces. It is empty if there is none.
	Replaced string
	// Left lists the trees and pull requests that stay at locations that the rendering leaves.
	Left Left
}

// Left lists the trees and pull requests that an apply leaves behind.
type Left struct {
	// Trees are the destinations that keep a delivered tree once the rendering is only computed, and PullRequest is the
	// pull request that stays open, or 0.
	Trees       []destination.Destination
	PullRequest int
	// Pending are the old locations that a later apply removes, once the destination contains the tree.
	Pending []destination.Destination
	// Paths lists the paths that a move leaves at the old location. It is "" if no path remains.
	Paths string
}

// Writes reports whether the apply of a plan writes the tree, or may.
func Writes(p Plan) bool {
	switch p.(type) {
	case *Write, *Undecided:
		return true
	}
	return false
}

// EffectsOf returns the effects of a plan. A plan that writes nothing has none.
func EffectsOf(p Plan) *Effects {
	switch p := p.(type) {
	case *Write:
		return &p.Effects
	case *Undecided:
		return &p.Effects
	}
	return &Effects{}
}

// Waiting returns the changes that wait while a [Stop] lets nothing go, by cluster type.
func Waiting(p Plan) map[string]string {
	switch p := p.(type) {
	case *Rest:
		return p.Waiting
	case *Withhold:
		return p.Waiting
	}
	return nil
}

// Refused returns the IDs of the errors that accepted_changes can allow: refusals, and foreign changes that must not be
// overwritten.
func (b *Basis) Refused() (ids []ChangeID) {
	for _, err := range b.Errors {
		if id := Acceptable(err); id != "" {
			ids = append(ids, id)
		}
	}
	for _, s := range b.Drift {
		if b.Stop == nil && b.Args.ReactionTo(s) == drift.Fail {
			ids = append(ids, DriftID(s))
		}
	}
	return ids
}

// AllAcceptable reports whether accepted_changes can allow all of Errors.
func (b *Basis) AllAcceptable() bool {
	return !slices.ContainsFunc(b.Errors, func(err error) bool { return Acceptable(err) == "" })
}

// because returns a copy of the basis with another reason.
func (b *Basis) because(reason string) Basis {
	now := *b
	now.Reasons = []string{reason}
	return now
}

func (b *Basis) addError(err error) {
	if err != nil {
		b.Errors = append(b.Errors, err)
	}
}

// PlannedClearSecrets is [CheckClearSecrets] for the tree that the apply writes.
func PlannedClearSecrets(p Plan) problem.Problems {
	if !Writes(p) {
		return nil
	}
	b := p.All()
	return CheckClearSecrets(b.Next.Rendered, b.Found)
}

// ContactsNoServer reports whether the apply of a plan contacts no server. It may still store facts in private state.
func ContactsNoServer(p Plan) bool {
	switch p := p.(type) {
	case *Keep:
		return true
	case *Rest:
		return p.Prior != nil
	}
	return false
}

// NamesUnscheduled reports whether the plan names all deployment targets that no policy places, since they leave their
// last cluster types.
func NamesUnscheduled(p Plan) bool {
	b := p.All()
	names := func(e *Refusal) bool {
		return e.Kind == Orphaned && len(e.Names) == len(b.Next.Rendered.Unscheduled())
	}
	return slices.ContainsFunc(EffectsOf(p).Warnings, names) || slices.ContainsFunc(b.Errors, func(err error) bool {
		e, refused := errors.AsType[*Refusal](err)
		return refused && names(e)
	})
}

// Delayed reports whether the apply writes nothing because a pause, closed windows or an earlier wave delay the change.
func Delayed(p Plan) bool {
	switch p.(type) {
	case *Keep, *Withhold:
	default:
		return false
	}
	b := p.All()
	return b.Next.Step != nil && b.Next.Step.Paused != "" || b.Next.Withheld != ""
}

// CheckWindow returns a *[windows.ClosedError] if the apply would promote another commit or write a wave, but the
// window of its plan has closed.
func CheckWindow(p Plan, now time.Time) error {
	write, ok := p.(*Write)
	if !ok || !write.Args.Delivers() {
		return nil
	}
	if err := write.Args.Promotion.CheckWindow(now); err != nil || write.Next.Step == nil {
		return err
	}
	return windows.CheckOpen(write.Next.Step.OpenUntil, now, "rollout")
}

// Summary returns a line for each cluster type of a tree, such as "+1 -0 ~3, 16 targets, tree 8042707eec4d": the
// changes of the folder when it last changed, the number of its deployment targets, and its hash. last contains the
// lines after the last apply. The line of an unchanged folder stays, so a plan shows exactly the cluster types that
// change. A line has no changes if the state does not contain the last tree, as for a create: the branch may contain
// the folder already. A line is [unknown.Text] if the folder is not known yet.
func (s *Situation) Summary(t *NextTree, last map[string]string) map[string]string {
	var changes map[string]string
	if before := s.State.LastFolders(); before != nil && s.State.Known() != inventory.Partial {
		changes = inventory.Changes(before, t.Folders)
	}
	return t.Folders.Summary(changes, last)
}

// Reason says in one line what the apply of a plan does, and why, such as "writes: the folder large changes; the
// promoted commit changes from 1 to 2".
func Reason(p Plan) string {
	does := "writes"
	switch p.(type) {
	case *Rest:
		does = "stops"
	case *Withhold:
		does = "makes the pull request a draft"
	case *Keep:
		does = "nothing to do"
	case *Undecided:
		does = "undecided"
	case *RemoveOld:
		does = "removes old locations"
	}
	return does + ": " + strings.Join(p.All().Reasons, "; ")
}
