package rollout

import (
	"fmt"
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

// reports judges the folders of a situation by the observation.
type reports struct {
	observed *deployment.Observation // nil: nothing was observed
	of       *Situation
}

// stateOf returns the state of a cluster type that has the target's folder.
func (r reports) stateOf(name string) clusterTypeState {
	if r.needNone(name) {
		return stateSettledAtOnce
	}
	o := r.observed
	if o == nil || o.Folders[name].Tree != r.of.Target[name].Hash {
		return stateWaiting
	}
	switch verdict := o.Folders[name].Verdict; {
	// an observation that is older than the last commit may stop a rollout, but never continues it
	case verdict == deployment.Failure:
		return stateFailed
	case verdict == deployment.Success && !r.outdated():
		return stateSettled
	}
	return stateWaiting
}

// needNone reports whether a cluster type settles with the commit, since its folder is empty. A folder with assignments
// settles only after an observation, even if no cluster has to follow it.
func (r reports) needNone(name string) bool {
	f, known := r.of.Target[name]
	return known && !f.Unknown && f.Assignments == 0
}

// outdated reports whether the observation is older than the last commit. Then it proves nothing.
func (r reports) outdated() bool {
	return r.of.Progress != nil && r.observed.At.Before(r.of.Progress.At.Truncate(time.Second))
}

// awaited describes the report or time that a cluster type waits for.
func (r reports) awaited(name string) string {
	var o deployment.FolderState
	reported := false
	if r.observed != nil {
		o, reported = r.observed.Folders[name]
	}
	switch {
	case r.observed == nil:
		return name + ": rollout.observed is null, so it is unknown whether its clusters run the change"
	case !reported || r.nothingReported(name):
		return name + ": no cluster has reported it yet"
	case r.outdated():
		return fmt.Sprintf("%s: it was last observed at %s, before the last commit of the rollout",
			name, clock.Stamp(r.observed.At))
	case o.Tree != r.of.Target[name].Hash:
		return name + ": it was observed while the branch contained another tree"
	}
	lines := r.describe(name, "")
	return strings.Join(lines[:min(2, len(lines))], "; ")
}

// nothingReported reports whether no cluster of a folder has reported it: all its problems are missing reports.
func (r reports) nothingReported(name string) bool {
	if r.observed.Folders[name].Current > 0 {
		return false
	}
	missing := 0
	for _, p := range r.observed.Problems {
		switch {
		case p.Folder != name:
		case p.State != deployment.StateMissing:
			return false
		default:
			missing++
		}
	}
	return missing > 0
}

// describe describes the clusters of a cluster type: a line with their number, and a line for each problem.
func (r reports) describe(name, indent string) []string {
	o := r.observed.Folders[name]
	lines := []string{fmt.Sprintf("%s: %d of %s current", name, o.Current, problem.Count(o.Total, "cluster"))}
	for _, p := range r.observed.Problems {
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
