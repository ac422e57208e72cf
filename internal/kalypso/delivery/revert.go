package delivery

import (
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
)

// maxPast limits the earlier deliveries that a state remembers.
const maxPast = 50

// EarlierDelivery is an earlier delivery to the destination. If the branch contains it again, people reverted the
// branch.
type EarlierDelivery struct {
	Record string `json:"record"` // hash of its record
	Tree   string `json:"tree"`   // hash of its tree
}

// AsDelivery returns the last delivery.
func (s *State) AsDelivery() EarlierDelivery {
	return EarlierDelivery{s.DeliveredRecord, s.Delivered.TreeHash().String()}
}

// Remember keeps the deliveries before s, of which before is the last one.
func (s *State) Remember(before *State) {
	if !before.Current() || !before.Destination.Same(s.Destination) || before.Environment != s.Environment {
		return
	}
	s.EarlierDeliveries = before.EarlierDeliveries
	if was := before.AsDelivery(); was != s.AsDelivery() && was.Record != "" {
		others := slices.DeleteFunc(slices.Clone(s.EarlierDeliveries), func(e EarlierDelivery) bool { return e == was })
		s.EarlierDeliveries = append([]EarlierDelivery{was}, others...)
	}
	s.EarlierDeliveries = s.EarlierDeliveries[:min(len(s.EarlierDeliveries), maxPast)]
}

// RememberEarlier keeps deliveries that were read from the history of the branch, newest first.
func (s *State) RememberEarlier(deliveries []EarlierDelivery) {
	for _, d := range deliveries {
		if d != s.AsDelivery() && !slices.Contains(s.EarlierDeliveries, d) && len(s.EarlierDeliveries) < maxPast {
			s.EarlierDeliveries = append(s.EarlierDeliveries, d)
		}
	}
}

// Reverted reports whether people reverted the branch to exactly an earlier delivery, with its record.
func (s *State) Reverted() bool {
	return s.Current() && s.Drifted() && s.LastRead.Record != nil && s.Proposal == nil &&
		slices.Contains(s.EarlierDeliveries, EarlierDelivery{s.LastRead.RecordHash, s.OwnFolders().TreeHash().String()})
}

// AsSeen returns the state as if the branch's current content were delivered.
func (s *State) AsSeen() *State {
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
