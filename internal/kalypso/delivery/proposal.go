package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Proposal is a tree that a pull request proposes, and that its target branch does not hold yet.
type Proposal struct {
	// Head is the state of our branch: what was proposed was delivered to it, and what others push to it is drift.
	Head   *State `json:"head"`
	Pushed string `json:"pushed"` // our commit
	Number int    `json:"number"` // of the pull request
	// AutoMerge is the merge method that we requested from the host. It is empty if we requested none.
	AutoMerge hosting.MergeMethod `json:"auto_merge,omitempty"`
	// RequestedReviewers are the reviewers that we requested. The host forgets them once they have reviewed.
	RequestedReviewers []string      `json:"asked,omitempty"`
	State              hosting.State `json:"state"`
	// Lost says that our branch does not exist any more. Stale says that the pull request can't be merged, because others
	// changed the file of the promoted commit on the target branch.
	Lost  bool `json:"lost,omitempty"`
	Stale bool `json:"stale,omitempty"`
	// Adopted are the folders of others that the proposal adopts, as the destination held them.
	Adopted Inventory `json:"adopted,omitempty"`
	// OtherCommits are commits of others on top of ours that do not change what is proposed. The next push removes them.
	OtherCommits []Drift `json:"others,omitempty"`
	// Tracking is the target's [BranchState.PromotedCommitFile] at the time of the proposal.
	Tracking string `json:"tracking,omitempty"`
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
		maps.DeleteFunc(adopted, func(name string, _ Folder) bool { _, ours := found[name]; return ours })
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
func (s *State) pushed() string {
	if s == nil || s.Proposal == nil {
		return ""
	}
	return s.Proposal.Pushed
}

// proposed returns the number of the pull request that the state knows, or 0.
func (s *State) proposed() int {
	if s == nil || s.Proposal == nil {
		return 0
	}
	return s.Proposal.Number
}

// proposalOf returns what the state knows about a pull request, or nil.
func (s *State) proposalOf(pr *hosting.PullRequest) *Proposal {
	if s == nil || s.Proposal == nil || pr == nil || s.Proposal.Number != pr.Number {
		return nil
	}
	return s.Proposal
}

// key identifies a rendering within a repo.
type key struct{ environment, branch, path string }

func (d *Desired) key() key { return key{d.Environment, d.Destination.Branch, d.Destination.Path} }

func (k key) marker() string { return hosting.Marker(k.environment, k.branch, k.path) }

func (k key) removalMarker() string {
	return hosting.RemovalMarker(k.environment, k.branch, k.path)
}

var unusual = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// maxName limits the readable part of a branch name, in bytes. Git and file systems have limits too.
const maxName = 60

// branchName returns the name of our branch. A digest makes it unique per rendering. After the prefix, it contains no
// slash, so that no branch name contains another one.
func branchName(prefix string, k key) string { return nameBranch(prefix, k, k.marker()) }

// removalBranchName returns the name of the branch that removes a rendering.
func removalBranchName(prefix string, k key) string {
	return nameBranch(prefix+"remove-", k, k.removalMarker())
}

func nameBranch(prefix string, k key, marker string) string {
	parts := []string{k.environment}
	if k.branch != k.environment {
		parts = append(parts, k.branch)
	}
	if k.path != "." {
		parts = append(parts, k.path)
	}
	name := strings.Trim(unusual.ReplaceAllString(strings.Join(parts, "-"), "-"), "-")
	if len(name) > maxName {
		name = name[:maxName]
	}
	sum := sha256.Sum256([]byte(marker))
	return prefix + strings.TrimLeft(name+"-", "-") + hex.EncodeToString(sum[:4])
}

// checkBranchPrefix returns an error if Git does not allow branch names with the prefix.
func checkBranchPrefix(prefix string) error {
	if err := gitops.CheckName(branchName(prefix, key{"dev", "dev", "."})); err != nil {
		return fmt.Errorf("no branch name can start with %q: %w", prefix, err)
	}
	return nil
}

// trailerKey starts the last line of our commit messages.
const trailerKey = "Kalypso-Rendering: "

// trailer returns the commit trailer for a record and folders. It proves that a branch is ours and unchanged, even
// without a state, as after an apply that was killed.
func (k key) trailer(record string, folders map[string]tree.Hash) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n", k.marker(), record)
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		fmt.Fprintf(sum, "%s %s\n", folders[name], name)
	}
	return trailerKey + hex.EncodeToString(sum.Sum(nil)[:20])
}

func withTrailer(message, trailer string) string {
	return strings.TrimRight(message, "\n") + "\n\n" + trailer + "\n"
}

// reviewBranch is our branch, the head of the pull request.
type reviewBranch struct {
	*BranchState
	trailer bool     // the last commit is ours, and nobody changed its contents
	parents []string // of its last commit
}

