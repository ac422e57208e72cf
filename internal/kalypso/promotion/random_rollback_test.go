package promotion_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// folderNames are the folders of each environment. The first wave of a rollout writes the first folder.
var folderNames = []string{"canary", "large", "small"}

// fleet is the part of an environment that automatic rollbacks depend on.
type fleet struct {
	trees     map[string]string   // folder to its tree on the GitOps branch
	was       []map[string]string // the trees of each delivery, newest first
	head      int                 // the number of commits on the GitOps branch
	failsFrom map[string]int      // folder and tree to the minute from which it fails
	outages   map[string]bool     // the folders whose clusters fail with any tree
	// partials are the rollbacks whose rollout did not complete, newest first, by the number of deliveries before them.
	partials map[int][]promotion.Delivery
	bad      []string // the commits that were rolled back, and that people did not promote again
	// awaits is true after an automatic rollback, until a run observes a success.
	awaits    bool
	observed  *deployment.Observation // the observation of this run
	rollbacks int                     // the number of automatic rollbacks
}

// render sets the trees of a new commit's folders. Some differ from the parent's, and some of these are broken.
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

// observe observes the clusters of an environment. At random, the run has no observation, or the observation of an
// older head, or a source did not answer.
func (c *chain) observe(e *environment) {
	if e.rules.Rollback == nil {
		return
	}
	o := &deployment.Observation{Head: fmt.Sprint(e.head), At: at(c.now), Verdict: deployment.Success,
		Folders: map[string]deployment.FolderState{}}
	for name, tree := range e.trees {
		if e.outages[name] || c.broken[tree] {
			if _, fails := e.failsFrom[name+tree]; !fails {
				e.failsFrom[name+tree] = c.now
			}
			since := at(e.failsFrom[name+tree])
			o.Folders[name] = deployment.FolderState{Tree: tree, Verdict: deployment.Failure, Since: since}
			o.Verdict = deployment.Failure
			continue
		}
		delete(e.failsFrom, name+tree)
		o.Folders[name] = deployment.FolderState{Tree: tree, Verdict: deployment.Success, Since: at(0)}
	}
	if o.Verdict == deployment.Success && e.current.Rollout {
		o.Verdict = deployment.Pending
	}
	switch c.rand.IntN(8) {
	case 0:
		o = nil
	case 1:
		o.Head = "older"
	case 2: // a source did not answer
		o.Verdict, o.Folders = deployment.Pending, map[string]deployment.FolderState{}
	default:
		e.awaits = e.awaits && o.Verdict != deployment.Success
	}
	e.observed, e.rules.Rollback.Observed = o, o
}

// rollsBack reports whether the environment may roll back automatically to a delivery with these trees, by a simple
// form of the rule.
func (c *chain) rollsBack(e *environment, to map[string]string) bool {
	o, r := e.observed, e.rules.Rollback
	if r == nil || o == nil || o.Head != fmt.Sprint(e.head) || e.awaits || e.rules.Hold != "" || e.rules.Pinned != "" ||
		slices.Contains(e.rules.Approved, e.current.Commit) {
		return false
	}
	for name, f := range o.Folders {
		if f.Verdict == deployment.Failure && o.At.Sub(f.Since) >= r.FailureDuration && to[name] != f.Tree {
			return true
		}
	}
	return false
}

// checkRollback checks an automatic rollback: it must have a reason, and return to an earlier delivery that is good.
func (c *chain) checkRollback(e *environment, d *promotion.Choice, fail func(string, ...any)) {
	was, is := slices.Index(c.main, e.current.Commit), slices.Index(c.main, d.Commit)
	to := slices.Index(e.deliveries, d.Commit)
	switch {
	case to < 0 || is < 0 || was >= 0 && is <= was || c.rejects(e, d.Commit):
		fail("it rolls back automatically to %s, of %v", d.Commit, e.deliveries)
	case slices.Contains(e.bad, d.Commit):
		fail("it rolls back to %s, which was rolled back", d.Commit)
	case !c.rollsBack(e, e.was[to]):
		fail("it rolls back automatically without a reason: awaits %t, %+v, from %v to %v", e.awaits, e.observed, e.trees,
			e.was[to])
	case d.RolledBack != e.current.Commit && was >= 0 && slices.Index(c.main, d.RolledBack) > was:
		fail("the rolled-back commit is %s", d.RolledBack)
	}
	if was >= 0 {
		e.banned = append(e.banned, c.main[was:is]...)
	}
	e.bad = append(e.bad, e.current.Commit)
	e.awaits = true
	e.rollbacks++
}

// checkFrozen checks a promotion that is frozen without a hold: the clusters must have failed.
func (c *chain) checkFrozen(e *environment, fail func(string, ...any)) {
	if !c.rollsBack(e, nil) {
		fail("the promotion is frozen without a hold or a failure")
	}
}

// writeFolders writes all folders of a commit, or if partly is set only the first folder.
func (e *environment) writeFolders(c *chain, commit string, partly bool) {
	e.head++
	e.trees = maps.Clone(e.trees)
	if e.trees == nil {
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

// newRollback returns the argument rollback of a random environment, or nil.
func (c *chain) newRollback() *promotion.AutomaticRollback {
	if c.rand.IntN(2) == 0 {
		return nil
	}
	return &promotion.AutomaticRollback{FailureDuration: []time.Duration{0, 30 * time.Minute}[c.rand.IntN(2)]}
}
