package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// AppliedTree is the tree that one apply leaves at the destination, with its record. It is the fleet's tree, unless a
// stage commits only a part of that. Attributes, ownership, drift, description, pull request and record all use this
// tree. It is never modified.
type AppliedTree struct {
	*Rendered
	kept      *keptTree // nil if nothing fails to render
	inventory inventory.Folders
	// uncertain says that the inventory depends on values that are not known yet, or on a branch that was not read.
	// Then it is the fleet's. unread says that the state does not contain the tree of the branch.
	uncertain, unread bool
	// step is the step of the rollout that the apply takes; nil: none.
	step *rollout.Step
	// complete says that the inventory is the fleet's tree.
	complete bool
	// promotedCommit is the commit that the record names until the inventory is complete.
	promotedCommit string
	// rollout is the progress of the rollout after the apply; nil: none was begun. begun says that this apply began it.
	rollout *rollout.StoredProgress
	begun   bool
	// withheld says why the pull request that proposes the tree must not be merged now; "": it may be.
	withheld string
}

// newAppliedTree returns the tree that an apply leaves at the destination, as far as the state shows. p is nil for a
// create. s is nil if no private state can be read.
func newAppliedTree(r *Rendered, p *Prior, s *State) *AppliedTree {
	whole := AppliedTree{Rendered: r, complete: true}
	if r.Tree == nil {
		return &whole
	}
	var unread bool
	whole.kept, unread = r.keep(p, s)
	whole.inventory = whole.Target()
	incomplete := whole.kept != nil && whole.kept.incomplete
	unknownStep := whole
	unknownStep.uncertain, unknownStep.complete, unknownStep.step = true, false, &rollout.Step{Uncertain: true}
	next := &whole
	switch {
	case r.PromotionUnknown: // it may be frozen
		next = &unknownStep
	case !r.inWaves():
		next.uncertain, next.unread = unread, unread
	case unknown.Is(string(r.Strategy)):
		next = &unknownStep
	case unread || !s.Current() && (r.mayAdopt() || r.Incomplete || recovers(p, s)):
		next = &unknownStep
		next.unread = true
	case s.Current():
		next = nextTree(&whole, s)
	default:
		next = nextWave(&whole, &State{})
	}
	next.unread = next.unread || incomplete
	return next
}

// on returns the tree that the apply leaves on a branch that was read, if the state does not contain that branch's
// tree.
func (t *AppliedTree) on(s *State, at *BranchState) *AppliedTree {
	if !t.unread {
		return t
	}
	whole := AppliedTree{Rendered: t.Rendered, kept: keptOn(t, s, at), complete: true, unread: true}
	whole.inventory = whole.Target()
	switch {
	case !t.inWaves():
		return &whole
	case s.Current():
		return nextTree(&whole, s)
	}
	found := &State{
		Delivered: at.Folders.Only(
			sets.Union(sets.Union(at.RecordedFolders(), at.OperatorFolders), whole.Target().Names()),
		),
	}
	found.PromotedCommit, found.Rollout = at.promotedCommit(), RolloutOf(at.Record, time.Time{})
	found.Seen.Folders = found.Delivered
	found.Seen.Record = &record.Record{ClusterTypes: found.Delivered.Names()}
	return nextWave(&whole, found)
}

// Target returns the tree that the fleet renders to, with the folders that the branch keeps of failing deployment
// targets.
func (t *AppliedTree) Target() inventory.Folders {
	if t.kept != nil {
		return t.kept.inventory
	}
	return t.Rendered.inventory
}

// Inventory returns the folders of the tree.
func (t *AppliedTree) Inventory() inventory.Folders { return t.inventory }

// Known reports whether the tree is known to the last file.
func (t *AppliedTree) Known() bool {
	switch {
	case t.Tree == nil || !t.Certain():
		return false
	case t.complete:
		return targetKnown(t)
	}
	for _, folder := range t.inventory {
		if folder.Unknown {
			return false
		}
	}
	return true
}

// Certain reports whether it is known which folders the tree takes from the fleet.
func (t *AppliedTree) Certain() bool {
	if t.Tree == nil {
		return t.Rollout == nil || t.Strategy == strategy.None
	}
	return !t.uncertain
}

