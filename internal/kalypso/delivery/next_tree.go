package delivery

import (
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// NextTree is the tree that one apply leaves at the destination, with its record. It is the fleet's tree, or a part of
// it during a rollout. Attributes, ownership, drift, description, pull request and record all use this tree. It is
// never modified.
type NextTree struct {
	Args     *Arguments
	Rendered *Rendered
	Failing  *Failing // nil if nothing fails to render
	Folders  inventory.Folders
	// Record is the record of the folders, see [NextTree.RecordOn].
	Record record.Record
	// Known says how much of Folders is known. Partial: the names of the folders, but not all their files. Unread: not
	// even the names, because they depend on values that are not known yet, or on a branch that was not read. Then
	// Folders are the fleet's.
	Known inventory.Known
	// DependsOnBranch says that the tree depends on a branch that the state does not contain, see [NextTree.On].
	DependsOnBranch bool
	// Step is the step of the rollout that the apply takes; nil: none.
	Step *rollout.Step
	// Complete says that Folders are the fleet's tree.
	Complete bool
	// Rollout is the progress of the rollout after the apply. It is nil if no rollout was begun. NewRollout says that
	// this apply begins it.
	Rollout    *rollout.StoredProgress
	NewRollout bool
	// Withheld says why the pull request that proposes the tree must not be merged now; "": it may be.
	Withheld string
}

// NewNextTree returns the tree that an apply leaves at the destination, as far as the state shows. p is nil for a
// create. s is nil if no private state can be read.
func NewNextTree(r *Rendered, p *Prior, s *State) *NextTree {
	return nextTree(r, situate(r.Args, p, s))
}

func nextTree(r *Rendered, now *Situation) *NextTree {
	return computeNextTree(r, now).withhold(now)
}

func computeNextTree(r *Rendered, now *Situation) *NextTree {
	a := r.Args
	whole := &NextTree{Args: a, Rendered: r, Complete: true}
	if r.Tree == nil {
		return whole.withRecord(a.Promotion.Commit, a.inWaves())
	}
	var unread bool
	whole.Failing, unread = newFailing(r, now)
	whole.Folders = whole.Target()
	whole.DependsOnBranch = whole.Failing != nil && whole.Failing.incomplete
	switch {
	case a.PromotionUnknown: // it may be frozen
		return whole.unknownStep()
	case !a.inWaves():
		whole.DependsOnBranch = whole.DependsOnBranch || unread
		return whole.withRecord(a.Promotion.Commit, unread)
	case unknown.Is(string(a.Strategy)):
		return whole.unknownStep()
	case unread || now.treeUnread():
		whole.DependsOnBranch = true
		return whole.unknownStep()
	case now.State.Current():
		return whole.afterStep(now.State)
	}
	return whole.afterWave(&State{})
}

// On returns the tree that the apply leaves on a branch that was read, if the state does not contain that branch's
// tree.
func (n *NextTree) On(s *State, at *Branch) *NextTree {
	if !n.DependsOnBranch {
		return n
	}
	whole := &NextTree{
		Args: n.Args, Rendered: n.Rendered, Failing: n.failingOn(s, at), Complete: true, DependsOnBranch: true,
	}
	whole.Folders = whole.Target()
	switch {
	case !n.Args.inWaves():
		return whole.withRecord(n.Args.Promotion.Commit, false)
	case s.Current():
		return whole.afterStep(s)
	}
	found := at.asState(n.Args.Destination, at.Folders.Only(
		sets.Union(sets.Union(at.RecordedFolders(), at.OperatorFolders), whole.Target().Names())))
	found.Rollout, found.LastRead.Folders = RolloutOf(at.Record, time.Time{}), found.Delivered
	found.LastRead.Record = &record.Record{ClusterTypes: found.Delivered.Names()}
	return whole.afterWave(found)
}

// withRecord completes a new tree: it sets the fields that follow from the others. promoted is the record's commit.
// uncertain says that it is not known which folders the tree takes from the fleet.
func (n *NextTree) withRecord(promoted string, uncertain bool) *NextTree {
	switch {
	case uncertain:
		n.Known = inventory.Unread
	case n.Rendered.Tree == nil || n.Folders.Known() < inventory.Whole:
		n.Known = inventory.Partial
	default:
		n.Known = inventory.Whole
	}
	n.Record = record.New(n.Args.Environment, n.Folders.Names(), promoted, n.Args.Origins, n.Args.Sources)
	n.Record.Decisions, n.Record.Rollout = n.Rendered.Decisions, n.Rollout.Record()
	n.Record.Promotion, n.Record.Verified = n.Args.Promotion.Reason, n.Args.Signers()
	if k := n.Failing; k != nil && n.Args.Delivers() {
		n.Record.Kept = k.Kept
		n.Record.LeftOut = slices.DeleteFunc(slices.Clone(k.LeftOut), func(f record.FailedAssignment) bool {
			return f.ClusterType == "" // unbounded
		})
	}
	return n
}

// RecordOn returns the record to write to a branch. Failures to render keep their time.
func (n *NextTree) RecordOn(at *Branch) record.Record {
	r := n.Record
	r.Kept, r.LeftOut = slices.Clone(r.Kept), slices.Clone(r.LeftOut)
	r.SetSince(at.Record, n.Args.Author.When)
	r.SetPromotion(n.Args.Promotion, at.Record)
	return r
}

// Target returns the tree that the fleet renders to, with the folders that the branch keeps of failing deployment
// targets.
func (n *NextTree) Target() inventory.Folders {
	if n.Failing != nil {
		return n.Failing.Folders
	}
	return n.Rendered.Folders
}

// TargetTreeHash returns the hash of the target, or "" if it is not known yet.
func (n *NextTree) TargetTreeHash() string {
	if n.Rendered.Tree == nil || n.Target().Known() < inventory.Whole {
		return ""
	}
	return n.Target().TreeHash().String()
}

// ReachedBy reports whether the branch of a state contains the tree that the fleet renders to.
func (n *NextTree) ReachedBy(s *State) bool {
	return s.Current() && s.Proposal == nil && !s.Drifted() && n.Complete
}

// Stored returns the folders of the tree that the fleet does not render: only the repo contains their content.
func (n *NextTree) Stored() []string {
	return slices.DeleteFunc(n.Folders.Names(), func(name string) bool {
		target, ok := n.Target()[name]
		return ok && target.Hash == n.Folders[name].Hash
	})
}

// IsContainedBy reports whether a branch contains the desired tree, by this apply or another writer.
func (n *NextTree) IsContainedBy(at *Branch) bool {
	return at.Record != nil && at.Record.Same(n.Record) && at.Folders.Only(at.RecordedFolders()).Equal(n.Folders)
}

// continues reports whether an earlier wave of the same rollout wrote a record, in an apply that was killed after its
// push.
func (n *NextTree) continues(r *record.Record) bool {
	return n.Args.Rollout != nil && r != nil && r.Rollout != nil && r.Environment == n.Args.Environment &&
		n.TargetTreeHash() != "" && r.Rollout.TargetTreeHash == n.TargetTreeHash()
}

// Files renders the files of a target, by name. It returns false if a file is not known yet, if the target fails to
// render, or if the wave of its cluster type is pending.
func (n *NextTree) Files(clusterType, target string) (map[string][]byte, bool) {
	if n.Target()[clusterType].Hash != n.Folders[clusterType].Hash {
		return nil, false
	}
	rendered, _ := n.Rendered.Tree.RenderTarget(clusterType, target, &render.Buffer{})
	files := map[string][]byte{}
	for _, f := range rendered {
		if f.Unknown {
			return nil, false
		}
		files[f.Path] = f.Content
	}
	return files, len(files) > 0
}
