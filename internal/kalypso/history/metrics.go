package history

import (
	"slices"
	"time"
)

// Metrics are the four metrics of DORA over a window. A nil value means that nothing is known.
type Metrics struct {
	Deployments       int // complete deliveries
	DeploymentsPerDay float64
	// LeadTime is the median time from a commit of the control plane to its delivery.
	LeadTime *time.Duration `attribute:"lead_time_seconds"`
	// ChangeFailureRate is the share of deliveries that failed, among those that failed or are complete: 0 to 1.
	ChangeFailureRate *float64
	// TimeToRestore is the median time from a failure to the next good delivery.
	TimeToRestore *time.Duration `attribute:"time_to_restore_seconds"`
}

const day = 24 * time.Hour

// MetricsOf returns the metrics of deliveries that began in a window.
func MetricsOf(deliveries []*Delivery, window time.Duration) Metrics {
	var m Metrics
	var leads, restores []time.Duration
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
		if d.Failed && !d.Restored.IsZero() {
			restores = append(restores, d.Restored.Sub(d.FailedAt))
		}
		leads = append(leads, d.leads()...)
	}
	if window > 0 {
		m.DeploymentsPerDay = float64(m.Deployments) * float64(day) / float64(window)
	}
	if counted > 0 {
		rate := float64(failed) / float64(counted)
		m.ChangeFailureRate = &rate
	}
	m.LeadTime, m.TimeToRestore = Median(leads), Median(restores)
	return m
}

// LeadTime returns the median time from the commits of d to its delivery, in whole seconds. It is nil without commits,
// and if d was never delivered.
func (d *Delivery) LeadTime() *time.Duration { return Median(d.leads()) }

func (d *Delivery) leads() []time.Duration {
	if !d.Complete() {
		return nil
	}
	var all []time.Duration
	for _, c := range d.Commits {
		all = append(all, d.Delivered.Sub(c.Time))
	}
	return all
}

// Median returns the median, rounded down to seconds, or nil if there are no values. If their number is even, it is the
// mean of the middle two.
func Median(values []time.Duration) *time.Duration {
	n := len(values)
	if n == 0 {
		return nil
	}
	slices.Sort(values)
	middle := values[n/2]
	if n%2 == 0 {
		middle = values[n/2-1] + (middle-values[n/2-1])/2
	}
	rounded := middle.Truncate(time.Second)
	if rounded > middle {
		rounded -= time.Second
	}
	return &rounded
}
