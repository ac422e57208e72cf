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
	State     hosting.State       `json:"state"`
	// Lost says that our branch is gone, and Stale that the pull request can't be merged: others wrote the promoted commit
	// of the target branch since.
	Lost  bool `json:"lost,omitempty"`
	Stale bool `json:"stale,omitempty"`
	// Adopted is what the place held of others when it was proposed to take that over.
	Adopted Footprint `json:"adopted,omitempty"`
	// Others are commits that people put on top of ours and that change nothing of what is proposed. They stay until our
	// branch is written anew.
	Others []Drift `json:"others,omitempty"`
	// Tracking is the target's at the time of the proposal.
	Tracking string `json:"tracking,omitempty"`
}

// Open reports whether the proposal waits for people. One that is not was closed without being merged.
func (p *Proposal) Open() bool { return p != nil && p.State == hosting.Open }

// Broken reports whether a proposal that waits for people has to be put right.
func (p *Proposal) Broken() bool { return p.Open() && (p.Lost || p.Stale || p.Head.Drifted()) }

// Aim is the environment of what was delivered or proposed last.
func (s *State) Aim() string {
	if s.Proposal != nil {
		return s.Proposal.Head.Environment
	}
	return s.Environment
}

// Found is what the place holds that is ours, or that is proposed to become ours: what a change is compared with.
func (s *State) Found() Footprint {
	if s.Proposal == nil || len(s.Proposal.Adopted) == 0 {
		return s.Seen
	}
	all := maps.Clone(s.Proposal.Adopted)
	maps.Copy(all, s.Seen)
	return all
}

// Abandoned is the pull request that people closed without merging it; 0 where there is none.
func (s *State) Abandoned() int {
	if s == nil || s.Proposal == nil || s.Proposal.Open() {
		return 0
	}
	return s.Proposal.Number
}

// autoMerge is how the host was asked to merge the pull request.
func (s *State) autoMerge() hosting.MergeMethod {
	if s == nil || s.Proposal == nil {
		return ""
	}
	return s.Proposal.AutoMerge
}

// holds reports whether the place holds what was proposed.
func (s *State) holds(p *Proposal) bool {
	return s.SeenRecord == p.Head.DeliveredRecord && s.Seen.Equal(p.Head.Delivered)
}

// key names a rendering among all of a repo: its environment, and its place in there.
type key struct{ environment, branch, path string }

func (o *Order) key() key { return key{o.Environment, o.Place.Branch, o.Place.Path} }

func (k key) marker() string { return hosting.Marker(k.environment, k.branch, k.path) }

var unusual = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// maxName is how much of a name the branch shows, in bytes: Git and file systems bound it.
const maxName = 60

// branchName is the name of our branch: the same for one rendering always, and another one for each, which the digest sees
// to. Below the prefix it has one part, so that it can't lie in another branch's name.
func branchName(prefix string, k key) string {
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
	sum := sha256.Sum256([]byte(k.marker()))
	return prefix + strings.TrimLeft(name+"-", "-") + hex.EncodeToString(sum[:4])
}

// CheckBranchPrefix returns why our branches can't be named so, or nil.
func CheckBranchPrefix(prefix string) error {
	if err := gitops.CheckName(branchName(prefix, key{"dev", "dev", "."})); err != nil {
		return fmt.Errorf("a branch that begins with %q can't be: %w", prefix, err)
	}
	return nil
}

// sealLine begins the last line of our commits' messages.
const sealLine = "Kalypso-Rendering: "

// seal is a line that tells our commit of these contents from every other one. By it a branch is known as ours, and as
// untouched, without any state: after an apply that was killed.
func (k key) seal(record string, folders map[string]tree.Hash) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n", k.marker(), record)
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		fmt.Fprintf(sum, "%s %s\n", folders[name], name)
	}
	return sealLine + hex.EncodeToString(sum.Sum(nil)[:20])
}

func (f Footprint) hashes() map[string]tree.Hash {
	hashes := make(map[string]tree.Hash, len(f))
	for name, folder := range f {
		hashes[name] = folder.Hash
	}
	return hashes
}

// sealed reports whether the last commit of a branch is ours and nobody changed what it held.
func (s *survey) sealed(k key) (bool, error) {
	message, _, err := s.snapshot.Last()
	if err != nil {
		return false, err
	}
	return strings.HasSuffix(strings.TrimRight(message, "\n"), "\n"+k.seal(s.recordHash, s.hashes(s.listed()))), nil
}

func withSeal(message, seal string) string {
	return strings.TrimRight(message, "\n") + "\n\n" + seal + "\n"
}
