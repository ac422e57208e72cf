package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Proposal is a tree that a pull request proposes, and that its target branch does not contain yet.
type Proposal struct {
	// Head is the state of our branch: what was proposed was delivered to it, and what others push to it is drift.
	Head   *State `json:"head"`
	Pushed string `json:"pushed"` // our commit
	Number int    `json:"number"` // of the pull request
	// AutoMerge is the merge method that we requested from the host. It is empty if we requested none.
	AutoMerge hosting.MergeMethod `json:"auto_merge,omitempty"`
	// RequestedReviewers are the reviewers that we requested. The host forgets them once they have reviewed.
	RequestedReviewers []string                 `json:"requested_reviewers,omitempty"`
	State              hosting.PullRequestState `json:"state"`
	// Lost says that our branch does not exist any more. Stale says that the pull request can't be merged, because others
	// changed the file of the promoted commit on the target branch.
	Lost  bool `json:"lost,omitempty"`
	Stale bool `json:"stale,omitempty"`
	// Adopted are the folders of others that the proposal adopts, as the destination contained them.
	Adopted Inventory `json:"adopted,omitempty"`
	// OtherCommits are commits of others on top of ours that do not change what is proposed. The next push removes them.
	OtherCommits []Drift `json:"foreign,omitempty"`
	// Withheld says why we made the pull request a draft that must not be merged now; "": we did not.
	Withheld string `json:"withheld,omitempty"`
	// Tracking is the target's [BranchState.PromotedCommitFile] at the time of the proposal.
	Tracking string `json:"target_promoted_commit_file,omitempty"`
}

// Open reports whether the pull request is open. Otherwise, it was closed without being merged.
func (p *Proposal) Open() bool { return p != nil && p.State == hosting.Open }

// Broken reports whether the apply has to repair an open pull request.
func (p *Proposal) Broken() bool { return p.Open() && (p.Lost || p.Stale || p.Head.Drifted()) }

// desiredEnvironment returns the environment that was last delivered or proposed.
func (s *State) desiredEnvironment() string {
	if s.Proposal != nil {
		return s.Proposal.Head.Environment
	}
	return s.Environment
}

// Found returns the folders at the destination that are ours, and those that the proposal adopts. Changes are
// compared with them.
func (s *State) Found() Inventory {
	found := s.Ours()
	if s.Proposal != nil {
		adopted := maps.Clone(s.Proposal.Adopted)
		maps.DeleteFunc(adopted, func(name string, _ InventoryFolder) bool { _, ours := found[name]; return ours })
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

// pushed returns the last commit that we pushed to our branch, or "".
func pushed(s *State) string {
	if s == nil || s.Proposal == nil {
		return ""
	}
	return s.Proposal.Pushed
}

// known returns what the state knows about a topic, or nil.
func known(s *State, t *pullrequest.Topic) *pullrequest.Known {
	if s == nil || s.Proposal == nil || !s.Proposal.Head.Destination.Same(destinationOf(t)) {
		return nil
	}
	p := s.Proposal
	return &pullrequest.Known{
		Number: p.Number, Open: p.Open(), Head: p.Head.Base, AutoMerge: p.AutoMerge, Reviewers: p.RequestedReviewers,
	}
}

// key identifies a rendering within a repo.
type key struct{ environment, branch, path string }

func keyOf(a *Arguments) key { return key{a.Environment, a.Destination.Branch, a.Destination.Path} }

func (k key) marker() string { return hosting.Marker(k.environment, k.branch, k.path) }

func (k key) removalMarker() string {
	return hosting.RemovalMarker(k.environment, k.branch, k.path)
}

// branchName returns the name of our branch.
func branchName(prefix string, k key) string {
	return pullrequest.BranchName(prefix, k.marker(), k.nameParts()...)
}

// removalBranchName returns the name of the branch that removes a rendering.
func removalBranchName(prefix string, k key) string {
	return pullrequest.BranchName(prefix+"remove-", k.removalMarker(), k.nameParts()...)
}

func (k key) nameParts() []string {
	parts := []string{k.environment}
	if k.branch != k.environment {
		parts = append(parts, k.branch)
	}
	if k.path != "." {
		parts = append(parts, k.path)
	}
	return parts
}

// contents identifies what a branch contains of a rendering: the hash of its record, and its folders.
func contents(record string, folders map[string]tree.Hash) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", record)
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		fmt.Fprintf(&b, "%s %s\n", folders[name], name)
	}
	return b.String()
}

func contentsOf(b *BranchState) string {
	return contents(b.RecordHash, b.Folders.only(b.recordedFolders()).hashes())
}

// topic returns the topic branch of a name that changes the rendering of a key.
func (r *PullRequests) topic(k key, marker, repo, name string) (*pullrequest.Topic, error) {
	t, err := pullrequest.Open(r.Git, r.Host, pullrequest.TopicLocation{
		Repo: repo, Branch: name, Target: k.branch, Path: k.path, Marker: marker,
	}, r.Settings)
	if err != nil {
		return nil, err
	}
	t.Contents = func(ours *gitops.Snapshot) (string, error) {
		b, err := readBranch(ours, destinationOf(t), nil, nil)
		if err != nil {
			return "", err
		}
		return contentsOf(b), nil
	}
	return t, nil
}

