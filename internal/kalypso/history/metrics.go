package history

import (
	"math"
	"slices"
	"time"
)

// Metrics are the four metrics of DORA over a window. A nil value means that nothing is known.
type Metrics struct {
	Deployments       int // complete deliveries
	DeploymentsPerDay float64
	// LeadTimeSeconds is the median time from a commit of the control plane to its delivery.
	LeadTimeSeconds *int
	// ChangeFailureRate is the share of deliveries that failed, among those that failed or are complete: 0 to 1.
	ChangeFailureRate *float64
	// TimeToRestoreSeconds is the median time from a failure to the next good delivery.
	TimeToRestoreSeconds *int
}

// MetricsOf returns the metrics of deliveries, except DeploymentsPerDay, which needs their window. leads are the lead
// times of their commits.
func MetricsOf(deliveries []*Delivery, leads []time.Duration) Metrics {
	var m Metrics
	var restores []time.Duration
	failed, counted := 0, 0
	for _, d := range deliveries {
		if d.Complete() {
			m.Deployments++
		}
		if d.Failed {
			failed++
		}
		if d.Failed || d.Complete() {
			counted++
		}
		if d.Failed && !d.FailedAt.IsZero() && !d.RestoredAt.IsZero() {
			restores = append(restores, d.RestoredAt.Sub(d.FailedAt))
		}
	}
	if counted > 0 {
		rate := float64(failed) / float64(counted)
		m.ChangeFailureRate = &rate
	}
	m.LeadTimeSeconds, m.TimeToRestoreSeconds = median(leads), median(restores)
	return m
}

// median returns the median in seconds, rounded down, or nil if there are no values. If their number is even, it is the
// mean of the middle two.
func median(values []time.Duration) *int {
	n := len(values)
	if n == 0 {
		return nil
	}
	slices.Sort(values)
	middle := values[n/2]
	if n%2 == 0 {
		middle = values[n/2-1] + (middle-values[n/2-1])/2
	}
	return new(int(math.Floor(middle.Seconds())))
}
