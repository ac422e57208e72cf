package promotion_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// folderNames are the folders of each environment. A rollout begins with the first one.
var folderNames = []string{"canary", "large", "small"}

// fleet is the part of an environment that goes back by itself.
type fleet struct {
	trees     map[string]string   // of the folders on the GitOps branch
	was       []map[string]string // the trees of the deliveries, newest first
	head      int                 // of the GitOps branch
	failsFrom map[string]int      // the minute from which a folder fails, with its tree or without
	outages   map[string]bool     // of clusters, with any tree
	// partials are the rollouts back that did not complete, by the number of deliveries before them, newest first.
	partials map[int][]promotion.Delivery
	bad      []string // the commits that were rolled back, and not brought back by people
	// awaits says that the environment went back by itself, and that no run has observed a success since.
	awaits    bool
	observed  *promotion.Observation // of this run
	rollbacks int
}

// render sets the trees of the folders that a new commit has: it changes some of them, and may break these.
func (c *chain) render(commit, parent string) {
	trees := maps.Clone(c.folders[parent])
	if trees == nil {
		trees = map[string]string{}
	}
	for _, name := range folderNames {
		if trees[name] == "" || c.rand.IntN(2) == 0 {
			trees[name] = "tree of " + commit
			c.broken[trees[name]] = c.rand.IntN(4) == 0
		}
	}
	c.folders[commit] = trees
}

// observe observes the clusters of an environment, or not, or another head.
func (c *chain) observe(e *environment) {
	if e.rules.Rollback == nil {
		return
	}
	o := &promotion.Observation{Head: fmt.Sprint(e.head), Success: true}
	o.At, o.Folders = at(c.now), map[string]promotion.ObservedFolder{}
	for name, tree := range e.trees {
		if e.outages[name] || c.broken[tree] {
			if _, fails := e.failsFrom[name+tree]; !fails {
				e.failsFrom[name+tree] = c.now
			}
			since := at(e.failsFrom[name+tree])
			o.Folders[name], o.Success = promotion.ObservedFolder{Tree: tree, Failed: true, Since: since}, false
			continue
		}
		delete(e.failsFrom, name+tree)
		o.Folders[name] = promotion.ObservedFolder{Tree: tree, Since: at(0)}
	}
	o.Success = o.Success && !e.current.Rollout
	switch c.rand.IntN(8) {
	case 0:
		o = nil
	case 1:
		o.Head = "older"
	case 2: // a source did not answer
		o.Success, o.Folders = false, map[string]promotion.ObservedFolder{}
	default:
		e.awaits = e.awaits && !o.Success
	}
	e.observed, e.rules.Rollback.Observed = o, o
}

// rollsBack reports whether the environment may go back by itself to a delivery: the plain rule.
func (c *chain) rollsBack(e *environment, to map[string]string) bool {
	o, r := e.observed, e.rules.Rollback
	if r == nil || o == nil || o.Head != fmt.Sprint(e.head) || e.awaits || e.rules.Hold != "" || e.rules.Pinned != "" ||
		slices.Contains(e.rules.Approved, e.current.Commit) {
		return false
	}
	for name, f := range o.Folders {
		if f.Failed && o.At.Sub(f.Since) >= r.FailureDuration && to[name] != f.Tree {
			return true
		}
	}
	return false
}

// checkRollback checks a automatic rollback: it has a reason, and goes to an earlier delivery that is good.
func (c *chain) checkRollback(e *environment, d *promotion.Choice, fail func(string, ...any)) {
	was, is := slices.Index(c.main, e.current.Commit), slices.Index(c.main, d.Commit)
	to := slices.Index(e.deliveries, d.Commit)
	switch {
	case to < 0 || is < 0 || was >= 0 && is <= was || c.rejects(e, d.Commit):
		fail("it goes back by itself to %s, of %v", d.Commit, e.deliveries)
	case slices.Contains(e.bad, d.Commit):
		fail("it goes back to %s, which was rolled back", d.Commit)
	case !c.rollsBack(e, e.was[to]):
		fail("it goes back by itself without a reason: awaits %t, %+v, from %v to %v", e.awaits, e.observed, e.trees,
			e.was[to])
	case d.RolledBack != e.current.Commit && was >= 0 && slices.Index(c.main, d.RolledBack) > was:
		fail("it says that it rolls back %s", d.RolledBack)
	}
	if was >= 0 {
		e.banned = append(e.banned, c.main[was:is]...)
	}
	e.bad = append(e.bad, e.current.Commit)
	e.awaits = true
	e.rollbacks++
}

// checkFrozen checks that an environment without an earlier good delivery failed.
func (c *chain) checkFrozen(e *environment, fail func(string, ...any)) {
	if !c.rollsBack(e, nil) {
		fail("it is frozen without a hold")
	}
}

// writeFolders changes the folders: all of them, or the first one.
func (e *environment) writeFolders(c *chain, commit string, partly bool) {
	e.head++
	if e.trees = maps.Clone(e.trees); e.trees == nil {
		e.trees = map[string]string{}
	}
	for i, name := range folderNames {
		if i == 0 || !partly {
			e.trees[name] = c.folders[commit][name]
		}
	}
	if !partly {
		e.was = append([]map[string]string{maps.Clone(e.trees)}, e.was...)
	}
}

// newRollback returns the argument of a random environment.
func (c *chain) newRollback() *promotion.AutomaticRollback {
	if c.rand.IntN(2) == 0 {
		return nil
	}
	return &promotion.AutomaticRollback{FailureDuration: []time.Duration{0, 30 * time.Minute}[c.rand.IntN(2)]}
}
