package promotion_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// environment is an environment of a simulated chain.
type environment struct {
	name    string
	rules   promotion.Rules
	current promotion.Current
	since   int    // minute at which it began to run the current commit
	fails   bool   // its current commit is broken
	dead    bool   // its pipeline does nothing
	ran     []span // the times in which it ran its earlier commits
	banned  []string
	takes   int // the number of promotions
	// deliveries are the commits that reached all folders, newest first. If waves is set, a promotion may reach only some
	// folders at first. backs are the rolled-back commits in the records of the deliveries.
	deliveries, backs []string
	waves             bool
	record            *record.Record // the record on the GitOps branch, or nil
	fleet
}

// folders returns the commits that some folder contains.
func (e *environment) folders() []string {
	return append([]string{e.current.Commit}, e.current.OtherCommits...)
}

// rejects reports whether a commit is rejected, by a simple form of the rule.
func (c *chain) rejects(e *environment, commit string) bool {
	is := slices.Index(c.main, commit)
	for bad, good := range e.rules.Rejected {
		from, to := slices.Index(c.main, bad), slices.Index(c.main, good)
		if commit == bad || is >= 0 && is <= from && (to < 0 || to >= from || is > to) {
			return true
		}
	}
	return false
}

// span is a time in which an environment ran a commit. It ends with a reported failure or another commit.
type span struct {
	commit   string
	from, to int
	failed   bool // whether it ended with a failure
}

// chain is a simulated control plane with its environments.
type chain struct {
	t    *testing.T
	rand *rand.Rand
	now  int
	seed uint64
	// seconds is the number of reports in minute.
	minute, seconds int
	skew            int // how many minutes the host's clock is ahead
	next            int
	main            []string // newest first
	// trees has the tree of each commit. After a force-push, another commit may have the tree of a removed commit. A
	// commit that the server has deleted has none.
	trees map[string]string
	// left has the fork point of each removed commit that the server still has: the newest commit of main that it
	// contains.
	left map[string]string
	// folders has the trees of each commit's folders, and broken the trees that fail on every cluster.
	folders map[string]map[string]string
	broken  map[string]bool
	ci      map[string]githost.StatusState
	log     map[string][]githost.Status // commit to its statuses, newest first
	all     []*environment
}

func newChain(t *testing.T, seed uint64) *chain {
	c := &chain{t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 17)), ci: map[string]githost.StatusState{},
		trees: map[string]string{}, left: map[string]string{}, log: map[string][]githost.Status{},
		folders: map[string]map[string]string{}, broken: map[string]bool{}}
	soaks := []time.Duration{0, 0, time.Hour, 4 * time.Hour}
	for i := range 3 + c.rand.IntN(3) {
		e := &environment{name: fmt.Sprintf("env%d", i), waves: c.rand.IntN(2) == 0}
		e.rules = promotion.Rules{Environment: e.name, Rejected: map[string]string{}, Rollback: c.newRollback()}
		e.partials = map[int][]promotion.Delivery{}
		e.failsFrom, e.outages = map[string]int{}, map[string]bool{}
		if i > 0 {
			before := c.all[i-1].name
			g := promotion.Gate{Name: before, Context: promotion.ContextOf(before), Soak: soaks[c.rand.IntN(len(soaks))],
				RenewedWithin: renewedWithin * time.Minute}
			e.rules.Gates = []promotion.Gate{g}
			c.all[i-1].rules.Dwell = g.Soak
		} else {
			e.rules.Statuses = []promotion.StatusGate{{Name: "ci"}}
		}
		c.all = append(c.all, e)
	}
	if c.rand.IntN(2) == 0 { // without a dwell, a soak may never end
		for _, e := range c.all {
			e.rules.Dwell = 0
		}
	}
	c.commit()
	return c
}

func (c *chain) commit() {
	c.next++
	parent := ""
	if len(c.main) > 0 {
		parent = c.main[0]
	}
	c.render(hash(c.next), parent)
	c.main = append([]string{hash(c.next)}, c.main...)
	c.ci[hash(c.next)], c.trees[hash(c.next)] = githost.Pending, fmt.Sprint("tree ", c.next)
}

