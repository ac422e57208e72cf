package promotion

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// skipped returns the reason why a commit after the current one cannot be a candidate, or "".
func (c *choice) skipped(commit string, approved bool) string {
	if reason := c.rejection(commit); reason != "" {
		return reason
	}
	at, back := c.History.index(commit), c.History.index(c.World.Current.RolledBack)
	switch {
	case back < 0 || at < back || approved:
		return ""
	case commit == c.World.Current.RolledBack:
		return "rolled back: approve it, or take a newer commit"
	}
	return fmt.Sprintf("rolled back together with %s: approve it, or take a newer commit",
		short(c.World.Current.RolledBack))
}

// rejection returns the reason why a commit is rejected, or "".
func (w *World) rejection(commit string) string {
	if _, named := w.Rejected[commit]; named {
		return "rejected"
	}
	at := w.History.index(commit)
	for _, bad := range slices.Sorted(maps.Keys(w.Rejected)) {
		from, good := w.History.index(bad), w.firstGood(bad)
		switch {
		case at < 0 || at > from || from < 0 || good >= 0 && at <= good:
		case good < 0:
			return fmt.Sprintf("rejected: it contains %s, and no good commit after that is named", short(bad))
		default:
			return fmt.Sprintf("rejected: it contains %s, and comes before the first good commit %s", short(bad),
				short(w.Rejected[bad]))
		}
	}
	return ""
}

// firstGood returns the position of the first good commit after a rejected one, or -1 if there is none yet. A commit
// that does not come after the rejected one does not count.
func (w *World) firstGood(bad string) int {
	good, from := w.History.index(w.Rejected[bad]), w.History.index(bad)
	if from >= 0 && good >= from {
		return -1
	}
	return good
}

// notes lists the overrides that no longer have an effect, or not the expected one.
func (c *choice) notes() []string {
	var all []string
	if c.lost() {
		return nil
	}
	for _, commit := range slices.Sorted(slices.Values(c.Approved)) {
		if at := c.History.index(commit); at < 0 || at >= c.count {
			all = append(all,
				fmt.Sprintf("approved names %s, which is not one of the commits after the current one. Remove the entry.",
					printable.Line(commit)))
		}
	}
	if reason := c.rejection(c.Pinned); c.Pinned != "" && reason != "" {
		all = append(all, fmt.Sprintf("pinned_commit names %s, which is %s. The pin has precedence.",
			short(c.Pinned), reason))
	}
	for _, bad := range slices.Sorted(maps.Keys(c.Rejected)) {
		good, from := c.firstGood(bad), c.History.index(bad)
		switch named := c.Rejected[bad]; {
		case from < 0 && good < 0:
			all = append(all, fmt.Sprintf("rejected names %s, which is not on branch %q. Remove the entry.",
				printable.Line(bad), c.History.Branch))
		case good >= c.count && len(c.rejected()) == 0:
			all = append(all, fmt.Sprintf("rejected names %s and its first good commit %s, and neither comes after the "+
				"current commit. Remove the entry.",
				short(bad), short(named)))
		}
	}
	return all
}

// warn adds a warning for people.
func (c *choice) warn() {
	add := func(summary, format string, args ...any) {
		c.Warnings = append(c.Warnings, Warning{summary, fmt.Sprintf(format, args...)})
	}
	for _, bad := range slices.Sorted(maps.Keys(c.Rejected)) {
		if good := c.Rejected[bad]; good != "" && c.firstGood(bad) < 0 && c.History.Has(bad) {
			add("First good commit does not follow the rejected one",
				"rejected says that %s is the first good commit after %s, but it does not come after it on branch %q. So all "+
					"commits from %s on are rejected.", printable.Line(good), printable.Line(bad), c.History.Branch, short(bad))
		}
	}
	if c.count == MaxCandidates && c.History.index(c.World.Current.Commit) != c.count {
		add("More commits than candidates",
			"Only the newest %d commits of branch %q are candidates. Older ones are not considered.",
			MaxCandidates, c.History.Branch)
	}
	if c.History.Gone {
		add("The branch of the control plane no longer exists",
			"The control plane's repo has no branch %q, so nothing is promoted. The environment keeps its "+
				"commit. Check control_plane.branch.", c.History.Branch)
	}
	if c.Ledger.Silence != "" {
		add("The statuses can't be read",
			"%s No gate of a status holds without them, so nothing is promoted. The environment keeps its commit, "+
				"and its own changes go out.", c.Ledger.Silence)
	}
	c.warnOfOthers()
}

// kalypsoDescriptions lists the descriptions that Kalypso's workflows give a pending status.
var kalypsoDescriptions = []string{"Promoted", "Deploying", descriptionDeployed}

// warnOfOthers warns of a status that another writer set in the environment's own context: Kalypso's workflows may
// still run.
func (c *choice) warnOfOthers() {
	own := ContextOf(c.Environment)
	commits := c.commits()
	for _, commit := range commits {
		s, ok := c.latest(commit, own)
		if !ok || c.Ledger.Viewer == "" && s.Creator == "" {
			continue
		}
		other := c.Ledger.Viewer != "" && s.Creator != "" && !sameLogin(s.Creator, c.Ledger.Viewer)
		if !other && (s.State != pending || !slices.Contains(kalypsoDescriptions, s.Description)) {
			continue
		}
		c.Warnings = append(c.Warnings, Warning{"Unexpected reporter of the environment's status", fmt.Sprintf(
			"On commit %s, %s. That is the context of environment %q itself. Kalypso's own workflows may still run: stop them "+
				"for this "+
				"environment, or two writers promote it.", short(commit), describeStatus(s), c.Environment)})
		return
	}
}

// short abbreviates a hash.
func short(commit string) string { return printable.Line(commit[:min(len(commit), 12)]) }