// readReviewBranch reads our branch at a destination.
func readReviewBranch(snapshot *gitops.Snapshot, at record.Destination, k key) (*reviewBranch, error) {
	b, err := readBranch(snapshot, at, nil, nil)
	if err != nil || b.Head == "" {
		return &reviewBranch{BranchState: b}, err
	}
	message, parents, err := snapshot.CommitInfo()
	if err != nil {
		return nil, err
	}
	trailer := k.trailer(b.RecordHash, b.Folders.only(b.recordedFolders()).hashes())
	r := &reviewBranch{BranchState: b, trailer: strings.HasSuffix(strings.TrimRight(message, "\n"), "\n"+trailer)}
	for _, parent := range parents {
		r.parents = append(r.parents, parent.String())
	}
	return r, nil
}

// onTopOf reports whether the branch is one commit ahead of head.
func (r *reviewBranch) onTopOf(head string) bool { return slices.Equal(r.parents, []string{head}) }

// checkPush returns an error if a push must not replace our branch: it is not ours, or others pushed to it after the
// plan was made. pr is the pull request from the branch, or nil.
func (r *reviewBranch) checkPush(at record.Destination, s *State, pr *hosting.PullRequest) error {
	if r.Head == "" || r.trailer {
		return nil
	}
	if s != nil && s.Proposal != nil && s.Proposal.Head.Destination.Same(at) {
		moved := r.changedSince(s.Proposal.Head)
		if len(moved) == 0 && r.Head != s.Proposal.Head.Seen.Head {
			moved = []string{"commits beside our folders"} // the push would remove them
		}
		if len(moved) > 0 {
			return &MovedError{at, moved}
		}
		return nil
	}
	switch {
	case pr != nil && pr.State != hosting.Open && pr.HeadCommit == r.Head:
		return nil
	case pr != nil && pr.State == hosting.Open: // no plan has shown what they pushed
		return &OwnershipError{Destination: at, Reason: fmt.Sprintf(
			"people pushed to the branch of pull request %d (%s), and the state does not know what. Merge it, or close it: "+
				"then the next apply replaces the branch.", pr.Number, pr.URL)}
	}
	return &OwnershipError{Destination: at, Reason: "the branch exists and is not this rendering's. Choose another " +
		"delivery.branch_prefix, or remove the branch."}
}

// reviewAction is what an apply does with our branch.
type reviewAction int

const (
	reviewPush       reviewAction = iota // push one commit on top of the target, with force-with-lease
	reviewKeep                           // nothing: it holds what is desired, on top of the target
	reviewStayClosed                     // nothing: people closed the pull request for the same tree
	reviewNothing                        // nothing: the target holds what is desired
)

// review decides what an apply does with our branch. c is the change of the target, and pr the pull request, or nil.
func (d *Desired) review(
	s *State, c *Change, target *BranchState, ours *reviewBranch, at record.Destination, pr *hosting.PullRequest,
) (reviewAction, error) {
	if !c.Needed {
		return reviewNothing, nil
	}
	if !d.isHeldBy(ours.BranchState) {
		return reviewPush, ours.checkPush(at, s, pr)
	}
	switch {
	case !d.PullRequest.Reopen && pr != nil && pr.State == hosting.Closed && pr.HeadCommit == ours.Head:
		return reviewStayClosed, nil
	case ours.onTopOf(target.Head):
		return reviewKeep, nil
	}
	return reviewPush, nil
}

// promotes reports whether the change promotes another commit. After a move within the branch, and for folders
// adopted from the operator, no record at the destination names the commit before.
func (d *Desired) promotes(s *State, c *Change, at *BranchState) bool {
	promoted := d.AppliedPromotedCommit()
	switch {
	case !d.Complete():
		return false
	case at.Record != nil:
	case d.movesWithin(s):
		return s.PromotedCommit != promoted
	case len(c.Adoption.Adopted) > 0 && promoted != "":
		return at.PromotedCommitFile != record.PromotedCommitHash(promoted)
	}
	return at.promotedCommit() != promoted
}

// targetState returns the state of the target branch of a pull request, which does not hold the proposed tree yet.
func (d *Desired) targetState(p *plannedChange) *State {
	s := newState(d.Destination, d.Environment)
	if p.at.Record != nil {
		s.Environment = p.at.Record.Environment
	}
	s.Delivered = p.Held.only(without(p.Held.Names(), p.Adoption.Adopted))
	s.DeliveredRecord, s.PromotedCommit = p.at.RecordHash, p.at.promotedCommit()
	if p.at.Record != nil {
		s.Decisions = p.at.Record.Decisions
	}
	s.Base, s.Seen, s.Cache = p.at.Head, *p.at, p.cache
	if s.Rollout = rolloutOf(p.at.Record, p.at.Time); d.updates(p.before) {
		s.Rollout = p.before.Rollout
	}
	s.WholeHashes = d.KeepsFailed()
	if len(s.Delivered) > 0 {
		s.Inputs = p.before.Inputs
	}
	return &s
}