// second returns the next time in this minute, so that no two statuses have the same time.
func (c *chain) second() time.Time {
	if c.minute != c.now {
		c.minute, c.seconds = c.now, 0
	}
	c.seconds++
	return at(c.now).Add(time.Duration(c.seconds) * time.Second / 4)
}

// report lets the environment's pipeline set a status on the commit that the environment runs.
func (c *chain) report(e *environment) {
	if e.current.Commit == "" {
		return
	}
	s := githost.Status{Context: promotion.ContextOf(e.name), State: githost.Success, SetAt: c.second(), Creator: "ci"}
	switch {
	case e.fails:
		s.State = githost.Failure
		e.ran = append(e.ran, span{e.current.Commit, e.since, c.now, true})
		e.since = c.now
	case c.now == e.since && len(c.log[e.current.Commit]) == 0:
		s.State = githost.Pending
	case c.rand.IntN(4) == 0: // Kalypso's form
		s.State, s.Description = githost.Pending, "Deployed"
	}
	for range 1 + c.rand.IntN(2) { // a status is set again after a lost answer
		c.log[e.current.Commit] = append([]githost.Status{s}, c.log[e.current.Commit]...)
	}
}

// world returns what the environment's pipeline reads, with the statuses of the commits in read.
func (c *chain) world(e *environment, read []string) promotion.World {
	w := promotion.World{
		Rules: e.rules, Current: e.current,
		History: promotion.History{Branch: "main", Commits: c.main, Trees: c.trees, ForkPoints: c.left},
	}
	w.Current.Head = fmt.Sprint(e.head)
	if w.NeedsDeliveries() {
		for i, commit := range e.deliveries {
			w.Current.Delivered = append(w.Current.Delivered, e.partials[len(e.deliveries)-i]...)
			w.Current.Delivered = append(w.Current.Delivered, promotion.Delivery{Commit: commit, RolledBack: e.backs[i],
				Folders: e.was[i]})
		}
	}
	w.Ledger.Histories = map[string]promotion.StatusHistory{}
	w.Ledger.ByCommit, w.Ledger.SeenAt = map[string][]githost.Status{}, at(c.now+c.skew)
	for _, commit := range w.StatusCommits() {
		var latest []githost.Status
		for _, s := range c.log[commit] {
			if !slices.ContainsFunc(latest, func(o githost.Status) bool { return o.Context == s.Context }) {
				latest = append(latest, s)
			}
		}
		if state, ok := c.ci[commit]; ok {
			latest = append(latest, githost.Status{Context: "ci", State: state, CheckRun: true, SetAt: at(0)})
		}
		w.Ledger.ByCommit[commit] = latest
	}
	for _, commit := range read {
		w.Ledger.Histories[commit] = promotion.StatusHistory{Statuses: c.log[commit]}
	}
	return w
}

// decide makes a decision as the provider does: it reads the histories that a decision requests, and decides again.
func (c *chain) decide(e *environment) *promotion.Choice {
	var read []string
	for {
		d, err := promotion.Decide(c.world(e, read))
		if err != nil {
			c.t.Fatal(err)
		}
		if len(d.Unread) == 0 {
			return d
		}
		for _, commit := range d.Unread {
			if slices.Contains(read, commit) {
				c.t.Fatalf("the decision requests %s a second time", commit)
			}
		}
		read = append(read, d.Unread...)
	}
}

