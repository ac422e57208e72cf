package delivery

import (
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Proposal is a tree that a pull request proposes, and that its target branch does not contain yet.
type Proposal struct {
	// Head is the state of our branch: the proposed tree is delivered to it, and foreign changes of it are drift.
	Head   *State `json:"head"`
	Pushed string `json:"pushed"` // our commit
	Number int    `json:"number"` // of the pull request
	// AutoMerge is the merge method that we requested from the host. It is empty if we requested none.
	AutoMerge githost.MergeMethod `json:"auto_merge,omitempty"`
	// RequestedReviewers are the reviewers that we requested. The host forgets them once they have reviewed.
	RequestedReviewers []string                 `json:"requested_reviewers,omitempty"`
	State              githost.PullRequestState `json:"state"`
	// UnwantedDraft says that the pull request is a draft, and neither the configuration nor a freeze made it one.
	UnwantedDraft bool `json:"unwanted_draft,omitempty"`
	// Lost says that our branch does not exist any more. Stale says that the pull request can't be merged, because
	// another commit changed the file of the promoted commit on the target branch.
	Lost  bool `json:"lost,omitempty"`
	Stale bool `json:"stale,omitempty"`
	// Adopted are the foreign folders that the proposal adopts, as the destination contained them.
	Adopted inventory.Folders `json:"adopted,omitempty"`
	// OtherCommits are foreign commits on top of ours that do not change the proposed tree. The next push removes them.
	OtherCommits []drift.Commit `json:"foreign,omitempty"`
	// Withheld is the reason why we made the pull request a draft that must not be merged now; "": we did not.
	Withheld string `json:"withheld,omitempty"`
	// Tracking is the target's [Branch.PromotedCommitFile] at the time of the proposal.
	Tracking string `json:"target_promoted_commit_file,omitempty"`
}

// Open reports whether the pull request is open. Otherwise, it was closed without being merged.
func (p *Proposal) Open() bool { return p != nil && p.State == githost.Open }

// Desired returns the state of the branch that got the last tree: the branch of the pull request, if one proposes it.
func (s *State) Desired() *State {
	if s.Proposal != nil {
		return s.Proposal.Head
	}
	return s
}

// ExistingFolders returns our folders at the destination, and the folders that the proposal adopts. Changes are
// compared with them.
func (s *State) ExistingFolders() inventory.Folders {
	found := inventory.Folders{}
	if s.Proposal != nil {
		maps.Copy(found, s.Proposal.Adopted)
	}
	maps.Copy(found, s.OwnFolders())
	return found
}

// Closed returns the number of the pull request if people closed it without merging it, or 0.
func (p *Proposal) Closed() int {
	if p == nil || p.Open() {
		return 0
	}
	return p.Number
}

// PromotedCommitChanged reports whether another commit changed the file of the promoted commit on the target branch
// since the proposal.
func (p *Proposal) PromotedCommitChanged(target *State) bool {
	if p.Head.PromotedCommit == "" {
		return false
	}
	now, ours := target.LastRead.PromotedCommitFile, record.PromotedCommitHash(p.Head.PromotedCommit)
	return now != p.Tracking && now != ours
}

// IsOn reports whether a destination is on our branch of the pull request.
func (p *Proposal) IsOn(at destination.Destination) bool {
	return p != nil && p.Head.Destination.Same(at)
}

// OldLocation is a location on another branch that still contains the tree from before a move. A separate pull request
// removes that tree. An apply opens it only once the destination contains the tree. Otherwise people could merge it
// first, and clusters would find the tree at neither location.
type OldLocation struct {
	State  *State `json:"state"`            // what was delivered there
	Number int    `json:"number,omitempty"` // of the pull request; 0 if there is none yet
	Closed bool   `json:"closed,omitempty"` // people closed the pull request without merging it
}

// Open reports whether the pull request that removes the old location is open.
func (o *OldLocation) Open() bool { return o.Number != 0 && !o.Closed }

// Reviewed reports whether the state knows pull requests of the rendering.
func (s *State) Reviewed() bool {
	return s.Proposal != nil || s.Removal != 0 ||
		slices.ContainsFunc(s.OldLocations, func(old *OldLocation) bool { return old.Number != 0 })
}
