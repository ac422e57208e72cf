package delivery

import (
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
)

// accept returns the state to decide from. If people reverted the branch to an earlier delivery, and the configuration
// agrees, that counts as the last delivery from now on, and not as drift: the fleet renders the same again, or the last
// commit is rejected. After a run that found the revert and wrote nothing, the fleet may also change further, unless it
// restores reverted files. So does the end of a rollout whose folders returned, if the apply was killed after its push.
// A reverted record whose commit is unproven needs the rejection: see
// [Proven].
func accept(t *next.Next, p *past.Prior, s *past.State) *past.State {
	if t.Wish.Updates(s) && s.Drifted() && s.Proposal == nil && returnedFolders(s) {
		return s.AsSeen()
	}
	if !s.Reverted() || !t.Wish.Updates(s) || t.Rendered.Tree == nil || t.Wish.WritesNothing(p) {
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
	case check.Proven(t.Wish.Promotion, s, &s.LastRead) != nil:
	case t.Known == inventory.Whole && ours.Equal(t.Folders) && s.LastRead.Record.Same(t.Record), s.RevertKnown && !back:
		return s.AsSeen()
	}
	return s
}

// commitsOf returns the promoted commits that the last delivery wrote to some folder.
func commitsOf(s *past.State) []string {
	all := []string{s.PromotedCommit}
	if s.Rollout != nil {
		all = append(append(all, s.Rollout.PromotedCommit), s.Rollout.Interrupted...)
	}
	return all
}

// returnedFolders reports whether the branch contains what a failed rollout of s returns to: an apply was killed after
// its push.
func returnedFolders(s *past.State) bool {
	r := s.LastRead.Record
	if r == nil || r.Rollout == nil || r.Rollout.RolledBack == "" || s.Rollout == nil || !s.Rollout.RestoresOnFailure ||
		s.Rollout.RolledBack != "" || r.PromotedCommit != s.PromotedCommit {
		return false
	}
	ours, want := s.OwnFolders().HashTexts(), s.Delivered.HashTexts()
	for name, hash := range s.Rollout.EarlierHashes {
		if want[name] = hash; hash == "" {
			delete(want, name)
		}
	}
	return maps.Equal(ours, want)
}
