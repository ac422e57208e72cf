package history

import (
	"reflect"
	"time"
)

// DeliveryRow is a [Delivery] in a store. Zero values are unknown.
type DeliveryRow struct {
	FirstCommit, Commit                    string
	Started, Delivered                     time.Time
	Author, Kind                           string
	PromotedCommit, PreviousCommit, Reason string
	Commits, LeadTimeSeconds               *int
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
		if old, there := known[r.FirstCommit]; !there || !reflect.DeepEqual(old, r) {
			rows = append(rows, r)
		}
	}
	return rows
}
