package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// applyTree is the tree of this apply: what it leaves at the destination, and what the record says of it. It is the
// fleet's tree, unless a stage commits a part of that alone.
type applyTree struct {
	inventory Inventory
	// uncertain says that the inventory depends on values that are not known yet. Then it is the fleet's. Until the branch
	// is read, unread says so.
	uncertain, unread bool
	// step is the step of the rollout that the apply takes; nil: none.
	step *rollout.Step
	// complete says that the inventory is the fleet's tree.
	complete bool
	// promotedCommit is the commit that the record names until the inventory is complete.
	promotedCommit string
	// rollout is the progress of the rollout after the apply; nil: none was begun. begun says that this apply began it.
	rollout *rollout.State
	begun   bool
	// withheld says why the pull request that proposes the tree must not be merged now; "": it may be.
	withheld string
}

// rendered returns the tree that the fleet renders to, without the deployment targets that fail.
func (d *Desired) rendered() Inventory {
	if d.Tree == nil {
		return nil
	}
	if d.inventory == nil || d.inventoryOf != d.Tree {
		d.inventory, d.inventoryOf = InventoryOf(d.Tree), d.Tree
	}
	return d.inventory
}

// Target returns the tree that the fleet renders to, with what the branch keeps of the deployment targets that fail.
func (d *Desired) Target() Inventory {
	if k := d.keptTree(); k != nil {
		return k.inventory
	}
	return d.rendered()
}

// Inventory returns the tree of this apply: what it leaves at the destination. All that follows (attributes, ownership,
// drift, description, pull request, record) sees this one alone.
func (d *Desired) Inventory() Inventory { return d.applied().inventory }

// applied returns the tree of this apply. Until [Decide] has found it, that is the fleet's tree.
func (d *Desired) applied() *applyTree {
	if d.apply == nil || d.applyOf != d.Tree {
		d.setApply(d.wholeTree())
	}
	return d.apply
}

func (d *Desired) setApply(a *applyTree) { d.apply, d.applyOf = a, d.Tree }

func (d *Desired) wholeTree() *applyTree { return &applyTree{inventory: d.Target(), complete: true} }

// Known reports whether the tree of this apply is known to the last file.
func (d *Desired) Known() bool {
	switch {
	case d.Tree == nil || !d.Certain():
		return false
	case d.Complete():
		return d.targetKnown()
	}
	for _, folder := range d.Inventory() {
		if folder.Unknown {
			return false
		}
	}
	return true
}

// Certain reports whether it is known which folders the tree of this apply takes from the fleet.
func (d *Desired) Certain() bool {
	if d.Tree == nil {
		return d.Rollout == nil || d.Strategy == ComputeOnly
	}
	return !d.applied().uncertain
}

// targetKnown reports whether the target is known to the last file.
func (d *Desired) targetKnown() bool {
	k := d.keptTree()
	return !d.Tree.Unknown && (k == nil || !k.incomplete)
}

// TargetTreeHash returns the hash of the target, or "" if it is not known yet.
func (d *Desired) TargetTreeHash() string {
	if d.Tree == nil || !d.targetKnown() {
		return ""
	}
	return d.Target().TreeHash().String()
}

// AppliedPromotedCommit returns the promoted commit that the record names after this apply: with a rollout, it moves
// with the last wave.
func (d *Desired) AppliedPromotedCommit() string {
	if a := d.applied(); !a.complete {
		return a.promotedCommit
	}
	return d.Promotion.Commit
}

// Complete reports whether the apply leaves the tree that the fleet renders to.
func (d *Desired) Complete() bool { return d.applied().complete }

// RolloutStatus returns the stage and the wave of the last commit after this apply, or "" if there is none.
func (d *Desired) RolloutStatus() string { return d.applied().rollout.Status() }

