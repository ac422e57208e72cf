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

// recordOn returns the record to write to a branch. Failures to render keep their time. While the promoted commit
// stays, its reason stays too: a later decision only says why it chose no other commit.
func (d *Desired) recordOn(at *BranchState) Record {
	r := d.record()
	r.setSince(at.Record, d.Author.When)
	if at.Record == nil || d.Promotion == nil {
		return r
	}
	was := at.Record.Promotion
	switch {
	case at.Record.PromotedCommit == r.PromotedCommit:
		if was != nil {
			r.Promotion = was
		}
	case r.Promotion.Decision == decisionPinned && r.Promotion.RolledBack == "":
		// Nothing tells whether the pin is a rollback. If it is not, the entry is older than the pin, and has no effect.
		kept := *r.Promotion
		kept.RolledBack = at.Record.PromotedCommit
		if was != nil && was.RolledBack != "" {
			kept.RolledBack = was.RolledBack
		}
		r.Promotion = &kept
	}
	return r
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