// run runs the next step of the environment's pipeline: report, promote, report.
func (c *chain) run(e *environment) {
	if e.dead {
		return
	}
	c.report(e)
	c.observe(e)
	d := c.decide(e)
	banned, bad, awaits := slices.Clone(e.banned), slices.Clone(e.bad), e.awaits
	c.check(e, d)
	if c.rand.IntN(12) == 0 {
		e.banned, e.bad, e.awaits = banned, bad, awaits // the apply failed
		return
	}
	if d.Commit != e.current.Commit {
		if e.current.Commit != "" {
			e.ran = append(e.ran, span{e.current.Commit, e.since, c.now, false})
		}
		e.since = c.now
		if d.Decision == promotion.Promote {
			e.takes++
		}
	}
	wave, lost := e.current.Rollout, !slices.Contains(c.main, e.current.Commit)
	unclear := e.current.RolledBack != "" && !slices.Contains(c.main, e.current.RolledBack) // lost by a force-push
	forward := c.pinsForward(e, d)
	e.deliver(c, d, e.waves && c.rand.IntN(3) > 0)
	if forward && e.current.RolledBack != "" && !slices.Contains(c.main, e.current.RolledBack) {
		c.t.Fatalf("seed %d: %s is pinned forward to %s, but %s is recorded as rolled back", c.seed, e.name, d.Commit,
			e.current.RolledBack)
	}
	freed := d.Decision == promotion.Rollback || lost || unclear || wave && !e.current.Rollout // another commit may follow
	c.report(e)
	if again := c.decide(e); again.Commit != d.Commit || again.Decision == promotion.Promote {
		if !freed || again.Decision != promotion.Promote {
			c.t.Fatalf("a second run changes %s to %s: %s", d.Commit, again.Commit, again.Summary)
		}
	}
	if d.Decision == promotion.Frozen {
		return
	}
	for _, commit := range e.folders() {
		if d.Decision != promotion.Pinned && commit != "" && c.rejects(e, commit) {
			c.t.Fatalf("seed %d: %s still contains the rejected %s after a run: %s", c.seed, e.name, commit, d.Summary)
		}
	}
}

// pinsForward reports whether a pin replaces a commit that main lost by a commit that is newer than the lost one's fork
// point, and no commit was rolled back before.
func (c *chain) pinsForward(e *environment, d *promotion.Choice) bool {
	left := slices.Index(c.main, c.left[e.current.Commit])
	return d.Decision == promotion.Pinned && e.current.RolledBack == "" && !slices.Contains(c.main, e.current.Commit) &&
		slices.Index(c.main, d.Commit) < left
}

// deliver writes the record and all folders of the chosen commit, or if partly is set only the first folders.
func (e *environment) deliver(c *chain, d *promotion.Choice, partly bool) {
	was := e.current
	if d.Decision == promotion.Frozen || d.Commit == "" {
		return
	}
	if d.Commit == was.Commit && !was.Rollout {
		if d.Settled {
			e.write(d)
		}
		return // the folders are up to date
	}
	defer e.write(d)
	partly = partly && d.Decision != promotion.Rollback && was.Commit != ""
	e.writeFolders(c, d.Commit, partly)
	switch {
	case partly:
		e.current.Commit, e.current.Rollout = d.Commit, true
		if d.Commit != was.Commit && !slices.Contains(was.OtherCommits, was.Commit) {
			e.current.OtherCommits = append(slices.Clone(was.OtherCommits), was.Commit)
		}
		return
	}
	e.current.Commit, e.current.Rollout, e.current.OtherCommits = d.Commit, false, nil
	e.deliveries = append([]string{d.Commit}, e.deliveries...)
	e.backs = append([]string{d.RolledBack}, e.backs...)
}

// write writes the record of a delivery, and sets the current reason to the reason in the record.
func (e *environment) write(d *promotion.Choice) {
	promoted := e.current.Commit
	if e.current.Rollout && len(e.deliveries) > 0 {
		promoted = e.deliveries[0]
	}
	next := record.New(e.name, nil, promoted, nil, nil)
	next.Rollout = &rollout.Progress{PromotedCommit: e.current.Commit, Complete: !e.current.Rollout,
		Interrupted: e.current.OtherCommits}
	next.SetPromotion(d.Promotion, e.record)
	e.record = &next
	taken := next.FinalPromotion()
	e.current.Reason = taken.Reason
	if n := len(e.deliveries); e.current.Rollout && taken.RolledBack != "" {
		e.partials[n] = append([]promotion.Delivery{
			{Commit: taken.Commit, RolledBack: taken.RolledBack, Partial: true},
		}, e.partials[n]...)
	}
	if !e.current.Rollout {
		e.backs[0] = taken.RolledBack
	}
}

