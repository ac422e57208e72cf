package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime/debug"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// build names this build of the program: its version, commit, dependencies and compiler. Another one may render other bytes
// from the same inputs.
var build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	sum := sha256.Sum256([]byte(info.String()))
	return hex.EncodeToString(sum[:8])
})

// Rendered are the folders that need not be rendered again where their inputs are the same.
func (s *State) Rendered() tree.Rendered {
	known := tree.Rendered{}
	for _, folder := range s.rendered() {
		if !folder.Digest.IsZero() {
			known[folder.Digest] = folder
		}
	}
	return known
}

// rendered is what this build of the program rendered for s; nil where it did not. It says nothing of what a branch holds.
func (s *State) rendered() Footprint {
	if s != nil && s.Proposal != nil {
		s = s.Proposal.Head
	}
	switch {
	case s == nil || s.Version != stateVersion || s.Engine != engineVersion || s.Build == "" || s.Build != build():
		return nil
	case s.Delivered == nil: // computed alone
		return s.Seen
	}
	return s.Delivered
}

// Renewed is s where t has the files that s tells of, and was rendered from other inputs or by another build.
func (s *State) Renewed(t *tree.Tree) *State {
	now := *s
	if s.Proposal != nil {
		p := *s.Proposal
		p.Head = p.Head.Renewed(t)
		now.Proposal = &p
		return &now
	}
	switch footprint := FootprintOf(t); {
	case footprint.Equal(s.Delivered):
		now.Delivered, now.Build = footprint, build()
	case s.Delivered == nil && footprint.Equal(s.Seen):
		now.Seen, now.Build = footprint, build()
	}
	return &now
}