// targetKnown reports whether the target is known to the last file.
func targetKnown(t *AppliedTree) bool {
	return !t.Tree.Unknown && (t.kept == nil || !t.kept.incomplete)
}

// TargetTreeHash returns the hash of the target, or "" if it is not known yet.
func (t *AppliedTree) TargetTreeHash() string {
	if t.Tree == nil || !targetKnown(t) {
		return ""
	}
	return t.Target().TreeHash().String()
}

// AppliedPromotedCommit returns the promoted commit that the record names after this apply: with a rollout, it moves
// with the last wave.
func (t *AppliedTree) AppliedPromotedCommit() string {
	if !t.complete {
		return t.promotedCommit
	}
	return t.Promotion.Commit
}

// Complete reports whether the apply leaves the tree that the fleet renders to.
func (t *AppliedTree) Complete() bool { return t.complete }

// RolloutStatus returns the stage and the wave of the last commit after this apply, or "" if there is none.
func (t *AppliedTree) RolloutStatus() string { return t.rollout.Status() }

// inWaves reports whether a rollout brings the tree to a branch.
func (a *Arguments) inWaves() bool { return a.Rollout != nil && a.Strategy != strategy.None }

// recovers reports whether the last delivery has to be read from the branch.
func recovers(p *Prior, s *State) bool {
	return p != nil && p.TreeHash != "" && (s == nil || s.Seen.Head != "")
}

// nextTree returns the tree that a pull request already proposes, or the one after the next wave.
func nextTree(t *AppliedTree, s *State) *AppliedTree {
	next := nextWave(t, s)
	proposed := proposedTree(t, s)
	if proposed == nil {
		return next
	}
	switch step := next.step; {
	case step.Uncertain:
	case step.Paused != "":
		proposed.step, proposed.withheld = step, "The rollout is paused: "+problem.EndSentence(step.Paused)
	case len(step.Taken) == 0 && len(step.Waiting)+len(step.Stopped) > 0:
		proposed.step = step
		proposed.withheld = fmt.Sprintf("An earlier wave of the rollout is not current, in stage %q.",
			printable.Line(step.Stage))
	}
	return proposed
}

// proposedTree returns the tree that a pull request proposes on the way to the same target, or nil if there is none. A
// new observation does not change an open pull request. A pull request that people closed stops the rollout.
func proposedTree(t *AppliedTree, s *State) *AppliedTree {
	if s.Proposal == nil || s.Proposal.Head.Rollout == nil || t.TargetTreeHash() == "" || t.Rollout.SkipUnknown {
		return nil
	}
	head, target := s.Proposal.Head, t.TargetTreeHash()
	r := head.Rollout
	switch {
	case r.TargetTreeHash != target || !t.Updates(s):
		return nil
	case r.Complete && head.PromotedCommit != t.Promotion.Commit:
		return nil
	case !r.Complete && t.Rollout.Skip == target:
		return nil
	}
	step := &rollout.Step{Stage: r.Stage}
	if s.Proposal.Open() && s.Proposal.Withheld == "" {
		step.Waiting = []string{
			fmt.Sprintf("pull request %d, which proposes the wave, is not merged yet", s.Proposal.Number),
		}
	}
	proposed := *t
	proposed.inventory, proposed.step, proposed.complete = head.Delivered, step, r.Complete
	proposed.promotedCommit, proposed.rollout = head.PromotedCommit, r
	return &proposed
}

// nextWave returns the tree after the next wave.
func nextWave(t *AppliedTree, s *State) *AppliedTree {
	delivered, seen := maps.Clone(t.baseline(s)), s.Ours()
	for name, folder := range delivered {
		if folder.Hash == (tree.Hash{}) { // of a state that was recovered in part
			if delivered[name] = seen[name]; seen[name].Hash == (tree.Hash{}) {
				delete(delivered, name)
			}
		}
	}
	labels := map[string]map[string]string{}
	for _, ct := range t.Fleet.ClusterTypes {
		labels[ct.Name] = ct.Labels
	}
	target := map[string]rollout.RenderedFolder{}
	for name, folder := range t.Target() {
		target[name] = rollout.RenderedFolder{
			Hash: folder.Hash.String(), Assignments: len(folder.Targets), Unknown: folder.Unknown, Labels: labels[name],
		}
	}
	step := t.Rollout.Next(rollout.Situation{
		Target: target, TargetTreeHash: t.TargetTreeHash(), PromotedCommit: t.Promotion.Commit,
		Rollback:  t.Promotion.Decision == promotion.Rollback,
		Delivered: delivered.HashTexts(), Seen: seen.HashTexts(), Before: s.Rollout,
	})
	next := *t
	next.uncertain, next.step, next.complete = step.Uncertain, step, step.Complete()
	next.promotedCommit, next.rollout, next.begun = s.PromotedCommit, step.After, step.After != s.Rollout
	if len(step.Stay) > 0 {
		next.inventory = maps.Clone(t.inventory)
		for _, name := range step.Stay {
			if folder, existing := delivered[name]; existing {
				next.inventory[name] = folder
			} else {
				delete(next.inventory, name)
			}
		}
	}
	return &next
}

