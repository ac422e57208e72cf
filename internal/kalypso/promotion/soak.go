package promotion

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/clock"
)

// run is a period in which an environment ran a commit.
type run struct {
	start time.Time // first good status
	last  time.Time // last good status
	end   time.Time // first status that ends it; zero: none
	other string    // the other commit that this status is on; "": it is on the same commit
	why   string    // what ended it, unless another commit did
}

// covers reports whether a good status proves that the environment ran the commit for this long.
func (r run) covers(soak time.Duration) bool { return !r.last.Before(r.start.Add(soak)) }

// event is a status in the context of an environment.
type event struct {
	githost.Status
	commit string
}

// runs returns the periods in which an environment ran a commit, oldest first, as far as the read statuses show. Hosts
// remove old statuses: then a run begins with the first one that is left, and is shorter, never longer. A failure of
// the commit discards all earlier runs: only later ones are proof. A run ends with a status on another commit, with a
// status that is not good, or with a good one that comes later than the gate allows; the latter begins the next run.
// Hosts report whole seconds: a status on another commit in the same second counts as after a continuing run, and as
// before a new one.
func (c *choice) runs(g Gate, commit string) []run {
	events := c.eventsOf(g.Context)
	r := runner{within: g.RenewedWithin}
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].SetAt.Equal(events[0].SetAt) {
			n++
		}
		ownFirst := r.running
		for _, first := range []bool{true, false} {
			for _, e := range events[:n] {
				if own := e.commit == commit; (own == ownFirst) == first {
					r.take(e, own, own && mayBeBy(e.Status, g.By) && !c.isFuture(e.Status))
				}
			}
		}
		events = events[n:]
	}
	return r.all
}

// eventsOf returns the read statuses of all commits in a context, oldest first.
func (c *choice) eventsOf(context string) []*event {
	context = strings.ToLower(context)
	if events, known := c.events[context]; known {
		return events
	}
	var events []*event
	for _, commit := range c.commitsWith(context) {
		statuses := c.all(commit, context)
		if h, read := c.Ledger.Histories[commit]; read {
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
	c.events[context] = events
	return events
}

// runner finds the runs of a commit, status by status.
type runner struct {
	within  time.Duration // the longest time between two good statuses of a run; 0: any
	all     []run
	running bool
}

// take adds the next status. counts says that a good one is a proof.
func (r *runner) take(e *event, own, counts bool) {
	switch {
	case !own:
		r.end(e, e.commit, "")
	case e.State == githost.Failure:
		r.all, r.running = nil, false
	case !isGood(e.Status):
		r.end(e, "", fmt.Sprintf("it was %s at %s", e.State, stamp(e.SetAt)))
	case !counts:
	default:
		if r.running && r.within > 0 {
			if last := r.all[len(r.all)-1].last; e.SetAt.Sub(last) > r.within {
				r.end(e, "", fmt.Sprintf("no good status came from %s to %s, and one proves it for %s", stamp(last),
					stamp(e.SetAt), clock.Format(r.within)))
			}
		}
		if !r.running {
			r.all, r.running = append(r.all, run{start: e.SetAt}), true
		}
		r.all[len(r.all)-1].last = e.SetAt
	}
}

func (r *runner) end(e *event, other, why string) {
	if r.running {
		last := &r.all[len(r.all)-1]
		last.end, last.other, last.why, r.running = e.SetAt, other, why, false
	}
}

// others returns the other commits that have, or may have, statuses in the context, sorted.
func (c *choice) others(g Gate, commit string) []string {
	return slices.DeleteFunc(c.commitsWith(g.Context), func(other string) bool { return other == commit })
}

// commitsWith returns the commits that have, or may have, statuses in a context, sorted.
func (c *choice) commitsWith(context string) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(c.found[strings.ToLower(context)])), maps.Keys(c.Ledger.Unread))
	slices.Sort(all)
	return slices.Compact(all)
}

