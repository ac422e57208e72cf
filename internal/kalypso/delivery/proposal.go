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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Proposal is a tree that a pull request proposes, and that its target branch does not hold.
type Proposal struct {
	// Head is our branch: what was proposed is what was delivered to it, and what others push to it is drift.
	Head   *State `json:"head"`
	Pushed string `json:"pushed"` // the commit that we made of it
	Number int    `json:"number"` // of the pull request
	// AutoMerge is how the host was asked to merge it; "" where it was not, whatever people asked it since.
	AutoMerge hosting.MergeMethod `json:"auto_merge,omitempty"`
	// Asked are the reviewers that the host was asked to ask. It forgets them once they have reviewed.
	Asked []string      `json:"asked,omitempty"`
	State hosting.State `json:"state"`
	// Lost says that our branch is gone, and Stale that the pull request can't be merged: others wrote the promoted commit
	// of the target branch since.
	Lost  bool `json:"lost,omitempty"`
	Stale bool `json:"stale,omitempty"`
	// Adopted is what the destination held of others when it was proposed to adopt that.
	Adopted Inventory `json:"adopted,omitempty"`
	// Others are commits that people put on top of ours and that change nothing of what is proposed. They stay until our
	// branch is written anew.
	Others []Drift `json:"others,omitempty"`
	// Tracking is the target's [BranchState.PromotedCommitFile] at the time of the proposal.
	Tracking string `json:"tracking,omitempty"`
}

// Open reports whether the proposal waits for people. One that is not was closed without being merged.
func (p *Proposal) Open() bool { return p != nil && p.State == hosting.Open }

// Broken reports whether a proposal that waits for people has to be put right.
func (p *Proposal) Broken() bool { return p.Open() && (p.Lost || p.Stale || p.Head.Drifted()) }

// desiredEnvironment returns the environment of what was delivered or proposed last.
func (s *State) desiredEnvironment() string {
	if s.Proposal != nil {
		return s.Proposal.Head.Environment
	}
	return s.Environment
}

// Found returns what the destination holds that is ours, or that is proposed to become ours: what a change is compared with.
func (s *State) Found() Inventory {
	found := s.Ours()
	if s.Proposal != nil {
		adopted := maps.Clone(s.Proposal.Adopted)
		maps.DeleteFunc(adopted, func(name string, _ Folder) bool { _, ours := found[name]; return ours })
		maps.Copy(found, adopted)
	}
	return found
}

// Abandoned returns the number of the pull request that people closed without merging it; 0 where there is none.
func (s *State) Abandoned() int {
	if s == nil || s.Proposal == nil || s.Proposal.Open() {
		return 0
	}
	return s.Proposal.Number
}

// pushed returns the last commit of our branch that is known as ours; empty where none is.
func (s *State) pushed() string {
	if s == nil || s.Proposal == nil {
		return ""
	}
	return s.Proposal.Pushed
}

// proposalOf returns what the state knows of a pull request; nil where that is nothing.
func (s *State) proposalOf(pr *hosting.PullRequest) *Proposal {
	if s == nil || s.Proposal == nil || pr == nil || s.Proposal.Number != pr.Number {
		return nil
	}
	return s.Proposal
}

// key names a rendering among all of a repo: its environment, and its destination in there.
type key struct{ environment, branch, path string }

func (d *Desired) key() key { return key{d.Environment, d.Destination.Branch, d.Destination.Path} }

func (k key) marker() string { return hosting.Marker(k.environment, k.branch, k.path) }

func (k key) removalMarker() string {
	return hosting.RemovalMarker(k.environment, k.branch, k.path)
}

var unusual = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// maxName is how much of a name the branch shows, in bytes: Git and file systems bound it.
const maxName = 60

// branchName returns the name of our branch: the same for one rendering always, and another one for each, which the digest
// sees to. Below the prefix it has one part, so that it can't lie in another branch's name.
func branchName(prefix string, k key) string { return nameBranch(prefix, k, k.marker()) }

// removalBranchName returns the name of our branch that removes a rendering.
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

// CheckBranchPrefix returns why our branches can't be named so, or nil.
func CheckBranchPrefix(prefix string) error {
	if err := gitops.CheckName(branchName(prefix, key{"dev", "dev", "."})); err != nil {
		return fmt.Errorf("a branch that begins with %q can't be: %w", prefix, err)
	}
	return nil
}

// trailerKey begins the last line of our commits' messages.
const trailerKey = "Kalypso-Rendering: "

