package deployment

import "time"

// Run is a period in which something ran: a commit in an environment, or a change on the clusters of a stage.
type Run struct {
	Start time.Time // the first proof that it ran
	Last  time.Time // the last proof
}

// Covers reports whether the run is proven for a time. Time after the last proof does not count.
func (r Run) Covers(soak time.Duration) bool { return !r.Last.Before(r.End(soak)) }

// End returns when a soak that starts with the run ends.
func (r Run) End(soak time.Duration) time.Time { return r.Start.Add(soak) }
