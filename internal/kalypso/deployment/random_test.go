package deployment_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestNoFalseSuccess: neither a report nor a missing report leads to a false success. Random runs contain late, lost,
// doubled and contradictory reports, reports from the future and of other branches, force-pushes, merges, rollbacks and
// rollouts. A plain model of the events confirms each success. The order of the reports does not change the outcome.
func TestNoFalseSuccess(t *testing.T) {
	runs, successes := 0, 0
	for seed := range seeds.Of(t, 1000, 5000) {
		runs++
		w := newTruth(rand.New(rand.NewPCG(seed, 16)))
		world := w.world()
		got := evaluate(t, world)
		if got.Verdict == deployment.Success {
			successes++
			if lie := w.lie(); lie != "" {
				t.Fatalf("seed %d: the verdict is success, but %s\n%s\n%+v", seed, lie, w, got)
			}
		}
		shuffled := world
		shuffled.Reports = slices.Clone(world.Reports)
		w.r.Shuffle(len(shuffled.Reports), func(i, j int) {
			shuffled.Reports[i], shuffled.Reports[j] = shuffled.Reports[j], shuffled.Reports[i]
		})
		if diff := cmp.Diff(got, evaluate(t, shuffled)); diff != "" {
			t.Fatalf("seed %d: the outcome depends on the order of the reports (-first order +second order):\n%s", seed, diff)
		}
	}
	if !seeds.Single() && successes < runs/50 {
		t.Errorf("only %d of %d runs are a success, so the test proves little", successes, runs)
	}
}

// truth records what really happened: the trees of the branch in order, and the actions of each cluster.
type truth struct {
	r        *rand.Rand
	commits  []commit
	heads    []string // heads of the branch, in order
	folders  []string
	clusters []*cluster
	complete bool
	rewrite  int // heads before this index are no longer on the branch
	gone     int // number of commits, from the first, that are no longer on the branch
	rules    deployment.Rules
	events   []string
}

// cluster is a cluster that syncs the heads of the branch in order.
type cluster struct {
	name, folder string
	synced       int  // index in heads
	healthy      bool // its true state now
	foreign      bool // it follows another branch
	reports      []deployment.Report
}

func newTruth(r *rand.Rand) *truth {
	w := &truth{r: r, complete: r.IntN(10) > 0, rules: rules()}
	for i := range 1 + r.IntN(3) {
		w.folders = append(w.folders, fmt.Sprint("f", i))
	}
	w.push()
	for i := range 1 + r.IntN(4) {
		c := &cluster{
			name:    fmt.Sprint("cluster", i),
			folder:  w.folders[r.IntN(len(w.folders))],
			healthy: true,
			foreign: r.IntN(30) == 0,
		}
		w.clusters = append(w.clusters, c)
	}
	w.expect()
	for range r.IntN(30) {
		switch r.IntN(8) {
		case 0, 1:
			w.push()
		case 2:
			w.rollback()
		case 3:
			if r.IntN(6) == 0 {
				w.forcePush()
			}
		default:
			w.move(w.clusters[r.IntN(len(w.clusters))])
		}
	}
	if r.IntN(2) == 0 { // all clusters sync the head, are healthy, and report it
		for _, c := range w.clusters {
			w.move(c)
			c.synced, c.healthy = len(w.heads)-1, true
			w.report(c)
		}
	}
	return w
}

// expect makes each folder expect all of its clusters, by name or by number.
func (w *truth) expect() {
	w.rules.Expected = map[string]deployment.Expectation{}
	for _, f := range w.folders {
		var names []string
		for _, c := range w.clusters {
			if c.folder == f {
				names = append(names, c.name)
			}
		}
		n := len(names)
		if w.r.IntN(2) == 0 {
			w.rules.Expected[f] = deployment.Expectation{Clusters: names, Minimum: &n}
		} else {
			w.rules.Expected[f] = deployment.Expectation{Minimum: &n}
		}
	}
}

func (w *truth) head() *commit { return &w.commits[0] }

// commitTree commits to the branch, sometimes through a merge with its parents in either order.
func (w *truth) commitTree(trees map[string]string) {
	name := fmt.Sprint("k", len(w.commits))
	parent := ""
	if len(w.commits) > 0 {
		parent = w.head().name
	}
	age := time.Duration(100-len(w.commits)) * time.Minute
	add := func(c commit) { w.commits = append([]commit{c}, w.commits...) }
	if parent != "" && w.r.IntN(4) == 0 {
		base := w.commits[w.r.IntN(len(w.commits)-w.gone)]
		side := commit{"s" + name, base.name, age, trees}
		parents := []string{parent, side.name}
		if w.r.IntN(2) == 0 {
			slices.Reverse(parents)
		}
		add(side)
		parent = strings.Join(parents, " ")
	}
	add(commit{name, parent, age, trees})
	w.heads = append(w.heads, name)
	w.events = append(w.events, fmt.Sprintf("push %s on %q: %v", name, parent, trees))
}