// resolve finds the tree of this apply. p is nil for a create. s is nil if no private state can be read.
func (d *Desired) resolve(p *Prior, s *State) {
	d.setApply(nil)
	unread := d.resolveKept(p, s)
	switch {
	case d.Tree == nil:
		return
	case d.PromotionUnknown: // it may be frozen
		d.setApply(&applyTree{inventory: d.Target(), uncertain: true, step: &rollout.Step{Uncertain: true}})
	case !d.inWaves():
		d.setApply(d.wholeTree())
		d.apply.uncertain, d.apply.unread = unread, unread
	case unknown.Is(string(d.Strategy)):
		d.setApply(&applyTree{inventory: d.Target(), uncertain: true, step: &rollout.Step{Uncertain: true}})
	case unread || !s.Current() && (d.Adopt || d.Incomplete || d.recovers(p, s)):
		d.setApply(&applyTree{inventory: d.Target(), uncertain: true, unread: true, step: &rollout.Step{Uncertain: true}})
	case s.Current():
		d.setApply(d.nextTree(s))
	default:
		d.setApply(d.nextWave(&State{}))
	}
	if k := d.keptTree(); k != nil && k.incomplete {
		d.apply.unread = true
	}
}

// inWaves reports whether a rollout brings the tree to a branch.
func (d *Desired) inWaves() bool { return d.Rollout != nil && d.Strategy != ComputeOnly }

// recovers reports whether the last delivery has to be read from the branch.
func (d *Desired) recovers(p *Prior, s *State) bool {
	return p != nil && p.TreeHash != "" && (s == nil || s.Seen.Head != "")
}

// resolveUnread finds the tree of this apply after reading the branch, if the state does not tell what the branch
// holds.
func (d *Desired) resolveUnread(s *State, at *BranchState) {
	if !d.applied().unread {
		return
	}
	d.resolveUnreadKept(s, at)
	switch {
	case !d.inWaves():
		d.setApply(d.wholeTree())
	case s.Current():
		d.setApply(d.nextTree(s))
	default:
		found := &State{
			Delivered: at.Folders.only(union(union(at.recordedFolders(), at.OperatorFolders), d.Target().Names())),
		}
		found.PromotedCommit, found.Rollout = at.promotedCommit(), rolloutOf(at.Record, time.Time{})
		found.Seen.Folders = found.Delivered
		found.Seen.Record = &record.Record{ClusterTypes: found.Delivered.Names()}
		d.setApply(d.nextWave(found))
	}
	d.apply.unread = true // another attempt reads the branch again
}

// nextTree returns the tree that a pull request already proposes, or the one after the next wave.
func (d *Desired) nextTree(s *State) *applyTree {
	next := d.nextWave(s)
	proposed := d.proposedTree(s)
	if proposed == nil {
		return next
	}
	switch step := next.step; {
	case step.Uncertain:
	case step.Paused != "":
		proposed.step, proposed.withheld = step, "The rollout is paused: "+printable.Line(step.Paused)
	case len(step.Taken) == 0 && len(step.Waiting)+len(step.Stopped) > 0:
		proposed.step = step
		proposed.withheld = fmt.Sprintf("An earlier wave of the rollout is not current, in stage %q.",
			printable.Line(step.Stage))
	}
	return proposed
}

// proposedTree returns the tree that a pull request proposes on the way to the same target, or nil if there is none. A
// new observation does not change an open pull request. A pull request that people closed stops the rollout.
func (d *Desired) proposedTree(s *State) *applyTree {
	if s.Proposal == nil || s.Proposal.Head.Rollout == nil || d.TargetTreeHash() == "" || d.Rollout.SkipUnknown {
		return nil
	}
	head, target := s.Proposal.Head, d.TargetTreeHash()
	r := head.Rollout
	switch {
	case r.TargetTreeHash != target || !d.updates(s):
		return nil
	case r.Complete && head.PromotedCommit != d.Promotion.Commit:
		return nil
	case !r.Complete && d.Rollout.Skip == target:
		return nil
	}
	step := &rollout.Step{Stage: r.Stage}
	if s.Proposal.Open() && s.Proposal.Withheld == "" {
		step.Waiting = []string{fmt.Sprintf("pull request %d, which proposes the wave, is not merged yet", s.Proposal.Number)}
	}
	return &applyTree{
		inventory: head.Delivered, step: step, complete: r.Complete, promotedCommit: head.PromotedCommit, rollout: r,
	}
}