// revert lets people reject the last delivery and revert it on the GitOps branch, so that the branch contains the
// previous delivery.
func (c *chain) revert(e *environment) {
	if e.current.Rollout || len(e.deliveries) < 2 || e.deliveries[0] != e.current.Commit ||
		e.deliveries[1] == e.current.Commit {
		return
	}
	e.rules.Rejected = map[string]string{e.current.Commit: ""}
	e.ran = append(e.ran, span{e.current.Commit, e.since, c.now, false})
	e.current.Reason = promotion.Reason{}
	e.current.Commit, e.current.RolledBack, e.since = e.deliveries[1], e.backs[1], c.now
	e.bad = slices.DeleteFunc(e.bad, func(b string) bool { return b == e.current.Commit })
	back := slices.Index(c.main, e.current.RolledBack)
	// the revert of a rollback restores the commits that it excluded
	e.banned = slices.DeleteFunc(e.banned, func(b string) bool {
		return b == e.current.Commit || back < 0 || slices.Index(c.main, b) < back
	})
	e.deliveries = append([]string{e.current.Commit}, e.deliveries...)
	e.backs = append([]string{e.current.RolledBack}, e.backs...)
	e.awaits = false // people decided
	e.trees, e.was = e.was[1], append([]map[string]string{e.was[1]}, e.was...)
	e.head++
	reverted := record.New(e.name, nil, e.current.Commit, nil, nil)
	reverted.Promotion = promotion.Reason{Decision: promotion.Promote, RolledBack: e.current.RolledBack}
	e.record = &reverted
}

// check checks a decision by a simple form of the rules.
func (c *chain) check(e *environment, d *promotion.Choice) {
	fail := func(format string, args ...any) {
		c.t.Helper()
		c.t.Fatalf("seed %d, minute %d, %s at %s: %s\n%s", c.seed, c.now, e.name, e.current.Commit,
			fmt.Sprintf(format, args...), d.Summary)
	}
	was, is := slices.Index(c.main, e.current.Commit), slices.Index(c.main, d.Commit)
	switch {
	case d.Decision == promotion.Pinned:
		if d.Commit != e.rules.Pinned {
			fail("the pinned commit is %s", d.Commit)
		}
		e.outdate(c.main[is:])
		e.bad = slices.DeleteFunc(e.bad, func(b string) bool { return b == d.Commit })
		if was >= 0 && is > was {
			e.bad = append(e.bad, e.current.Commit)
			e.banned = append(e.banned, c.main[was:is]...)
		}
		return
	case e.rules.Pinned != "":
		fail("a pin has no effect")
	case e.rules.Hold != "":
		if d.Decision != promotion.Frozen || d.Commit != e.current.Commit {
			fail("a hold has no effect: the decision is %s %s", d.Decision, d.Commit)
		}
		return
	case d.Decision == promotion.Rollback && d.By == promotion.ByRollback:
		c.checkRollback(e, d, fail)
		return
	case d.Decision == promotion.Rollback:
		if !slices.ContainsFunc(e.folders(), func(commit string) bool { return c.rejects(e, commit) }) {
			fail("it rolls back %v, which is not rejected", e.folders())
		}
		if !slices.Contains(e.deliveries, d.Commit) || is < 0 || is < was || c.rejects(e, d.Commit) {
			fail("it rolls back to %s, of %v", d.Commit, e.deliveries)
		}
		for _, commit := range e.folders() {
			if at := slices.Index(c.main, commit); at >= 0 && at < is && c.rejects(e, commit) {
				e.banned = append(e.banned, c.main[at:is]...)
			}
		}
		return
	case d.Decision == promotion.Frozen:
		if !slices.ContainsFunc(e.folders(), func(commit string) bool { return c.rejects(e, commit) }) {
			c.checkFrozen(e, fail)
		}
		if d.Commit != e.current.Commit {
			fail("the promotion is frozen, but chooses %s", d.Commit)
		}
		return
	case d.Decision != promotion.Promote:
		if d.Commit != e.current.Commit {
			fail("%s changes the commit", d.Decision)
		}
		return
	case e.current.Commit != "" && was < 0:
		c.checkLost(e, d, fail)
	case e.current.Commit != "" && is >= was:
		fail("%s is not a newer commit of the branch", d.Commit)
	}
	if c.rejects(e, d.Commit) {
		fail("%s is rejected", d.Commit)
	}
	e.bad = slices.DeleteFunc(e.bad, func(b string) bool { return b == d.Commit })
	if slices.Contains(e.rules.Approved, d.Commit) {
		e.outdate(c.main[is:])
		return
	}
	if slices.Contains(e.banned, d.Commit) {
		fail("%s was rolled back", d.Commit)
	}
	e.outdate(c.main[is:])
	if tree, there := c.trees[e.current.Commit]; was < 0 && there && c.trees[d.Commit] == tree {
		return // the tree is known to be good
	}
	if len(e.rules.Statuses) > 0 && c.ci[d.Commit] != githost.Success {
		fail("ci is %s", c.ci[d.Commit])
	}
	for i, g := range e.rules.Gates {
		before := c.all[slices.Index(c.all, e)-1-i]
		if !c.hasRun(e, before, d.Commit, int(g.Soak.Minutes())) {
			fail("%s ran commits at %v, and not this one for %s", before.name, before.ran, g.Soak)
		}
	}
	if e.rules.Dwell > 0 && e.current.Commit != "" && !e.fails && !c.rollsBack(e, nil) &&
		c.now+c.skew-c.since(e) < int(e.rules.Dwell.Minutes()) {
		fail("the current commit has dwelt only since %d", e.since)
	}
}

