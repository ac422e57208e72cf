package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// clusterTypeState is the progress of a cluster type with the target's folder.
type clusterTypeState int

const (
	stateWaiting clusterTypeState = iota
	stateSettledAtOnce
	stateSettled
	stateFailed
)

// stateOf returns the state of a cluster type that has the target's folder. Reports so far say nothing about a
// folder that this apply writes.
func (w *wave) stateOf(name string) clusterTypeState {
	if w.needNone(name) {
		return stateSettledAtOnce
	}
	o := w.rollout.Observed
	if o == nil || o.Folders[name].Tree != w.Target[name].Hash || slices.Contains(w.step.Written, name) {
		return stateWaiting
	}
	switch verdict := o.Folders[name].Verdict; {
	// an observation that is older than the last commit may stop a rollout, but never continues it
	case verdict == deployment.Failure:
		return stateFailed
	case verdict == deployment.Success && !w.observedBefore():
		return stateSettled
	}
	return stateWaiting
}

// needNone reports whether a cluster type settles with the commit, since its folder is empty. A folder with assignments
// settles only after an observation, even if no cluster has to follow it.
func (w *wave) needNone(name string) bool {
	f, known := w.Target[name]
	return known && !f.Unknown && f.Assignments == 0
}

// observedBefore reports whether the observation is older than the last commit. Then it proves nothing.
func (w *wave) observedBefore() bool {
	return w.Progress != nil && w.rollout.Observed.At.Before(w.Progress.At.Truncate(time.Second))
}

// awaited describes the report or time that a cluster type waits for.
func (w *wave) awaited(name string) string {
	observed := w.rollout.Observed
	if observed == nil {
		return name + ": rollout.observed is null, so it is unknown whether its clusters run the change"
	}
	switch o, reported := observed.Folders[name]; {
	case !reported || w.nothingReported(name):
		return name + ": no cluster has reported it yet"
	case w.observedBefore():
		return fmt.Sprintf("%s: it was last observed at %s, before the last commit of the rollout",
			name, clock.Stamp(observed.At))
	case o.Tree != w.Target[name].Hash:
		return name + ": it was observed while the branch contained another tree"
	}
	lines := w.describe(name, "")
	return strings.Join(lines[:min(2, len(lines))], "; ")
}

// nothingReported reports whether no cluster of a folder has reported it: all its problems are missing reports.
func (w *wave) nothingReported(name string) bool {
	missing := false
	for _, p := range w.rollout.Observed.Problems {
		if p.Folder == name && p.State != deployment.StateMissing {
			return false
		}
		missing = missing || p.Folder == name
	}
	return missing && w.rollout.Observed.Folders[name].Current == 0
}

// describe describes the clusters of a cluster type: a line with their number, and a line for each problem.
func (w *wave) describe(name, indent string) []string {
	o := w.rollout.Observed.Folders[name]
	lines := []string{fmt.Sprintf("%s: %d of %s current", name, o.Current, problem.Count(o.Total, "cluster"))}
	for _, p := range w.rollout.Observed.Problems {
		if p.Folder == name {
			lines = append(lines, indent+problemText(p))
		}
	}
	return lines
}

func problemText(p deployment.Problem) string {
	text := strings.TrimSpace(p.Cluster + " " + string(p.State))
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}
