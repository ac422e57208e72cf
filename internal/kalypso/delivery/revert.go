package delivery

import (
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
)

// maxEarlierDeliveries limits the earlier deliveries that a state remembers.
const maxEarlierDeliveries = 50

// EarlierDelivery is an earlier delivery to the destination. If the branch contains it again, people reverted the
// branch.
type EarlierDelivery struct {
	Record string `json:"record"` // hash of its record
	Tree   string `json:"tree"`   // hash of its tree
}

// asDelivery returns the last delivery.
func (s *State) asDelivery() EarlierDelivery {
	return EarlierDelivery{s.DeliveredRecord, s.Delivered.TreeHash().String()}
}

// Remember keeps the deliveries before s, of which before is the last one.
func (s *State) Remember(before *State) {
	if !before.Current() || !before.Destination.Same(s.Destination) || before.Environment != s.Environment {
		return
	}
	s.EarlierDeliveries = before.EarlierDeliveries
	if was := before.asDelivery(); was != s.asDelivery() && was.Record != "" {
		others := slices.DeleteFunc(slices.Clone(s.EarlierDeliveries), func(e EarlierDelivery) bool { return e == was })
		s.EarlierDeliveries = append([]EarlierDelivery{was}, others...)
	}
	s.EarlierDeliveries = s.EarlierDeliveries[:min(len(s.EarlierDeliveries), maxEarlierDeliveries)]
}

// RememberEarlier keeps deliveries that were read from the history of the branch, newest first.
func (s *State) RememberEarlier(deliveries []EarlierDelivery) {
	for _, d := range deliveries {
		if len(s.EarlierDeliveries) >= maxEarlierDeliveries {
			return
		}
		if d != s.asDelivery() && !slices.Contains(s.EarlierDeliveries, d) {
			s.EarlierDeliveries = append(s.EarlierDeliveries, d)
		}
	}
}

// Reverted reports whether people reverted the branch to exactly an earlier delivery, with its record.
func (s *State) Reverted() bool {
	return s.Current() && s.Drifted() && s.LastRead.Record != nil && s.Proposal == nil &&
		slices.Contains(s.EarlierDeliveries, EarlierDelivery{s.LastRead.RecordHash, s.OwnFolders().TreeHash().String()})
}

// AsLastRead returns the state as if the branch's current content were delivered.
func (s *State) AsLastRead() *State {
	now, r := *s, s.LastRead.Record
	now.Delivered, now.DeliveredRecord, now.Decisions = s.OwnFolders(), s.LastRead.RecordHash, r.Decisions
	now.PromotedCommit, now.Rollout, now.Inputs = r.PromotedCommit, RolloutOf(r, s.LastRead.Time), inputsOf(r)
	now.Base, now.Drift, now.RevertKnown = s.LastRead.Head, nil, false
	now.Remember(s)
	return &now
}

// RolloutOf returns the rollout that a record describes, or nil if it describes none. at is the time of its commit, or
// later.
func RolloutOf(r *record.Record, at time.Time) *rollout.StoredProgress {
	if r == nil || r.Rollout == nil {
		return nil
	}
	return &rollout.StoredProgress{Progress: *r.Rollout, At: at}
}

// stateToStartFrom returns the state to decide from. A revert to an earlier delivery counts as the last delivery, and
// not as drift, if the configuration agrees with it: the fleet renders the reverted tree again, or rejected lists the
// last commit. Once a run has found the revert and written nothing, the fleet may also render a new tree, unless that
// restores reverted files. If the gates of the reverted record's commit are closed, only rejected agrees: see
// [checkProven]. A rollout's own rollback also counts as delivered if the apply was killed after its push.
func (now *Situation) stateToStartFrom(t *NextTree) *State {
	s := now.Found
	updates := now.Case == Update
	if updates && s.Drifted() && s.Proposal == nil && returnedFolders(s) {
		return s.AsLastRead()
	}
	if !s.Reverted() || !updates || t.Rendered.Tree == nil || now.Stop != nil {
		return s
	}
	ours, target := s.OwnFolders(), t.Target()
	back := slices.ContainsFunc(t.baseline(s).Differing(ours), func(name string) bool {
		folder, rendered := target[name]
		return folder.Known < inventory.Whole || rendered && folder.Hash == s.Delivered[name].Hash
	})
	switch {
	case slices.ContainsFunc(commitsOf(s), func(commit string) bool { return slices.Contains(t.Args.Rejected, commit) }):
		return s.AsLastRead()
	case checkProven(t.Args, s, &s.LastRead) != nil:
	case t.Known == inventory.Whole && ours.Equal(t.Folders) && s.LastRead.Record.Same(t.Record),
		s.RevertKnown && !back && !t.promotesRevertedAgain(s):
		return s.AsLastRead()
	}
	return s
}

// promotesRevertedAgain reports whether people reverted a promotion that left all folders as they were, and the next
// tree promotes the same commit again.
func (n *NextTree) promotesRevertedAgain(s *State) bool {
	return s.Reverted() && s.PromotedCommit != s.LastRead.Record.PromotedCommit &&
		s.PromotedCommit == n.Record.PromotedCommit && len(n.baseline(s).Differing(s.OwnFolders())) == 0
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
