// Package delivery delivers a GitOps tree to its branch. It decides which folders there belong to the rendering, what
// others changed, and what a change removes. It makes one commit.
package delivery

import (
	"context"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// Strategy says how the tree is delivered to its branch.
type Strategy string

// The strategies. [unknown.Text] says that the strategy is not known yet.
const (
	Push        Strategy = "push"         // commits to the branch
	PullRequest Strategy = "pull_request" // commits to a branch of its own, and opens a pull request
	ComputeOnly Strategy = "none"         // contacts no server and writes nothing
)

// Desired is a rendering as it is configured. A string that is not known yet is [unknown.Text].
type Desired struct {
	Strategy    Strategy
	Destination record.Destination
	Environment string
	Fleet       *fleet.Fleet
	Tree        *tree.Tree       // see [Desired.Render]; nil until then, and if no assignments are known yet
	Promotion   record.Promotion // zero if there is none
	// NoCommit says that there is a promotion, and that it has no commit yet. PromotionUnknown says that its commit, or
	// its decision, is not known yet.
	NoCommit, PromotionUnknown bool
	Rejected                   []string       // promoted commits that people rejected
	Origins                    []string       // keys of manifests that name a file in Git, for the record
	Sources                    origin.Sources // the commits of these files
	Review                     Review
	Adopt                      bool
	CreateBranch               bool
	KeepOld                    bool // a move keeps the folders and the record at the old location
	KeepOnDestroy              bool // a destroy keeps the folders and the record on the branch
	Protected                  bool // a destroy is an error
	OnDrift                    OnDrift
	Guardrails                 Guardrails
	PullRequest                pullrequest.Settings
	Message                    string            // of the commit; empty for the default, which lists the changes
	Trailers                   map[string]string // of the commit; the author has the provider's too
	Author                     gitops.Author
	// Incomplete says that an argument that decides about the change, other than the fleet, is not known yet.
	Incomplete bool

	// Rollout brings the tree to the cluster types in waves. If it is nil, one apply delivers the whole tree.
	Rollout *rollout.Rollout

	assignmentsKnown bool

	decisions placement.Decisions // cached by [Desired.Decisions]
	decided   *tree.Tree          // the tree of the cached decisions

	// OnAssignmentError is the reaction to deployment targets that fail to render.
	OnAssignmentError OnAssignmentError

	failed    problem.Problems // why deployment targets are not in the tree
	inventory Inventory        // cached by [Desired.rendered]
	kept      *keptTree        // nil if nothing fails to render: see [Desired.Target]
	apply     *applyTree       // the tree of this apply: see [Desired.Inventory]

	inventoryOf, keptOf, applyOf *tree.Tree // the trees that they belong to
}

// Delivers reports whether the strategy is known to bring the tree to a branch.
func (d *Desired) Delivers() bool { return d.Strategy == Push || d.Strategy == PullRequest }

// Located reports whether the destination is known.
func (d *Desired) Located() bool {
	at := d.Destination
	return !unknown.Is(at.Repo) && !unknown.Is(at.Branch) && !unknown.Is(at.Path)
}

// Rests reports whether the apply writes nothing, whatever the fleet renders to: nothing is promoted yet, the
// environment is frozen, or the rollout is paused before anything was delivered. p is nil for a create.
func (d *Desired) Rests(p *Prior) bool { return d.frozen() || d.pausedFirst(p) }

// frozen reports whether the promotion stops everything.
func (d *Desired) frozen() bool { return d.NoCommit || d.Promotion.Frozen() != "" }

// pausedFirst reports whether the rollout is paused before its first wave, and nothing was delivered before.
func (d *Desired) pausedFirst(p *Prior) bool {
	return d.Delivers() && d.Rollout != nil && !d.Rollout.PauseUnknown && d.Rollout.Pause != "" &&
		(p == nil || !p.delivered())
}

// describable reports whether everything is known that [Desired.Describe] describes.
func (d *Desired) describable() bool {
	if !d.Known() || d.Strategy != ComputeOnly && !d.Located() || d.Review.Incomplete || unknown.Any(d.Sources) {
		return false
	}
	for _, text := range []string{string(d.Strategy), d.Environment, d.Promotion.Commit, string(d.Review.Detail)} {
		if unknown.Is(text) {
			return false
		}
	}
	return !slices.ContainsFunc(d.Fleet.Configs, func(c *fleet.Config) bool {
		return unknown.Is(c.Name) || unknown.Any(c.Labels) || unknown.Any(c.Data)
	}) && !slices.ContainsFunc(d.Fleet.Secrets, func(s *fleet.Secret) bool { return fleet.HasUnknown(s) }) &&
		!slices.ContainsFunc(d.Fleet.Policies, func(p *fleet.SchedulingPolicy) bool { return unknown.Is(p.Name) })
}

// Render renders the fleet. It reports the problems of the fleet, and what the guardrails forbid. It drops the
// sources that contain no origin.
//
// p and s say what was delivered before, so that placement keeps its decisions. For a create, both are nil.
func (d *Desired) Render(ctx context.Context, p *Prior, s *State, progress Progress) problem.Problems {
	if ps := d.setEarlier(p, s); len(ps) > 0 {
		return ps
	}
	if !unknown.Any(d.Sources) {
		d.Sources = d.Sources.Of(d.Origins)
	}
	d.Fleet.LeaveOutFailed = d.KeepsFailed()
	d.Fleet.Duplicates, d.Fleet.Delivered = d.Guardrails.DuplicateObjects, s.lastTree().shortHash
	result, ps := engine.Run(ctx, d.Fleet, func(done, total int) { progress("render", done, total) })
	d.failed = result.LeftOut
	d.Tree, d.assignmentsKnown = result.Tree, result.AssignmentsKnown && result.Tree != nil
	return append(ps, d.validateTree(ctx, result.AssignmentsKnown)...)
}

// AssignmentsKnown reports whether the tree is rendered, and the assignments of all cluster types are known.
func (d *Desired) AssignmentsKnown() bool { return d.assignmentsKnown }

// recordOn returns the record to write to a branch. Failures to render keep their time.
func (d *Desired) recordOn(at *BranchState) record.Record {
	r := d.record()
	r.SetSince(at.Record, d.Author.When)
	r.SetPromotion(d.Promotion, at.Record)
	return r
}

func (d *Desired) record() record.Record {
	r := record.New(d.Environment, d.Inventory().Names(), d.AppliedPromotedCommit(), d.Origins, d.Sources)
	r.Decisions = d.Decisions()
	r.Rollout = d.applied().rollout.Record()
	r.Promotion = d.Promotion.Reason
	if k := d.keptTree(); k != nil && d.Delivers() {
		r.Kept, r.LeftOut = slices.Clone(k.kept), slices.Clone(k.leftOut)
		r.LeftOut = slices.DeleteFunc(r.LeftOut, func(f record.FailedAssignment) bool {
			return f.ClusterType == "" // unbounded
		})
	}
	return r
}

// updates reports whether the last apply delivered to the same destination.
func (d *Desired) updates(s *State) bool { return s.Current() && s.Destination.Same(d.Destination) }

// moves reports whether the last apply delivered to another destination.
func (d *Desired) moves(s *State) bool { return s.Current() && !s.Destination.Same(d.Destination) }

// movesWithin reports whether the last apply delivered to another path of the same branch.
func (d *Desired) movesWithin(s *State) bool {
	return d.moves(s) && s.Destination.SameBranch(d.Destination)
}
