package delivery

import "encoding/json"

// Promotion says why the promoted commit was chosen. People and the next decision read it; nothing else depends on it.
type Promotion struct {
	Decision string `json:"decision,omitempty"`
	Summary  string `json:"summary,omitempty"` // gates with their creators, overrides
	// RolledBack is the newest commit that a rollback removed. It must not return by itself.
	RolledBack string `json:"rolled_back,omitempty"`
}

// decisionPinned is the decision of a pin, see package promotion.
const decisionPinned = "pinned"

// recordOn returns the record to write to a branch. Failures to render keep their time. During a rollout, the record
// keeps the reason of the promoted commit, and separately says why the rollout's commit was chosen.
func (d *Desired) recordOn(at *BranchState) Record {
	r := d.record()
	r.setSince(at.Record, d.Author.When)
	if d.Promotion == nil {
		return r
	}
	r.Promotion = d.reasonOn(at.Record)
	if r.Rollout.UnderWay() {
		r.Promotion, r.Promoting = nil, r.Promotion
		if at.Record != nil {
			r.Promotion = at.Record.Promotion
		}
	}
	return r
}

// reasonOn returns why the promoted commit was chosen. While a record leads to the same commit, its reason stays: a
// later decision only says why it chose no other commit.
func (d *Desired) reasonOn(was *Record) *Promotion {
	if was == nil {
		return d.Promotion
	}
	commit, reason := was.Taken()
	switch {
	case commit == d.PromotedCommit && reason != nil:
		return reason
	case commit != d.PromotedCommit && d.Promotion.Decision == decisionPinned && d.Promotion.RolledBack == "":
		// Nothing tells whether the pin is a rollback. If it is not, the entry is older than the pin, and has no effect.
		kept := *d.Promotion
		kept.RolledBack = commit
		if reason != nil && reason.RolledBack != "" {
			kept.RolledBack = reason.RolledBack
		}
		return &kept
	}
	return d.Promotion
}

// Taken returns the commit that a record leads to, and why: that of the rollout under way, else the promoted one. The
// reason is nil if nobody said.
func (r *Record) Taken() (commit string, reason *Promotion) {
	commit, reason = r.PromotedCommit, r.Promotion
	if !r.Rollout.UnderWay() {
		return commit, reason
	}
	if r.Rollout.PromotedCommit != "" {
		commit = r.Rollout.PromotedCommit
	}
	if r.Promoting != nil {
		reason = r.Promoting
	}
	return commit, reason
}

// newReason returns why a record takes another commit than the one before, or nil if it takes none.
func (r *Record) newReason(before *Record) *Promotion {
	commit, reason := r.Taken()
	if before == nil {
		return reason
	}
	if was, _ := before.Taken(); was == commit && before.PromotedCommit == r.PromotedCommit {
		return nil
	}
	return reason
}

// RolloutUnderWay reports whether a record says that a rollout is under way. A record without a rollout says no.
func RolloutUnderWay(record []byte) bool {
	var r struct {
		Rollout *struct {
			Complete bool `json:"complete"`
		} `json:"rollout"`
	}
	return json.Unmarshal(record, &r) != nil || r.Rollout != nil && !r.Rollout.Complete
}
