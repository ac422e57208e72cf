package promotion

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// warnings returns the problems that people should check at once.
func (c *choice) warnings() (all []Warning) {
	w, count := c.world, len(c.world.candidates())
	add := func(summary, format string, args ...any) {
		all = append(all, Warning{summary, fmt.Sprintf(format, args...)})
	}
	for _, bad := range slices.Sorted(maps.Keys(w.Rejected)) {
		if good := w.Rejected[bad]; good != "" && w.firstGood(bad) < 0 && w.History.Has(bad) {
			add("First good commit does not follow the rejected one",
				"rejected says that %s is the first good commit after %s, but it does not come after it on branch %q. So all "+
					"commits from %s on are rejected.", printable.Line(good), printable.Line(bad), w.History.Branch, short(bad))
		}
	}
	if count == MaxCandidates && w.History.index(w.Current.Commit) != count {
		add("More commits than candidates",
			"Only the newest %d commits of branch %q are candidates. Older ones are not considered.",
			MaxCandidates, w.History.Branch)
	}
	if w.History.NoBranch {
		add("The branch of the control plane no longer exists",
			"The control plane's repo has no branch %q, so nothing is promoted. The environment keeps its "+
				"commit. Check control_plane.branch.", w.History.Branch)
	}
	if w.Ledger.FailureReason != "" {
		add("The statuses can't be read",
			"%s Without statuses, no gate that reads one opens, so nothing is promoted. The environment keeps its commit, "+
				"and its own changes are still delivered.", w.Ledger.FailureReason)
	}
	if other := c.otherReporter(); other != nil {
		all = append(all, *other)
	}
	return all
}

// kalypsoDescriptions lists the descriptions that Kalypso's workflows give a pending status.
var kalypsoDescriptions = []string{"Promoted", "Deploying", descriptionDeployed}

// otherReporter warns of a status that another writer set in the environment's own context: Kalypso's workflows may
// still run.
func (c *choice) otherReporter() *Warning {
	own := ContextOf(c.world.Environment)
	viewer := c.world.Ledger.Viewer
	for _, commit := range c.world.StatusCommits() {
		s, ok := c.gates.statuses.latest(commit, own)
		if !ok || viewer == "" && s.Creator == "" {
			continue
		}
		other := viewer != "" && s.Creator != "" && !sameLogin(s.Creator, viewer)
		if !other && (s.State != pending || !slices.Contains(kalypsoDescriptions, s.Description)) {
			continue
		}
		return &Warning{"Unexpected reporter of the environment's status", fmt.Sprintf(
			"On commit %s, %s. That is the context of environment %q itself. Kalypso's own workflows may still run: stop them "+
				"for this environment, or two writers promote it.", short(commit), describeStatus(s), c.world.Environment)}
	}
	return nil
}

// notes lists the overrides that no longer have an effect, or have an unexpected one.
func (c *choice) notes() (all []string) {
	w, count := c.world, len(c.world.candidates())
	if r := w.Rollback; r != nil && r.Observed != nil && r.Observed.Head != "" && c.rollback.observation() == nil {
		all = append(all, fmt.Sprintf("rollback.observed describes commit %s, but the branch is at %s, so it is ignored.",
			short(r.Observed.Head), short(w.Current.Head)))
	}
	if w.lost() {
		return all
	}
	for _, commit := range slices.Sorted(slices.Values(w.Approved)) {
		needed := commit == w.Current.Commit && c.gates.unverified(commit) != ""
		if at := w.History.index(commit); !needed && (at < 0 || at >= count) {
			all = append(all,
				fmt.Sprintf("approved names %s, which is not one of the commits after the current one. Remove the entry.",
					printable.Line(commit)))
		}
	}
	if reason := w.rejection(w.Pinned); w.Pinned != "" && reason != "" {
		all = append(all, fmt.Sprintf("pinned_commit names %s, which is %s. The pin has precedence.",
			short(w.Pinned), reason))
	}
	for _, bad := range slices.Sorted(maps.Keys(w.Rejected)) {
		good, from := w.firstGood(bad), w.History.index(bad)
		switch named := w.Rejected[bad]; {
		case from < 0 && good < 0:
			all = append(all, fmt.Sprintf("rejected names %s, which is not on branch %q. Remove the entry.",
				printable.Line(bad), w.History.Branch))
		case good >= count && len(w.rejected()) == 0:
			all = append(all, fmt.Sprintf("rejected names %s and its first good commit %s, and neither comes after the "+
				"current commit. Remove the entry.",
				short(bad), short(named)))
		}
	}
	return all
}