// RolloutAfter returns the progress of the rollout once the branch contains the tree of this apply. written says that a
// commit was made.
func (t *AppliedTree) RolloutAfter(written bool) *rollout.StoredProgress {
	if t.rollout == nil || !written && !t.begun {
		return t.rollout
	}
	now := *t.rollout
	now.At = t.Author.When
	return &now
}

// RolloutOf returns the rollout that a record describes, or nil if it describes none. at is the time of its commit, or
// later.
func RolloutOf(r *record.Record, at time.Time) *rollout.StoredProgress {
	if r == nil || r.Rollout == nil {
		return nil
	}
	return &rollout.StoredProgress{Progress: *r.Rollout, At: at}
}

// WithTarget returns s whose proposal names the hash of another target: of the tree that the fleet renders to now.
// Nothing else of the proposal changes.
func (s *State) WithTarget(target string) *State {
	if s == nil || s.Proposal == nil || s.Proposal.Head.Rollout == nil || target == "" {
		return s
	}
	now, proposal, head, r := *s, *s.Proposal, *s.Proposal.Head, *s.Proposal.Head.Rollout
	r.TargetTreeHash, head.Rollout, proposal.Head, now.Proposal = target, &r, &head, &proposal
	return &now
}

// ReachedBy reports whether the branch of a state contains what the fleet renders to.
func (t *AppliedTree) ReachedBy(s *State) bool {
	return s.Current() && s.Proposal == nil && !s.Drifted() && t.complete
}

// Partial reports whether the tree is known to contain only a part of the fleet's cluster types, each with all its
// targets.
func (t *AppliedTree) Partial() bool {
	if t.Tree == nil || !t.Certain() || t.complete {
		return false
	}
	for _, folder := range t.inventory {
		if folder.Undecided {
			return false
		}
	}
	return true
}

// Stored returns the folders of the tree that the fleet does not render to: only the repo contains their
// content.
func (t *AppliedTree) Stored() []string {
	var names []string
	for name, folder := range t.inventory {
		if target, ok := t.Target()[name]; !ok || target.Hash != folder.Hash {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// mayStay returns why folders can't stay as they were delivered, or nil: another repo does not contain them.
func (c *comparison) mayStay() error {
	if !c.Moves(c.before) || giturl.Same(c.before.Destination.Repo, c.Destination.Repo) {
		return nil
	}
	if names := c.Stored(); len(names) > 0 {
		return &RolloutMoveError{From: c.before.Destination, Folders: names, Target: c.TargetTreeHash()}
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

// recordOn returns the record to write to a branch. Failures to render keep their time.
func (t *AppliedTree) recordOn(at *BranchState) record.Record {
	r := t.record()
	r.SetSince(at.Record, t.Author.When)
	r.SetPromotion(t.Promotion, at.Record)
	return r
}

func (t *AppliedTree) record() record.Record {
	r := record.New(t.Environment, t.inventory.Names(), t.AppliedPromotedCommit(), t.Origins, t.Sources)
	r.Decisions = t.decisions
	r.Rollout = t.rollout.Record()
	r.Promotion = t.Promotion.Reason
	if k := t.kept; k != nil && t.Delivers() {
		r.Kept, r.LeftOut = slices.Clone(k.kept), slices.Clone(k.leftOut)
		r.LeftOut = slices.DeleteFunc(r.LeftOut, func(f record.FailedAssignment) bool {
			return f.ClusterType == "" // unbounded
		})
	}
	return r
}
