package deployment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// evaluatedReport is a report with the state that it counts as.
type evaluatedReport struct {
	of       *Report
	revision string // in one line
	state    ClusterState
	since    time.Time // when it reached its state; zero: unknown
	reason   string
	// failing: it reports a failure and counts as progressing, because the deadline has not passed.
	failing bool
}

// Reported returns the state that people see: a reported failure is one before the deadline, too.
func (s ClusterState) Reported(failing bool) ClusterState {
	if failing {
		return StateFailed
	}
	return s
}

// evaluateReport returns the state as which a report on a folder at head counts.
func (w *Input) evaluateReport(r *Report) *evaluatedReport {
	j := &evaluatedReport{of: r, revision: OneLine(r.Revision), since: r.began()}
	var changed time.Time
	if _, there := w.Branch.Folders[r.Folder]; there {
		changed = w.Branch.History.LastChange(r.Folder)
	}
	// A cluster can't be current for longer than the folder exists.
	if !j.since.IsZero() && changed.After(j.since) {
		j.since = changed
	}
	j.state, j.reason = w.stateOf(r, Later(changed, r.Since))
	j.failing = j.state == StateProgressing && r.Health == Failed
	if j.state == StateFailed {
		j.since = Later(changed, r.Since).Add(w.Rules.Deadline)
	}
	if j.reason == "" || r.Health != Healthy { // a healthy cluster's "ok" is no reason for another state
		j.reason = withMessage(j.reason, OneLine(r.Message))
	}
	return j
}

// maxTextLength limits a text from a cluster, in characters.
const maxTextLength = 300

// OneLine joins the lines of a text from a cluster or server, limits its length and escapes control characters.
func OneLine(text string) string {
	text = printable.Line(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); len(runes) > maxTextLength {
		return string(runes[:maxTextLength]) + "…"
	}
	return text
}

// stateOf returns the state of a report and its reason. from is the beginning of the deadline.
func (w *Input) stateOf(r *Report, from time.Time) (ClusterState, string) {
	overdue := func(why string) (ClusterState, string) {
		if !from.IsZero() && r.Now.Sub(from) > w.Rules.Deadline {
			return StateFailed, fmt.Sprintf("%s for longer than %s", why, clock.Format(w.Rules.Deadline))
		}
		return StateProgressing, why
	}
	if r.Health == Offline {
		return StateOffline, ""
	}
	for _, t := range []time.Time{r.Time, r.Since} {
		if ahead := t.Sub(r.Now); !t.IsZero() && ahead > MaxSkew {
			return StateProgressing, fmt.Sprintf("its time %s is %s ahead of its own clock",
				t.UTC().Format(time.RFC3339), clock.Format(ahead.Round(time.Second)))
		}
	}
	if r.Recorded {
		switch age := r.Now.Sub(r.Time); {
		case r.Time.IsZero():
			return StateStale, "the report has no time, so it may be outdated"
		case age > w.Rules.StaleAfter:
			return StateStale, fmt.Sprintf("the report is %s old", clock.Format(age.Round(time.Second)))
		}
	}
	if r.Health == Suspended {
		return StateSuspended, ""
	}
	if !r.Nested {
		if state, why, done := w.revisionState(r, overdue); done {
			return state, why
		}
	}
	switch r.Health {
	case Healthy:
		return StateCurrent, ""
	case Failed:
		return overdue("unhealthy")
	}
	return overdue("not ready")
}

// revisionState returns the state that the synced revision decides. done is false if the health decides: the cluster
// synced the folder at head, or it synced nothing and is unhealthy.
func (w *Input) revisionState(
	r *Report, overdue func(string) (ClusterState, string),
) (state ClusterState, why string, done bool) {
	revision := ParseRevision(r.Revision)
	switch {
	case revision.Branch != "" && revision.Branch != w.Branch.Name && revision.Branch != "HEAD":
		return StateProgressing, fmt.Sprintf("it follows %q instead of the branch %q", revision.Branch, w.Branch.Name), true
	case revision.Hash == "" && r.Health != Healthy:
		return "", "", false
	case revision.Hash == "":
		return StateProgressing, "it names no commit", true
	}
	switch w.Branch.History.commitState(revision.Hash, r.Folder) {
	case notOnBranch:
		return StateProgressing, fmt.Sprintf(
			"the commit is not on the branch %q: the branch was rewritten, or the commit belongs to another repo",
			w.Branch.Name,
		), true
	case beyondDepth:
		return StateProgressing, fmt.Sprintf(
			"the commit is not among the last %d commits of the branch %q",
			w.Branch.History.Len(),
			w.Branch.Name,
		), true
	case undetermined:
		return StateProgressing, fmt.Sprintf(
			"the last %d commits of the branch %q don't show everything that followed the commit",
			w.Branch.History.Len(),
			w.Branch.Name,
		), true
	case folderChanged:
		state, why = overdue("it runs an older tree of the folder")
		return state, why, true
	}
	return "", "", false
}

// severity orders the states of the objects on a cluster. The cluster counts as the worst of them.
var severity = map[ClusterState]int{
	StateCurrent: 0, StateProgressing: 1, StateSuspended: 2, StateStale: 3, StateOffline: 4, StateFailed: 5,
}

// mergeReports merges the sorted reports of one object. It ignores stale reports if there are fresh ones, and removes
// them from the list.
func mergeReports(all []*evaluatedReport) *evaluatedReport {
	first := all[0]
	fresh := slices.DeleteFunc(all, func(r *evaluatedReport) bool { return r.state == StateStale })
	if len(fresh) == 0 {
		return first
	}
	first = fresh[0]
	for _, r := range fresh[1:] {
		if r.state != first.state {
			first.reason = fmt.Sprintf("its reports contradict each other: %s and %s", first.state, r.state)
			first.state = StateProgressing
			first.failing = slices.ContainsFunc(fresh, func(r *evaluatedReport) bool { return r.of.Health == Failed })
			return first
		}
		first.since = Later(first.since, r.since)
	}
	return first
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// withMessage appends a source's own message to a reason. Either may be empty.
func withMessage(why, message string) string {
	if why == "" || message == "" {
		return why + message
	}
	return why + ": " + message
}