// checkLost checks a promotion of an environment whose current commit is not on the branch any more. If a commit of the
// branch has the same tree, this commit or a newer one may be promoted. Otherwise people must have approved the commit,
// and it must be newer than all deliveries.
func (c *chain) checkLost(e *environment, d *promotion.Choice, fail func(string, ...any)) {
	is := slices.Index(c.main, d.Commit)
	tree, there := c.trees[e.current.Commit]
	same := slices.IndexFunc(c.main, func(commit string) bool { return c.trees[commit] == tree })
	if there && same >= 0 {
		if is > same {
			fail("%s is older than the commit with the tree of the current commit", d.Commit)
		}
		return
	}
	if !slices.Contains(e.rules.Approved, d.Commit) {
		fail("%s is not approved", d.Commit)
	}
	for _, delivered := range e.deliveries {
		if at := slices.Index(c.main, delivered); at >= 0 && at <= is {
			fail("%s is not newer than the delivered %s", d.Commit, delivered)
		}
	}
}

// outdate removes commits from those that a rollback excludes, since a newer commit is promoted and they can't be
// promoted any more.
func (e *environment) outdate(older []string) {
	e.banned = slices.DeleteFunc(e.banned, func(b string) bool { return slices.Contains(older, b) })
}

// spans returns the times in which an environment ran a commit without a break, as the pipeline of reader sees them.
// The pipeline does not see a break by a commit that it does not read, because the host lists statuses by commit.
func (c *chain) spans(reader, e *environment, commit string) []span {
	var all []span
	open := false
	for _, s := range append(slices.Clone(e.ran), span{e.current.Commit, e.since, c.now, false}) {
		switch {
		case s.commit == commit && open:
			all[len(all)-1].to, open = s.to, !s.failed
		case s.commit == commit:
			all, open = append(all, s), !s.failed
		case c.reads(reader, s.commit) && c.reported(e, s):
			open = false
		}
	}
	return all
}