// judgeSoak checks how long an environment has run a commit whose latest status is good.
func (c *choice) judgeSoak(g Gate, commit string) (string, *Waiting) {
	s, _ := c.latest(commit, g.Context)
	history, read := c.Ledger.Histories[commit]
	if !read {
		c.Unread = append(c.Unread, commit)
		return "", nil
	}
	all := c.runs(g, commit)
	unclear := false
	for _, r := range slices.Backward(all) {
		if !r.covers(g.Soak) {
			continue
		}
		hidden := c.hidden(g, commit, r)
		if len(hidden) == 0 {
			return fmt.Sprintf("%s, soaked %s since %s", factsOf(s), clock.Format(g.Soak), stamp(r.start)), nil
		}
		hidden = slices.DeleteFunc(hidden, func(other string) bool { _, read := c.Ledger.Histories[other]; return read })
		if len(hidden) > 0 {
			c.Unread = append(c.Unread, hidden...)
			return "", nil
		}
		unclear = true // more statuses exist than are read
	}
	reason := fmt.Sprintf("%s; ", describeStatus(s))
	switch {
	case unclear:
		reason += "other commits have more statuses than can be read, so it is unclear whether it ran all the time"
	case len(all) == 0 && history.Partial:
		reason += "the commit has more statuses than can be read, so it is unclear when its run began"
	case len(all) == 0:
		reason += "no good status began a run"
	case all[len(all)-1].end.IsZero():
		r := all[len(all)-1]
		reason += fmt.Sprintf("it soaks %s from %s on, and needs a good status at %s or later", clock.Format(g.Soak),
			stamp(r.start), stamp(r.start.Add(g.Soak)))
		if n := len(all); n > 1 && all[n-2].why != "" {
			reason += "; its soak began anew, since " + all[n-2].why
		}
	case all[len(all)-1].other == "":
		reason += "its soak begins anew, since " + all[len(all)-1].why
	default:
		r := all[len(all)-1]
		reason += fmt.Sprintf("commit %s replaced it at %s, before it had soaked %s from %s on", short(r.other),
			stamp(r.end), clock.Format(g.Soak), stamp(r.start))
	}
	return "", &Waiting{Gate: g.Name, By: s.Creator, Reason: reason}
}

// hidden returns the commits that may have an unread status within the soak of a run, sorted by their latest status:
// the first of them ends the run.
func (c *choice) hidden(g Gate, commit string, r run) []string {
	var all []string
	at := map[string]time.Time{}
	for _, other := range c.others(g, commit) {
		s, ok := c.latest(other, g.Context)
		if c.Ledger.Unread[other] == "" && (!ok || s.SetAt.Before(r.start)) {
			continue
		}
		h, read := c.Ledger.Histories[other]
		if !read || h.Partial && (len(h.Statuses) == 0 || h.Statuses[len(h.Statuses)-1].SetAt.After(r.start)) {
			at[other] = s.SetAt
			all = append(all, other)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(at[a].Compare(at[b]), cmp.Compare(a, b)) })
	return all
}

// dwells returns the reason why the current commit stays longer, or "". A failed commit does not stay.
func (c *choice) dwells() string {
	commit := c.World.Current.Commit
	if c.Dwell == 0 || commit == "" {
		return ""
	}
	g := Gate{Name: c.Environment, Context: ContextOf(c.Environment)}
	if reason := c.unreadable(commit); reason != "" {
		return reason
	}
	s, ok := c.latest(commit, g.Context)
	switch {
	case !ok:
		return fmt.Sprintf("the current commit %s stays %s from its first good status on, and has no status %q",
			short(commit), clock.Format(c.Dwell), g.Context)
	case s.State == githost.Failure, s.State == githost.Errored:
		return ""
	case !isGood(s):
		return fmt.Sprintf("the current commit %s stays %s from its first good status on: %s", short(commit),
			clock.Format(c.Dwell), describeStatus(s))
	}
	if _, read := c.Ledger.Histories[commit]; !read {
		c.Unread = append(c.Unread, commit)
		return ""
	}
	start := s.SetAt
	runs := c.runs(g, commit)
	for i, r := range slices.Backward(runs) {
		if r.other != "" { // the environment ran another commit
			if i == len(runs)-1 { // by a late status of it
				start = r.end
			}
			break
		}
		start = r.start
	}
	if until := start.Add(c.Dwell); until.After(c.Ledger.SeenAt) {
		return fmt.Sprintf("the current commit %s stays %s, until %s", short(commit), clock.Format(c.Dwell), stamp(until))
	}
	return ""
}
