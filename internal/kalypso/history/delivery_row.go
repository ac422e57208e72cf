package history

import "time"

// DeliveryRow is a [Delivery] in a store. Zero values are unknown.
type DeliveryRow struct {
	FirstCommit, Commit                    string
	Started, Delivered                     time.Time
	Author, Kind                           string
	PromotedCommit, PreviousCommit, Reason string
	Commits, LeadTimeSeconds               *int64
	Running, FailedAt, Restored            time.Time
	Failed                                 bool
}

// NewRows returns the rows of now that are new or have changed. It ignores removed rows.
func NewRows(was, now []DeliveryRow) []DeliveryRow {
	known := make(map[string]DeliveryRow, len(was))
	for _, r := range was {
		known[r.FirstCommit] = r
	}
	var rows []DeliveryRow
	for _, r := range now {
		if old, there := known[r.FirstCommit]; !there || !old.equal(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

func (d DeliveryRow) equal(other DeliveryRow) bool {
	if !equalNumbers(d.Commits, other.Commits) || !equalNumbers(d.LeadTimeSeconds, other.LeadTimeSeconds) {
		return false
	}
	d.Commits, d.LeadTimeSeconds, other.Commits, other.LeadTimeSeconds = nil, nil, nil, nil
	return d == other
}

func equalNumbers(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
