package delivery

import (
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

// accept returns the state to decide from. A revert to an earlier delivery counts as the last delivery, and not as
// drift, if the configuration agrees with it: the fleet renders the reverted tree again, or rejected lists the last
// commit. Once a run has found the revert and written nothing, the fleet may also render a new tree, unless that
// restores reverted files. If the gates of the reverted record's commit are closed, only rejected agrees: see
// [checkProven]. A rollout's own rollback also counts as delivered if the apply was killed after its push.
func (now *Situation) accept(t *NextTree) *State {
	s := now.Found
	updates := CaseOf(t.Wish, s) == Update
	if updates && s.Drifted() && s.Proposal == nil && returnedFolders(s) {
		return s.AsSeen()
	}
	if !s.Reverted() || !updates || t.Rendered.Tree == nil || now.Stop != nil {
		return s
	}
	ours, target := s.OwnFolders(), t.Target()
	back := slices.ContainsFunc(t.Baseline(s).Differing(ours), func(name string) bool {
		folder, rendered := target[name]
		return folder.Known < inventory.Whole || rendered && folder.Hash == s.Delivered[name].Hash
	})
	switch {
	case slices.ContainsFunc(commitsOf(s), func(commit string) bool { return slices.Contains(t.Wish.Rejected, commit) }):
		return s.AsSeen()
	case checkProven(t.Wish, s, &s.LastRead) != nil:
	case t.Known == inventory.Whole && ours.Equal(t.Folders) && s.LastRead.Record.Same(t.Record), s.RevertKnown && !back:
		return s.AsSeen()
	}
	return s
}

// commitsOf returns the promoted commits that folders may contain after the last delivery.
func commitsOf(s *State) []string {
	all := []string{s.PromotedCommit}
	if s.Rollout != nil {
		all = append(append(all, s.Rollout.PromotedCommit), s.Rollout.Interrupted...)
	}
	return all
}

// returnedFolders reports whether the branch contains the folders from before the failed rollout of s: an apply
// returned them, and was killed after its push.
func returnedFolders(s *State) bool {
	r := s.LastRead.Record
	if r == nil || r.Rollout == nil || r.Rollout.RolledBack == "" || s.Rollout == nil || !s.Rollout.RestoresOnFailure ||
		s.Rollout.RolledBack != "" || r.PromotedCommit != s.PromotedCommit {
		return false
	}
	ours, want := s.OwnFolders().HashTexts(), s.Delivered.HashTexts()
	for name, hash := range s.Rollout.EarlierHashes {
		want[name] = hash
		if hash == "" {
			delete(want, name)
		}
	}
	return maps.Equal(ours, want)
}
