package history

import (
	"reflect"
	"time"
)

// DeliveryRow is a [Delivery] in a store, whose columns have the names of its JSON. Zero values are unknown.
type DeliveryRow struct {
	FirstCommit     string    `json:"first_commit"`
	Commit          string    `json:"commit"`
	Started         time.Time `json:"started_at" attribute:"started_at"`
	Delivered       time.Time `json:"delivered_at,omitzero" attribute:"delivered_at"`
	Author          string    `json:"author,omitempty"`
	Kind            string    `json:"kind"`
	PromotedCommit  string    `json:"promoted_commit,omitempty"`
	PreviousCommit  string    `json:"previous_commit,omitempty"`
	Reason          string    `json:"reason,omitempty"`
	Commits         *int      `json:"commits,omitempty"`
	LeadTimeSeconds *int      `json:"lead_time_seconds,omitempty"`
	Running         time.Time `json:"running_at,omitzero" attribute:"running_at"`
	FailedAt        time.Time `json:"failed_at,omitzero"`
	Restored        time.Time `json:"restored_at,omitzero" attribute:"restored_at"`
	Failed          bool      `json:"failed"`
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
