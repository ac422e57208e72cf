package promotion

import (
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// judgeSoak checks how long an environment has run a commit whose latest status is good.
func (g *gates) judgeSoak(gate Gate, commit string) verdict {
	s, _ := g.statuses.latest(commit, gate.Context)
	histories := g.world.Ledger.Histories
	history, read := histories[commit]
	if !read {
		return verdict{unread: []string{commit}}
	}
	all := g.runs(gate, commit)
	unclear := false
	for _, r := range slices.Backward(all) {
		if !r.Covers(gate.Soak) {
			continue
		}
		hidden := g.hidden(gate, commit, r)
		if len(hidden) == 0 {
			return open(fmt.Sprintf("%s, soaked for %s since %s", factsOf(s), clock.Format(gate.Soak), clock.Stamp(r.Start)))
		}
		hidden = slices.DeleteFunc(hidden, func(other string) bool { _, read := histories[other]; return read })
		if len(hidden) > 0 {
			return verdict{unread: hidden}
		}
		unclear = true // more statuses exist than are read
	}
	reason := describeStatus(s) + "; "
	var last run
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	switch {
	case unclear:
		reason += "other commits have more statuses than can be read, so it is unclear whether it ran all the time"
	case len(all) == 0 && history.Partial:
		reason += "the commit has more statuses than can be read, so it is unclear when its run began"
	case len(all) == 0:
		reason += "no good status starts its soak"
	case last.end.IsZero():
		reason += fmt.Sprintf("it soaks for %s from %s on, and needs a good status at %s or later", clock.Format(gate.Soak),
			clock.Stamp(last.Start), clock.Stamp(last.End(gate.Soak)))
		if n := len(all); n > 1 && all[n-2].reason != "" {
			reason += "; its soak began again, because " + all[n-2].reason
		}
	case last.other == "":
		reason += "its soak begins again, because " + last.reason
	default:
		reason += fmt.Sprintf("commit %s replaced it at %s, before it had soaked for %s from %s on", short(last.other),
			clock.Stamp(last.end), clock.Format(gate.Soak), clock.Stamp(last.Start))
	}
	return closed(gate.Name, s.Creator, "%s", reason)
}

// judgeDwell checks whether the current commit must stay longer. A failed commit need not stay.
func (g *gates) judgeDwell() (v verdict) {
	commit := g.world.Current.Commit
	if g.world.Dwell == 0 || commit == "" {
		return v
	}
	own := Gate{Name: g.world.Environment, Context: ContextOf(g.world.Environment)}
	if reason := g.statuses.unreadable(commit); reason != "" {
		return closed(gateDwell, "", "%s", reason)
	}
	s, ok := g.statuses.latest(commit, own.Context)
	switch {
	case !ok:
		return closed(gateDwell, "", "the current commit %s stays for %s from its first good status on, and has no status "+
			"%q yet", short(commit), clock.Format(g.world.Dwell), own.Context)
	case s.State == githost.Failure, s.State == githost.Errored:
		return v
	case !isGood(s):
		return closed(gateDwell, "", "the current commit %s stays for %s from its first good status on: %s", short(commit),
			clock.Format(g.world.Dwell), describeStatus(s))
	}
	if _, read := g.world.Ledger.Histories[commit]; !read {
		return verdict{unread: []string{commit}}
	}
	start := s.SetAt
	runs := g.runs(own, commit)
	for i, r := range slices.Backward(runs) {
		if r.other != "" { // the environment ran another commit
			if i == len(runs)-1 { // by a late status of it
				start = r.end
			}
			break
		}
		start = r.Start
	}
	stay := deployment.Run{Start: start, Last: g.world.Ledger.SeenAt}
	if !stay.Covers(g.world.Dwell) {
		return closed(gateDwell, "", "the current commit %s stays for %s, until %s", short(commit),
			clock.Format(g.world.Dwell), clock.Stamp(stay.End(g.world.Dwell)))
	}
	return v
}
