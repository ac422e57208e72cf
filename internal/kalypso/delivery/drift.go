package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// overwrittenDrift returns the branches on which the apply overwrites foreign changes: the destination, and the branch
// of the pull request.
func (now *Situation) overwrittenDrift(t *NextTree) []*State {
	s := now.State
	var all []*State
	keeps := now.Case.moves() && t.Args.KeepOld
	if overwrites(t, s, now.Case == Update) && !keeps {
		all = append(all, s)
	}
	if !s.Current() || s.Proposal == nil {
		return all
	}
	p := s.Proposal
	switch {
	case overwrites(t, p.Head, now.Case == Update):
		all = append(all, p.Head)
	case len(p.OtherCommits) > 0:
		others := *p.Head
		others.Drift = p.OtherCommits
		all = append(all, &others)
	}
	return all
}

// overwrites reports whether the apply overwrites foreign changes on the branch of s. It overwrites nothing if the
// branch already contains the desired tree: the fleet now renders the foreign change, or an apply was killed after its
// push. Nor does it if each target on the branch is as it was delivered or as it is desired, as after an apply that was
// killed while it kept targets that render now, or rendered targets that it keeps now.
func overwrites(t *NextTree, s *State, updates bool) bool {
	if !s.Current() || !s.Drifted() {
		return false
	}
	wanted := inventory.Folders{}
	if updates {
		if t.Rendered.Tree == nil {
			return true
		}
		wanted = t.Folders
	}
	ours, baseline := s.OwnFolders(), t.baseline(s)
	for _, name := range baseline.Differing(ours) {
		if ours[name].Hash == wanted[name].Hash {
			continue
		}
		if !updates || !ours[name].Between(baseline[name], wanted[name]) {
			return true
		}
	}
	read := &s.LastRead
	switch {
	case read.RecordHash == s.DeliveredRecord:
		return false
	case !updates:
		return read.RecordHash != ""
	case t.continues(read.Record):
		return false
	case s.Reverted():
		return t.promotesRevertedAgain(s)
	}
	ownForm := read.Record != nil && read.Record.Hash() == read.RecordHash
	return !ownForm || !read.Record.SameExceptFailures(t.RecordOn(read))
}
