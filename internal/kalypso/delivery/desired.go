package delivery

import (
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Strategy is how a tree gets to its branch.
type Strategy string

// The strategies. [fleet.Unknown] says that it is not known yet.
const (
	Push        Strategy = "push"         // a commit on the branch
	PullRequest Strategy = "pull_request" // a commit on a branch of its own, which a pull request brings to the branch
	ComputeOnly Strategy = "none"         // nothing is contacted and nothing written
)

// Desired is a rendering as its configuration wants it, as far as that is known: a string that is not known yet is
// [fleet.Unknown].
type Desired struct {
	Strategy       Strategy
	Destination    Destination
	Environment    string
	Tree           *tree.Tree                    // what the fleet renders to; nil: no assignments are known yet
	PromotedCommit string                        // empty: none
	Promotion      *Promotion                    // why; nil: nobody said
	Origins        []string                      // keys of manifests that name a place in Git, for the record
	Sources        origin.Sources                // the commits of those places
	Configs        []*fleet.Config               // of the tree's fleet
	Registrations  []*fleet.WorkloadRegistration // likewise
	Review         Review
	Adopt          bool
	CreateBranch   bool
	// KeepOld leaves what was delivered to another place before as it is there.
	KeepOld     bool
	Guardrails  Guardrails
	PullRequest PullRequestSettings
	Message     string // of the commit; empty: one that says what changes
	Author      gitops.Signature
	// Incomplete says that something besides the tree is not known yet that decides whether the change may be made.
	Incomplete bool

	// Rollout brings the tree to the cluster types in waves; nil: all at once.
	Rollout      *rollout.Rollout
	ClusterTypes []*fleet.ClusterType // of the tree's fleet

	// target is what the tree holds, and apply the tree of this apply, once they were asked for; both with the tree that they
	// are of.
	target            Inventory
	apply             *applyTree
	targetOf, applyOf *tree.Tree
	// decisions are those of placement, once they were asked for, and decided the tree that they are of.
	decisions placement.Decisions
	decided   *tree.Tree
}

// PullRequestSettings configures the pull requests of a rendering.
type PullRequestSettings struct {
	BranchPrefix string
	Labels       []string
	Reviewers    []string
	Draft        bool
	AutoMerge    hosting.MergeMethod // "": people merge
	Wait         bool                // a delivery ends only when the pull request is merged
	// Reopen proposes a tree again whose pull request people closed.
	Reopen bool
}

// Equal reports whether an open pull request is the same under both.
func (s PullRequestSettings) Equal(other PullRequestSettings) bool {
	return s.BranchPrefix == other.BranchPrefix && s.AutoMerge == other.AutoMerge && s.Draft == other.Draft && s.Wait == other.Wait &&
		slices.Equal(s.Labels, other.Labels) && slices.Equal(s.Reviewers, other.Reviewers)
}

// Delivers reports whether the strategy is known to bring the tree to a branch.
func (d *Desired) Delivers() bool { return d.Strategy == Push || d.Strategy == PullRequest }

// Located reports whether it is known where the tree goes.
func (d *Desired) Located() bool {
	return !fleet.IsUnknown(d.Destination.Repo) && !fleet.IsUnknown(d.Destination.Branch) && !fleet.IsUnknown(d.Destination.Path)
}

func (d *Desired) record() Record {
	r := NewRecord(d.Environment, d.Inventory().Names(), d.AppliedPromotedCommit(), d.Origins, d.Sources)
	r.Decisions = d.Decisions()
	r.Rollout = d.applied().rollout.Record()
	r.Promotion = d.Promotion
	return r
}

// updates reports whether the state is of the same destination.
func (d *Desired) updates(s *State) bool { return s.Current() && s.Destination.Same(d.Destination) }

// moves reports whether what was delivered before lies elsewhere.
func (d *Desired) moves(s *State) bool { return s.Current() && !s.Destination.Same(d.Destination) }

// movesWithin reports whether what was delivered before lies elsewhere on the same branch.
func (d *Desired) movesWithin(s *State) bool {
	return d.moves(s) && s.Destination.SameBranch(d.Destination)
}
