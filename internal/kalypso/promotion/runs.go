package promotion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// run is a period in which an environment ran a commit. Its proofs are good statuses.
type run struct {
	deployment.Run
	end    time.Time // first status that ends it; zero: none
	other  string    // the other commit that this status is on; "": it is on the same commit
	reason string    // what ended it, unless another commit did
}

// event is a status in the context of an environment.
type event struct {
	githost.Status
	commit string
}

// runs returns the periods in which an environment ran a commit, oldest first, as far as the read statuses show. A run
// ends with a status on another commit, with a status that is not good, or with a good status that comes later than the
// gate allows, which begins the next run. A failure of the commit discards all earlier runs. Hosts remove old statuses:
// a run then begins with the oldest remaining status, so it is shorter, never longer. Hosts report whole seconds: a
// status on another commit in the same second comes after the last status of a continuing run, and before the first
// status of a new run.
func (g *gates) runs(gate Gate, commit string) []run {
	r := runner{longestGap: gate.RenewedWithin}
	for atOnce := range lists.Runs(g.eventsOf(gate.Context), func(e *event) int64 { return e.SetAt.UnixNano() }) {
		ownFirst := r.running
		for _, first := range []bool{true, false} {
			for _, e := range atOnce {
				if own := e.commit == commit; (own == ownFirst) == first {
					r.take(e, own, own && mayBeBy(e.Status, gate.By) && !g.statuses.isFuture(e.Status))
				}
			}
		}
	}
	return r.all
}

// eventsOf returns the read statuses of all commits in a context, oldest first.
func (g *gates) eventsOf(context string) []*event {
	context = strings.ToLower(context)
	if events, known := g.events[context]; known {
		return events
	}
	var events []*event
	for _, commit := range g.statuses.commitsWith(context) {
		statuses := g.statuses.of(commit, context)
		if h, read := g.statuses.ledger.Histories[commit]; read {
			// A host that removes old statuses may still show the latest one, and no longer list it.
			removed := slices.DeleteFunc(slices.Clone(statuses), func(s githost.Status) bool {
				return s.CheckRun || len(h.Statuses) > 0 && !s.SetAt.Before(h.Statuses[len(h.Statuses)-1].SetAt)
			})
			statuses = slices.Concat(h.Statuses, removed)
		}
		for _, s := range slices.Backward(statuses) { // newest first
			if strings.EqualFold(s.Context, context) && !s.CheckRun {
				events = append(events, &event{s, commit})
			}
		}
	}
	slices.SortStableFunc(events, func(a, b *event) int { return a.SetAt.Compare(b.SetAt) })
	g.events[context] = events
	return events
}

// runner finds the runs of a commit, status by status.
type runner struct {
	longestGap time.Duration // the longest time between two good statuses of a run; 0: any
	all        []run
	running    bool
}

// take adds the next status. counts says that a good one is a proof.
func (r *runner) take(e *event, own, counts bool) {
	switch {
	case !own:
		r.end(e, e.commit, "")
	case e.State == githost.Failure:
		r.all, r.running = nil, false
	case !isGood(e.Status):
		r.end(e, "", fmt.Sprintf("it was %s at %s", e.State, clock.Stamp(e.SetAt)))
	case !counts:
	default:
		if r.running && r.longestGap > 0 {
			if last := r.all[len(r.all)-1].Last; e.SetAt.Sub(last) > r.longestGap {
				r.end(e, "", fmt.Sprintf("no good status came from %s to %s, and a status counts for %s", clock.Stamp(last),
					clock.Stamp(e.SetAt), clock.Format(r.longestGap)))
			}
		}
		if !r.running {
			r.all, r.running = append(r.all, run{Run: deployment.Run{Start: e.SetAt}}), true
		}
		r.all[len(r.all)-1].Last = e.SetAt
	}
}

func (r *runner) end(e *event, other, why string) {
	if r.running {
		last := &r.all[len(r.all)-1]
		last.end, last.other, last.reason, r.running = e.SetAt, other, why, false
	}
}

// hidden returns the commits that may have an unread status within the soak of a run, sorted by their latest status:
// the first of them ends the run.
func (g *gates) hidden(gate Gate, commit string, r run) []string {
	var all []string
	at := map[string]time.Time{}
	for _, other := range g.statuses.commitsWith(gate.Context) {
		s, ok := g.statuses.latest(other, gate.Context)
		if other == commit || g.statuses.ledger.Unread[other] == "" && (!ok || s.SetAt.Before(r.Start)) {
			continue
		}
		h, read := g.statuses.ledger.Histories[other]
		if !read || h.Partial && (len(h.Statuses) == 0 || h.Statuses[len(h.Statuses)-1].SetAt.After(r.Start)) {
			at[other] = s.SetAt
			all = append(all, other)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(at[a].Compare(at[b]), cmp.Compare(a, b)) })
	return all
}