// trailer returns the line that tells our commit of these contents from every other one. By it a branch is known as ours, and
// as untouched, without any state: after an apply that was killed.
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

// reviewBranch is our own branch, from which a pull request comes.
type reviewBranch struct {
	*BranchState
	trailer bool     // its last commit is ours, and nobody changed what it held
	parents []string // of its last commit
}

// readReviewBranch reads our own branch at a destination on it.
func readReviewBranch(snapshot *gitops.Snapshot, at Destination, k key) (*reviewBranch, error) {
	b, err := readBranch(snapshot, at, nil, nil)
	if err != nil || b.Head == "" {
		return &reviewBranch{BranchState: b}, err
	}
	message, parents, err := snapshot.CommitInfo()
	if err != nil {
		return nil, err
	}
	trailer := k.trailer(b.RecordHash, b.Folders.only(b.listed()).hashes())
	r := &reviewBranch{BranchState: b, trailer: strings.HasSuffix(strings.TrimRight(message, "\n"), "\n"+trailer)}
	for _, parent := range parents {
		r.parents = append(r.parents, parent.String())
	}
	return r, nil
}

// onTopOf reports whether the branch is one commit on top of another branch's head.
func (r *reviewBranch) onTopOf(head string) bool { return slices.Equal(r.parents, []string{head}) }

// mayRebuild returns why our branch may not be written anew, or nil: it is not ours, or others pushed to it since the plan was
// made. pr is the pull request from it, or nil.
func (r *reviewBranch) mayRebuild(at Destination, s *State, pr *hosting.PullRequest) error {
	if r.Head == "" || r.trailer {
		return nil
	}
	if s != nil && s.Proposal != nil && s.Proposal.Head.Destination.Same(at) {
		moved := r.changedSince(s.Proposal.Head)
		if len(moved) == 0 && r.Head != s.Proposal.Head.Seen.Head {
			moved = []string{"commits beside our folders"} // which go with the branch
		}
		if len(moved) > 0 {
			return &MovedError{at, moved}
		}
		return nil
	}
	switch {
	case pr != nil && pr.State != hosting.Open && pr.HeadCommit == r.Head:
		return nil
	case pr != nil && pr.State == hosting.Open: // no plan has named what they pushed
		return &OwnershipError{Destination: at, Reason: fmt.Sprintf(
			"people pushed to the branch of pull request %d (%s), and no state knows what. Merge it, or close it: then the branch is written anew.",
			pr.Number, pr.URL)}
	}
	return &OwnershipError{Destination: at, Reason: "the branch is there and not this rendering's. Choose another delivery.branch_prefix, or remove it."}
}

// reviewAction is what becomes of our own branch.
type reviewAction int

const (
	reviewRebuild reviewAction = iota // it is written anew, on top of the target
	reviewKeep                        // it holds what is desired, on top of the target
	reviewAbandon                     // people closed the pull request of what it holds, and it stays closed
	reviewNothing                     // the target holds what is desired: there is nothing to propose
)

// review decides what becomes of our own branch, given what the change makes of the target. pr is the pull request from it, or
// nil.
func (d *Desired) review(s *State, c *Change, target *BranchState, ours *reviewBranch, at Destination, pr *hosting.PullRequest) (reviewAction, error) {
	if !c.Needed {
		return reviewNothing, nil
	}
	if !d.heldBy(ours.BranchState) {
		return reviewRebuild, ours.mayRebuild(at, s, pr)
	}
	switch {
	case !d.PullRequest.Reopen && pr != nil && pr.State == hosting.Closed && pr.HeadCommit == ours.Head:
		return reviewAbandon, nil
	case ours.onTopOf(target.Head):
		return reviewKeep, nil
	}
	return reviewRebuild, nil
}

// promotes reports whether the change brings another promoted commit. What moves within the branch, or is adopted from the
// operator, has no record there that names the one before.
func (d *Desired) promotes(s *State, c *Change, at *BranchState) bool {
	promoted := d.AppliedPromotedCommit()
	switch {
	case !d.Complete():
		return false
	case at.Record != nil:
	case d.movesWithin(s):
		return s.PromotedCommit != promoted
	case len(c.Adoption.Adopted) > 0 && promoted != "":
		return at.PromotedCommitFile != blobHash([]byte(promoted))
	}
	return at.promotedCommit() != promoted
}

// standing returns the state of the branch that a pull request goes to: what it holds of ours, which what is proposed does not
// change yet.
func (d *Desired) standing(p *plannedChange) *State {
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
	if len(s.Delivered) > 0 {
		s.Inputs = p.before.Inputs
	}
	return &s
}