// destinationOf returns the destination on our branch.
func destinationOf(t *pullrequest.Topic) record.Destination {
	return record.Destination{Repo: t.Repo, Branch: t.Branch, Path: t.Path}
}

// renderingTopic returns the topic branch that proposes the rendering.
func (r *PullRequests) renderingTopic(a *Arguments) (*pullrequest.Topic, error) {
	k := keyOf(a)
	return r.topic(k, k.marker(), a.Destination.Repo, branchName(r.BranchPrefix, k))
}

// removalTopic returns the topic branch that proposes the removal of a rendering. It differs from the one of the
// rendering, because an approval of the rendering is no approval of its removal.
func (r *PullRequests) removalTopic(at record.Destination, environment string) (*pullrequest.Topic, error) {
	k := key{environment, at.Branch, at.Path}
	return r.topic(k, k.removalMarker(), at.Repo, removalBranchName(r.BranchPrefix, k))
}

// proposalTopic returns the topic branch of the rendering that a state knows.
func (r *PullRequests) proposalTopic(s *State) (*pullrequest.Topic, error) {
	k := key{s.desiredEnvironment(), s.Destination.Branch, s.Destination.Path}
	if s.Proposal == nil {
		return r.topic(k, k.marker(), s.Destination.Repo, branchName(r.BranchPrefix, k))
	}
	head := s.Proposal.Head.Destination
	return r.topic(k, k.marker(), head.Repo, head.Branch)
}

// readTopic reads our branch, and whether it contains the rendering. target is the head of the target branch; empty: it
// is not known.
func readTopic(
	ctx context.Context, t *AppliedTree, topic *pullrequest.Topic, now *gitops.Snapshot, s *State, target string,
) (*BranchState, pullrequest.Edit, error) {
	var edit pullrequest.Edit
	ours, err := readBranch(now, destinationOf(topic), nil, nil)
	if err != nil {
		return nil, edit, err
	}
	if edit.Ours, err = topic.ReadOwnBranch(ctx, now, contentsOf(ours), pushed(s), target); err != nil {
		return nil, edit, err
	}
	edit.Existing = t.isContainedBy(ours)
	if known(s, topic) != nil {
		edit.Listed, edit.Moved = true, s.Proposal.moved(destinationOf(topic), ours)
	}
	return ours, edit, nil
}

// moved returns a *MovedError if others pushed to our branch after the plan was made.
func (p *Proposal) moved(at record.Destination, ours *BranchState) error {
	paths := ours.changedSince(p.Head)
	if len(paths) == 0 && ours.Head != p.Head.Seen.Head {
		paths = []string{"commits beside our folders"} // the push would remove them
	}
	if len(paths) == 0 {
		return nil
	}
	return &MovedError{at, paths}
}

// promotes reports whether the change promotes another commit. After a move within the branch, and for folders
// adopted from the operator, no record at the destination names the commit before.
func (p *plannedChange) promotes(s *State) bool {
	t, at := p.tree, p.at
	promoted := t.AppliedPromotedCommit()
	switch {
	case !t.Complete():
		return false
	case at.Record != nil:
	case t.movesWithin(s):
		return s.PromotedCommit != promoted
	case len(p.Adoption.Adopted) > 0 && promoted != "":
		return at.PromotedCommitFile != record.PromotedCommitHash(promoted)
	}
	return at.promotedCommit() != promoted
}

// targetState returns the state of the target branch of a pull request, which does not contain the proposed tree yet.
func (p *plannedChange) targetState() *State {
	t := p.tree
	s := newState(t.Destination, t.Environment)
	if p.at.Record != nil {
		s.Environment = p.at.Record.Environment
	}
	s.Delivered = p.Existing.only(sets.Without(p.Existing.Names(), p.Adoption.Adopted))
	s.DeliveredRecord, s.PromotedCommit = p.at.RecordHash, p.at.promotedCommit()
	if p.at.Record != nil {
		s.Decisions = p.at.Record.Decisions
	}
	s.Base, s.Seen, s.Cache = p.at.Head, *p.at, p.cache
	if s.Rollout = rolloutOf(p.at.Record, p.at.Time); t.updates(p.before) {
		s.Rollout = p.before.Rollout
	}
	s.WholeHashes = t.KeepsFailed()
	if len(s.Delivered) > 0 {
		s.Inputs = p.before.Inputs
	}
	s.remember(p.before)
	return &s
}

// promotedCommitChanged reports whether others changed the file of the promoted commit on the target branch since the
// proposal.
func (p *Proposal) promotedCommitChanged(target *State) bool {
	if p.Head.PromotedCommit == "" {
		return false
	}
	now, ours := target.Seen.PromotedCommitFile, record.PromotedCommitHash(p.Head.PromotedCommit)
	return now != p.Tracking && now != ours
}