// nextWave returns the tree after the next wave.
func (d *Desired) nextWave(s *State) *applyTree {
	delivered, seen := maps.Clone(d.baseline(s)), s.Ours()
	for name, folder := range delivered {
		if folder.Hash == (tree.Hash{}) { // of a state that was recovered in part
			if delivered[name] = seen[name]; seen[name].Hash == (tree.Hash{}) {
				delete(delivered, name)
			}
		}
	}
	labels := map[string]map[string]string{}
	for _, ct := range d.Fleet.ClusterTypes {
		labels[ct.Name] = ct.Labels
	}
	target := map[string]rollout.Folder{}
	for name, folder := range d.Target() {
		target[name] = rollout.Folder{
			Hash: folder.Hash.String(), Assignments: len(folder.Targets), Unknown: folder.Unknown, Labels: labels[name],
		}
	}
	step := d.Rollout.Next(rollout.Situation{
		Target: target, TargetTreeHash: d.TargetTreeHash(), PromotedCommit: d.Promotion.Commit,
		Rollback:  d.Promotion.Decision == promotion.Rollback,
		Delivered: delivered.hashTexts(), Seen: seen.hashTexts(), Before: s.Rollout,
	})
	a := &applyTree{
		inventory: d.Target(), uncertain: step.Uncertain, step: step, complete: step.Complete(),
		promotedCommit: s.PromotedCommit, rollout: step.After, begun: step.After != s.Rollout,
	}
	if len(step.Stay) > 0 {
		a.inventory = maps.Clone(a.inventory)
		for _, name := range step.Stay {
			if folder, held := delivered[name]; held {
				a.inventory[name] = folder
			} else {
				delete(a.inventory, name)
			}
		}
	}
	return a
}

// hashTexts returns the hashes of the folders as text.
func (inv Inventory) hashTexts() map[string]string {
	texts := make(map[string]string, len(inv))
	for name, folder := range inv {
		texts[name] = folder.Hash.String()
	}
	return texts
}

// rolloutAfter returns the progress of the rollout once the branch holds the tree of this apply. written says that this
// took a commit.
func (d *Desired) rolloutAfter(written bool) *rollout.State {
	a := d.applied()
	if a.rollout == nil || !written && !a.begun {
		return a.rollout
	}
	now := *a.rollout
	now.At = d.Author.When
	return &now
}

// rolloutOf returns the rollout that a record describes, or nil if it describes none. at is the time of its commit, or
// later.
func rolloutOf(r *record.Record, at time.Time) *rollout.State {
	if r == nil || r.Rollout == nil {
		return nil
	}
	return &rollout.State{Progress: *r.Rollout, At: at}
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

// ReachedBy reports whether the branch of a state holds what the fleet renders to.
func (d *Desired) ReachedBy(s *State) bool {
	return s.Current() && s.Proposal == nil && !s.Drifted() && d.Complete()
}

// Partial reports whether the tree of this apply is known to hold a part of the fleet's alone, with all its targets.
func (d *Desired) Partial() bool {
	if d.Tree == nil || !d.Certain() || d.Complete() {
		return false
	}
	for _, folder := range d.Inventory() {
		if folder.Undecided {
			return false
		}
	}
	return true
}

// Stored returns the folders of the tree of this apply that the fleet does not render to: only the repo holds their
// content.
func (d *Desired) Stored() []string {
	var names []string
	for name, folder := range d.Inventory() {
		if target, ok := d.Target()[name]; !ok || target.Hash != folder.Hash {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// mayStay returns why folders can't stay as they were delivered, or nil: another repo does not hold them.
func (d *Desired) mayStay(s *State) error {
	if !d.moves(s) || repourl.Same(s.Destination.Repo, d.Destination.Repo) {
		return nil
	}
	if names := d.Stored(); len(names) > 0 {
		return &RolloutMoveError{From: s.Destination, Folders: names, Target: d.TargetTreeHash()}
	}
	return nil
}

// RolloutMoveError means that a rendering moves to another repo during a rollout. Only the old repo holds the folders
// whose wave has not come yet.
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
	return fmt.Sprintf("the rendering moves to another repo, and %s holds folders that no wave has reached yet: %s. "+
		"Finish the rollout first%s.", e.From, strings.Join(e.Folders, ", "), skip)
}
