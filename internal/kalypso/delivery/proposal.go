package delivery

import (
	"maps"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
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
	// Tracking is the target's [BranchState.PromotedCommitFile] at the time of the proposal.
	Tracking string `json:"target_promoted_commit_file,omitempty"`
}

// Open reports whether the pull request is open. Otherwise, it was closed without being merged.
func (p *Proposal) Open() bool { return p != nil && p.State == githost.Open }

// Broken reports whether the apply has to repair an open pull request.
func (p *Proposal) Broken() bool {
	return p.Open() && (p.Lost || p.Stale || p.UnwantedDraft || p.Head.Drifted())
}

// DesiredEnvironment returns the environment that was last delivered or proposed.
func (s *State) DesiredEnvironment() string {
	if s.Proposal != nil {
		return s.Proposal.Head.Environment
	}
	return s.Environment
}

// foundFolders returns the folders at the destination that are ours, and those that the proposal adopts. Changes are
// compared with them.
func foundFolders(s *State) inventory.Folders {
	found := s.Ours()
	if s.Proposal != nil {
		adopted := maps.Clone(s.Proposal.Adopted)
		maps.DeleteFunc(adopted, func(name string, _ inventory.Folder) bool { _, ours := found[name]; return ours })
		maps.Copy(found, adopted)
	}
	return found
}

// ClosedPullRequest returns the number of the pull request that people closed without merging it, or 0.
func (s *State) ClosedPullRequest() int {
	if s == nil || s.Proposal == nil || s.Proposal.Open() {
		return 0
	}
	return s.Proposal.Number
}

// Known returns the state's facts about a topic, or nil.
func Known(s *State, t *pullrequest.Topic) *pullrequest.Known {
	if s == nil || s.Proposal == nil || !s.Proposal.Head.Destination.Same(DestinationOf(t)) {
		return nil
	}
	p := s.Proposal
	return &pullrequest.Known{
		Number: p.Number, Open: p.Open(), Head: p.Head.Base, AutoMerge: p.AutoMerge, Reviewers: p.RequestedReviewers,
	}
}

// DestinationOf returns the destination on our branch.
func DestinationOf(t *pullrequest.Topic) record.Destination {
	return record.Destination{Repo: t.Repo, Branch: t.Branch, Path: t.Path}
}

// Moved returns a *MovedError if foreign commits were pushed to our branch after the plan was made.
func (p *Proposal) Moved(at record.Destination, ours *BranchState) error {
	paths := ours.changedSince(p.Head)
	if len(paths) == 0 && ours.Head != p.Head.Seen.Head {
		paths = []string{"commits beside our folders"} // the push would remove them
	}
	if len(paths) == 0 {
		return nil
	}
	return &MovedError{at, paths}
}

// Promotes reports whether the change promotes another commit. After a move within the branch, and for folders adopted
// from the operator, no record at the destination names the previous commit.
func (p *PlannedChange) Promotes(s *State) bool {
	t, at := p.Tree, p.At
	promoted := t.AppliedPromotedCommit()
	switch {
	case !t.Complete():
		return false
	case at.Record != nil:
	case t.MovesWithin(s):
		return s.PromotedCommit != promoted
	case len(p.Adoption.Adopted) > 0 && promoted != "":
		return at.PromotedCommitFile != record.PromotedCommitHash(promoted)
	}
	return at.promotedCommit() != promoted
}

// TargetState returns the state of the target branch of a pull request, which does not contain the proposed tree yet.
func (p *PlannedChange) TargetState() *State {
	t := p.Tree
	s := NewState(t.Destination, t.Environment)
	if p.At.Record != nil {
		s.Environment = p.At.Record.Environment
	}
	s.Delivered = p.Existing.Only(sets.Without(p.Existing.Names(), p.Adoption.Adopted))
	s.DeliveredRecord, s.PromotedCommit = p.At.RecordHash, p.At.promotedCommit()
	if p.At.Record != nil {
		s.Decisions = p.At.Record.Decisions
	}
	s.Base, s.Seen, s.Cache = p.At.Head, *p.At, p.Cache
	if s.Rollout = RolloutOf(p.At.Record, p.At.Time); t.Updates(p.Before) {
		s.Rollout = p.Before.Rollout
	}
	s.WholeHashes = t.KeepsFailed()
	if len(s.Delivered) > 0 {
		s.Inputs = p.Before.Inputs
	}
	s.Remember(p.Before)
	return &s
}

// PromotedCommitChanged reports whether another commit changed the file of the promoted commit on the target branch
// since the proposal.
func (p *Proposal) PromotedCommitChanged(target *State) bool {
	if p.Head.PromotedCommit == "" {
		return false
	}
	now, ours := target.Seen.PromotedCommitFile, record.PromotedCommitHash(p.Head.PromotedCommit)
	return now != p.Tracking && now != ours
}