// reads reports whether the pipeline of an environment reads the statuses of a commit. It skips commits
// that a force-push took from the branch, and commits long before the current one.
func (c *chain) reads(e *environment, commit string) bool {
	at, current := slices.Index(c.main, commit), slices.Index(c.main, e.current.Commit)
	return at >= 0 && (current < 0 || at <= current+promotion.LookBehind)
}

// reported reports whether the environment set a status while it ran a commit. It does not while its pipeline is dead.
func (c *chain) reported(e *environment, s span) bool {
	return slices.ContainsFunc(c.log[s.commit], func(status githost.Status) bool {
		minute := int(status.SetAt.Sub(at(0)).Minutes())
		return status.Context == promotion.ContextOf(e.name) && s.from <= minute && minute <= s.to
	})
}

// renewedWithin is the longest time between two good statuses of a soak, in minutes.
const renewedWithin = 90

// hasRun reports whether the pipeline of reader sees that an environment ran a commit for this number of minutes
// without a break and without a gap between its statuses.
func (c *chain) hasRun(reader, e *environment, commit string, minutes int) bool {
	return slices.ContainsFunc(c.spans(reader, e, commit), func(s span) bool {
		from, last := -1, -1
		for _, status := range slices.Backward(c.log[commit]) {
			minute := int(status.SetAt.Sub(at(0)).Minutes())
			switch {
			case minute < s.from || minute > s.to || status.Context != promotion.ContextOf(e.name):
				continue
			case from < 0 || minute-last > renewedWithin:
				from = minute
			}
			last = minute
			if last-from >= minutes {
				return true
			}
		}
		return minutes == 0
	})
}

// since returns the minute since which an environment has run its current commit without a break that its pipeline
// sees.
func (c *chain) since(e *environment) int {
	all := c.spans(e, e, e.current.Commit)
	return all[len(all)-1].from
}

// step makes a random event, and runs two pipelines.
func (c *chain) step() {
	c.now += 1 + c.rand.IntN(40)
	c.skew = c.rand.IntN(5) - 2
	e := c.all[c.rand.IntN(len(c.all))]
	pick := func() string { return c.main[c.rand.IntN(min(len(c.main), 6))] }
	switch c.rand.IntN(40) {
	case 0, 1, 2, 3, 4, 5:
		c.commit() // the new commit may be a revert
	case 6:
		if len(c.main) > 4 { // a force-push
			gone := c.main[:1+c.rand.IntN(3)]
			c.main = slices.Clone(c.main[len(gone):])
			for lost, left := range c.left {
				if slices.Contains(gone, left) {
					c.left[lost] = c.main[0]
				}
			}
			for _, commit := range gone {
				c.left[commit] = c.main[0]
			}
			c.commit()
			if c.rand.IntN(2) == 0 { // an amended commit
				c.trees[c.main[0]] = c.trees[gone[c.rand.IntN(len(gone))]]
				c.commit()
			}
			if c.rand.IntN(4) == 0 {
				for _, commit := range gone {
					delete(c.trees, commit)
					delete(c.left, commit)
				}
			}
		}
	case 7:
		e.fails = !e.fails
	case 8:
		name := folderNames[c.rand.IntN(len(folderNames))]
		e.outages[name] = !e.outages[name]
	case 9:
		e.dead = !e.dead
	case 10:
		e.rules.Hold = "freeze"
	case 11, 12:
		e.rules.Hold = ""
	case 13:
		e.rules.Pinned = pick()
	case 14, 15, 16:
		e.rules.Pinned = ""
	case 17:
		e.rules.Approved = []string{pick()}
	case 18:
		e.rules.Approved = nil
	case 19:
		e.rules.Rejected = map[string]string{pick(): []string{"", pick()}[c.rand.IntN(2)]}
	case 20, 21:
		e.rules.Rejected = nil
	case 22:
		if e.current.Commit != "" { // the current commit, or the one that a rollout replaces
			commits := e.folders()
			e.rules.Rejected = map[string]string{commits[c.rand.IntN(len(commits))]: []string{"", c.main[0]}[c.rand.IntN(2)]}
		}
	case 23:
		c.revert(e)
	}
	for _, e := range c.all { // a pin that a force-push removed is an error, which changes nothing
		if !slices.Contains(c.main, e.rules.Pinned) {
			e.rules.Pinned = ""
		}
	}
	for _, commit := range c.main {
		if c.ci[commit] == githost.Pending && c.rand.IntN(4) > 0 {
			c.ci[commit] = []githost.StatusState{githost.Success, githost.Success, githost.Failure}[c.rand.IntN(3)]
		}
	}
	for range 2 {
		c.run(c.all[c.rand.IntN(len(c.all))])
	}
}

