package delivery

import (
	"slices"
)

// maxPast limits the earlier deliveries that a state remembers.
const maxPast = 50

// Delivery is an earlier delivery to the destination. It distinguishes a revert by people from other foreign changes.
type Delivery struct {
	Record string `json:"record"` // hash of its record
	Tree   string `json:"tree"`   // hash of its tree
}

func deliveryOf(s *State) Delivery {
	return Delivery{s.DeliveredRecord, s.Delivered.TreeHash().String()}
}

// Remember keeps the deliveries before s, of which before is the last one.
func (s *State) Remember(before *State) {
	if !before.Current() || !before.Destination.Same(s.Destination) || before.Environment != s.Environment {
		return
	}
	s.Past = before.Past
	if was := deliveryOf(before); was != deliveryOf(s) && was.Record != "" {
		others := slices.DeleteFunc(slices.Clone(s.Past), func(e Delivery) bool { return e == was })
		s.Past = append([]Delivery{was}, others...)
	}
	s.Past = s.Past[:min(len(s.Past), maxPast)]
}

// RememberEarlier keeps deliveries that were read from the history of the branch, newest first.
func (s *State) RememberEarlier(deliveries []Delivery) {
	for _, d := range deliveries {
		if d != deliveryOf(s) && !slices.Contains(s.Past, d) && len(s.Past) < maxPast {
			s.Past = append(s.Past, d)
		}
	}
}

// Reverted reports whether people reverted the branch to exactly an earlier delivery, with its record.
func (s *State) Reverted() bool {
	return s.Current() && s.Drifted() && s.Seen.Record != nil && s.Proposal == nil &&
		slices.Contains(s.Past, Delivery{s.Seen.RecordHash, s.Ours().TreeHash().String()})
}

// asSeen returns the state as if the branch's current content were delivered.
func asSeen(s *State) *State {
	now, r := *s, s.Seen.Record
	now.Delivered, now.DeliveredRecord, now.Decisions = s.Ours(), s.Seen.RecordHash, r.Decisions
	now.PromotedCommit, now.Rollout, now.Inputs = r.PromotedCommit, RolloutOf(r, s.Seen.Time), InputsOf(r)
	now.Base, now.Drift, now.RevertKnown = s.Seen.Head, nil, false
	now.Remember(s)
	return &now
}

// accept returns the state to decide from. If people reverted the branch to an earlier delivery, and the configuration
// agrees, that counts as the last delivery from now on, and not as drift: the fleet renders the same again, or the last
// commit is rejected. After a run that found the revert and wrote nothing, the fleet may also change further, unless it
// restores reverted files. A reverted record whose commit is unproven needs the rejection: see
// [checkProven].
func accept(t *AppliedTree, p *Prior, s *State) *State {
	if !s.Reverted() || !t.Updates(s) || t.Tree == nil || t.Rests(p) {
		return s
	}
	ours, target := s.Ours(), t.Target()
	back := slices.ContainsFunc(t.baseline(s).Differing(ours), func(name string) bool {
		folder, rendered := target[name]
		return folder.Unknown || rendered && folder.Hash == s.Delivered[name].Hash
	})
	switch {
	case slices.ContainsFunc(commitsOf(s), func(commit string) bool { return slices.Contains(t.Rejected, commit) }):
		return asSeen(s)
	case checkProven(t.Promotion, s, &s.Seen) != nil:
	case t.Known() && ours.Equal(t.inventory) && s.Seen.Record.Same(t.record()), s.RevertKnown && !back:
		return asSeen(s)
	}
	return s
}

// commitsOf returns the promoted commits that the last delivery wrote to some folder.
func commitsOf(s *State) []string {
	all := []string{s.PromotedCommit}
	if s.Rollout != nil {
		all = append(append(all, s.Rollout.PromotedCommit), s.Rollout.Interrupted...)
	}
	return all
}