func (w *truth) push() {
	trees := map[string]string{}
	for _, f := range w.folders {
		trees[f] = "A"
		if len(w.commits) > 0 {
			trees[f] = w.head().trees[f]
		}
	}
	if w.r.IntN(3) > 0 {
		trees[w.folders[w.r.IntN(len(w.folders))]] = string(rune('A' + w.r.IntN(4)))
	}
	w.commitTree(trees)
}

// rollback restores the trees of an earlier head.
func (w *truth) rollback() {
	w.commitTree(w.treesOf(w.heads[w.r.IntN(len(w.heads))]))
}

// forcePush restarts the branch with the trees of an earlier head.
func (w *truth) forcePush() {
	trees := w.treesOf(w.heads[w.r.IntN(len(w.heads))])
	w.rewrite, w.gone = len(w.heads), len(w.commits)
	name := fmt.Sprint("k", len(w.commits))
	w.commits = append([]commit{{name, "", time.Hour, trees}}, w.commits...)
	w.heads = append(w.heads, name)
	w.events = append(w.events, fmt.Sprintf("force-push %s: %v", name, trees))
}

func (w *truth) treesOf(name string) map[string]string {
	for _, c := range w.commits {
		if c.name == name {
			return c.trees
		}
	}
	return nil
}

// move lets a cluster sync, become unhealthy or recover. It may report this.
func (w *truth) move(c *cluster) {
	if w.r.IntN(2) == 0 {
		c.synced += w.r.IntN(len(w.heads) - c.synced)
	}
	if w.r.IntN(5) == 0 {
		c.healthy = !c.healthy
	}
	if w.r.IntN(3) > 0 {
		w.report(c)
	}
}

// report adds a report of a cluster. Its earlier report is lost, or arrives as well.
func (w *truth) report(c *cluster) {
	if w.r.IntN(8) > 0 {
		c.reports = nil
	}
	branch := "stage"
	if c.foreign {
		branch = "prod"
	}
	forms := []string{branch + "@sha1:%s", branch + "/%s", "refs/heads/" + branch + "@sha1:%s"}
	if !c.foreign {
		forms = append(forms, "%s")
	}
	r := deployment.Report{
		Cluster: c.name, Folder: c.folder, Revision: fmt.Sprintf(forms[w.r.IntN(len(forms))], hash(w.heads[c.synced])),
		Health: deployment.Healthy, Now: now, Time: ago(time.Duration(w.r.IntN(50)) * time.Minute), Recorded: w.r.IntN(4) > 0,
	}
	if !c.healthy {
		r.Health = []deployment.Health{deployment.Failed, deployment.Progressing, deployment.Suspended,
			deployment.Offline}[w.r.IntN(4)]
	}
	if w.r.IntN(20) == 0 { // from the future, so that it is ignored, and the cluster may have failed
		r.Time, r.Revision, c.healthy = ago(-time.Hour), hash(w.heads[len(w.heads)-1]), false
	}
	if w.r.IntN(20) == 0 { // stale, so that it is ignored, and the cluster failed after it
		r.Time, r.Recorded, c.healthy = ago(3*time.Hour), true, false
	}
	c.reports = append(c.reports, r)
	if w.r.IntN(10) == 0 {
		c.reports = append(c.reports, r)
	}
	w.events = append(
		w.events,
		fmt.Sprintf("%s at %s, healthy %v, says %s", c.name, w.heads[c.synced], c.healthy, r.Revision),
	)
}

// world returns the input to evaluate.
func (w *truth) world() deployment.Input {
	b := branchOf(w.commits...)
	b.Complete = w.complete
	var reports []deployment.Report
	for _, c := range w.clusters {
		if w.r.IntN(40) == 0 {
			w.events = append(w.events, "all reports of "+c.name+" are lost")
			c.reports = nil
		}
		reports = append(reports, c.reports...)
	}
	return deployment.Input{Branch: b, Reports: reports, Rules: w.rules}
}

// lie returns the fact that makes a success false, or "" if the success is true.
func (w *truth) lie() string {
	if !w.complete {
		return "a rollout is under way"
	}
	for _, c := range w.clusters {
		switch {
		case len(c.reports) == 0:
			return c.name + " has no report"
		case c.foreign:
			return c.name + " follows another branch"
		case c.synced < w.rewrite:
			// It syncs a commit that was rewritten: equal trees would be a coincidence.
			return c.name + " runs a commit that is no longer on the branch"
		case w.treesOf(w.heads[c.synced])[c.folder] != w.head().trees[c.folder]:
			return c.name + " runs another tree"
		}
		// Nothing is known about a cluster that changed after its report. A cluster that reported a failure has not
		// recovered.
		for _, r := range c.reports {
			fresh := !r.Recorded || now.Sub(r.Time) <= time.Hour
			if fresh && r.Health != deployment.Healthy {
				return c.name + " reported that it is unhealthy"
			}
			if fresh && r.Time.Sub(now) > deployment.MaxSkew {
				return c.name + " sent a report from the future"
			}
		}
	}
	return ""
}

func (w *truth) String() string { return strings.Join(w.events, "\n") }
