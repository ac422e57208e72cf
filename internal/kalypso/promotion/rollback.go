package promotion

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// ByRollback is the value of [Reason.By] after an automatic rollback.
const ByRollback = "rollback"

// AutomaticRollback rolls an environment back to an earlier delivery if its commit breaks a folder.
type AutomaticRollback struct {
	Observed        *deployment.Observation // nil: nothing was observed
	FailureDuration time.Duration           // how long a folder must have failed
}

// Delivery is a promoted commit that the GitOps branch contained.
type Delivery struct {
	Commit     string
	RolledBack string // the commit that this delivery rolled back; "": none
	// Partial says that only some folders got the commit before the next delivery. No rollback chooses it.
	Partial bool
	// Folders are the trees of the cluster types' folders when all of them last contained the commit; nil: they never
	// did.
	Folders map[string]string
}

// rollback decides whether the environment is rolled back automatically, and to which delivery.
type rollback struct{ world *World }

// observation returns the observation of the environment, or nil if it was made at another commit of the GitOps branch.
func (r rollback) observation() *deployment.Observation {
	w := r.world
	if w.Rollback == nil || w.Rollback.Observed == nil || w.Current.Head == "" ||
		w.Rollback.Observed.Head != w.Current.Head {
		return nil
	}
	return w.Rollback.Observed
}

// succeeds reports whether the observation shows that the environment runs its branch's content.
func (r rollback) succeeds() bool {
	o := r.observation()
	return o != nil && o.Verdict == deployment.Success
}

// failedFolders returns the folders that have failed for long enough, sorted.
func (r rollback) failedFolders() (names []string) {
	o := r.observation()
	if o == nil {
		return nil
	}
	after := r.world.Rollback.FailureDuration
	for _, name := range slices.Sorted(maps.Keys(o.Folders)) {
		f := o.Folders[name]
		if f.Verdict == deployment.Failure &&
			(after == 0 || !f.Since.IsZero() && o.At.Sub(f.Since) >= after) {
			names = append(names, name)
		}
	}
	return names
}

// changed reports whether the tree of an observed folder differs from its tree in an earlier delivery.
func (r rollback) changed(folder string, since *Delivery) bool {
	return since.Folders != nil && since.Folders[folder] != r.world.Rollback.Observed.Folders[folder].Tree
}

// earlier returns the newest earlier delivery that is neither rejected nor rolled back, or nil.
func (r rollback) earlier() *Delivery {
	w := r.world
	newest := w.History.index(w.Current.Commit)
	if newest < 0 && w.Current.RolledBack != "" {
		return nil // it is unknown which of the earlier deliveries were rolled back
	}
	var rolledBack [][2]int // positions in the history: from the removed commit to before the one that replaced it
	for i, d := range w.Current.Delivered {
		at := w.History.index(d.Commit)
		excluded := slices.ContainsFunc(rolledBack, func(p [2]int) bool { return p[0] <= at && at < p[1] })
		if d.Commit != w.Current.Commit && at >= 0 && at >= newest && !excluded && !d.Partial &&
			w.rejection(d.Commit) == "" {
			return &w.Current.Delivered[i]
		}
		if back := w.History.index(d.RolledBack); back >= 0 {
			rolledBack = append(rolledBack, [2]int{back, at})
		}
	}
	return nil
}

// deliveredBefore reports whether a commit is on the branch, is not rejected, and was delivered before the last one.
func (r rollback) deliveredBefore(commit string) bool {
	w := r.world
	return w.History.Has(commit) && w.rejection(commit) == "" && len(w.Current.Delivered) > 0 &&
		slices.ContainsFunc(w.Current.Delivered[1:], func(d Delivery) bool { return d.Commit == commit && !d.Partial })
}

// approvedPast reports whether people approved the current commit or a candidate. An approval has precedence over an
// automatic rollback.
func (r rollback) approvedPast() bool {
	w := r.world
	return w.approves(w.Current.Commit) || slices.ContainsFunc(w.candidates(), func(commit string) bool {
		return w.approves(commit) && w.skipped(commit) == ""
	})
}

// proposes reports whether the open pull request is an automatic rollback of the current commit. It stays open until
// the environment succeeds: a run without an observation does not withdraw it.
func (r rollback) proposes() bool {
	w := r.world
	p := w.Current.Proposal
	return p != nil && p.By == ByRollback && p.RolledBack == w.Current.Commit && !r.succeeds() &&
		slices.ContainsFunc(w.Current.Delivered, func(d Delivery) bool { return d.Commit == p.Commit }) &&
		w.History.Has(p.Commit) && w.rejection(p.Commit) == ""
}

// goBackByItself rolls the environment back if the current commit broke folders, as if people had rejected the commit.
// It reports whether it decided. After an automatic rollback, the environment must succeed once before the next one.
func (c *choice) goBackByItself() bool {
	w, r := c.world, c.rollback
	if w.Current.Commit == "" || r.approvedPast() {
		return false
	}
	if r.proposes() {
		c.goBack(w.Current.Proposal.Commit, proof{Override: "automatic rollback, as the open pull request proposes"})
		c.result.By = ByRollback
		return true
	}
	to := r.earlier()
	failed := r.failedFolders()
	if to != nil {
		failed = slices.DeleteFunc(failed, func(name string) bool { return !r.changed(name, to) })
	}
	if len(failed) == 0 {
		return false
	}
	facts := c.describeFailure(failed)
	if w.Current.Unsettled {
		const summary = "The environment fails after an automatic rollback"
		c.result.Warnings = append(c.result.Warnings, Warning{summary, fmt.Sprintf(
			"At %s: %s. The environment was rolled back automatically before and has not succeeded since, so it is not "+
				"rolled back again. Repair the clusters, or add the bad commit to rejected.",
			short(w.Current.Commit), strings.Join(facts, "; "))})
		return false
	}
	if to != nil {
		c.goBack(to.Commit, proof{Gates: append([]string{fmt.Sprintf(
			"automatic rollback: %s is rolled back, and this is the newest earlier delivery", short(w.Current.Commit)),
		}, facts...)})
		c.result.By = ByRollback
		return true
	}
	c.failed = strings.Join(facts, "; ")
	c.choose()
	if len(c.result.Unread) == 0 && c.result.Decision != Promote {
		c.result.Decision = Frozen
	}
	return true
}

// describeFailure returns a line for each failed folder, and keeps the messages of its clusters for the summary.
func (c *choice) describeFailure(failed []string) (facts []string) {
	o := c.rollback.observation()
	for i, name := range failed {
		if i == shown {
			facts = append(facts, fmt.Sprintf("and %d more folders", len(failed)-shown))
			break
		}
		facts = append(facts, o.Folders[name].Failure(name))
		for _, p := range o.Problems {
			if p.Folder == name && p.State == deployment.StateFailed && len(c.clusters) < shown {
				line := fmt.Sprintf("folder %q, cluster %q: %s", name, p.Cluster, p.Message)
				c.clusters = append(c.clusters, printable.Line(line))
			}
		}
	}
	return facts
}