// calm ends all overrides, failures and dead pipelines. An environment whose current commit is no longer on the branch
// is first pinned to a commit that is.
func (c *chain) calm() {
	for _, e := range c.all {
		e.fails, e.dead = false, false
		clear(e.outages)
		e.rules.Hold, e.rules.Pinned, e.rules.Approved, e.rules.Rejected = "", "", nil, nil
		if e.current.Commit != "" && !slices.Contains(c.main, e.current.Commit) {
			e.rules.Pinned = c.main[len(c.main)-1]
			for e.current.Commit != e.rules.Pinned {
				c.run(e)
			}
			e.rules.Pinned = ""
		}
	}
	c.commit()
	clear(c.broken)
	for commit := range c.ci {
		c.ci[commit] = githost.Success
	}
	for _, e := range c.all { // if the rolled-back commit is no longer on the branch, people approve a good one
		for e.current.RolledBack != "" && !slices.Contains(c.main, e.current.RolledBack) {
			e.rules.Approved = []string{c.main[0]}
			c.run(e)
		}
		e.rules.Approved = nil
	}
}

// turns runs all pipelines every hour, until all environments are at the newest commit, but at most a number of times.
func (c *chain) turns(limit int) {
	for range limit {
		c.now += 60
		for _, e := range c.all {
			c.run(e)
		}
		if !slices.ContainsFunc(c.all, func(e *environment) bool { return e.current.Commit != c.main[0] }) {
			return
		}
	}
}

// TestRandomChains simulates chains of environments with random events, and checks every decision by a simple form of
// the rules. After the events, each chain must reach the newest commit. With a dwell, the last environment must get new
// commits even if people commit every hour.
func TestRandomChains(t *testing.T) {
	var rollbacks atomic.Int64
	t.Cleanup(func() {
		if !seeds.Single() && rollbacks.Load() == 0 {
			t.Error("no environment rolled back automatically: the test does not cover it")
		}
	})
	for seed := range seeds.Of(t, 60, 2000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			for _, e := range randomChain(t, seed).all {
				rollbacks.Add(int64(e.rollbacks))
			}
		})
	}
}

// randomChain simulates one chain.
func randomChain(t *testing.T, seed uint64) *chain {
	c := newChain(t, seed)
	for range 200 {
		c.step()
	}
	c.calm()
	if seed%10 == 0 {
		c.starve(seed)
	}
	c.turns(40)
	for _, e := range c.all {
		if e.current.Commit != c.main[0] {
			t.Fatalf(
				"seed %d: %s ends at %s, and not at %s: %s",
				seed,
				e.name,
				e.current.Commit,
				c.main[0],
				c.decide(e).Summary,
			)
		}
	}
	return c
}

// starve commits every hour, and fails the test if the last environment gets no new commit.
func (c *chain) starve(seed uint64) {
	last := c.all[len(c.all)-1]
	slow := false // whether a soak may never end, since the environment before it does not dwell long enough
	for i, e := range c.all[1:] {
		soak := e.rules.Gates[0].Soak
		slow = slow || soak > 0 && c.all[i].rules.Dwell <= soak
	}
	before := last.takes
	for range 45 {
		c.commit()
		clear(c.broken)
		c.ci[c.main[0]] = githost.Success
		c.turns(1)
	}
	if last.takes == before && !slow {
		c.t.Fatalf("seed %d: %s starves at %s: %s", seed, last.name, last.current.Commit, c.decide(last).Summary)
	}
}
