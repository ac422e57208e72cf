package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// cell shows the version of a deployment target or a cluster type in an environment.
type cell struct {
	State   string // the worst state of its clusters
	Version string // the version that most clusters run
	More    int    // number of other versions
	Count   string
	Since   time.Time
	Lead    string // "ahead", "2 behind"

	Groups  []history.VersionCount
	Lines   []line
	Former  []*formerVersion
	Changes []*delivery

	addedChanges sequence
	own          bool // the version is a commit of the environment's own branch, which other environments never run
}

// Class returns the CSS class of the state. It is empty for a current cell, since most cells are current.
func (c *cell) Class() string {
	if c.State == string(deployment.StateCurrent) {
		return ""
	}
	return class(c.State)
}

// Opens reports whether the cell has details to show.
func (c *cell) Opens() bool {
	return len(c.Groups) > 1 || len(c.Lines)+len(c.Former)+len(c.Changes) > 0
}

// line lists clusters with the same version, state and message.
type line struct {
	Version, State, Message string
	Clusters                string
}

// formerVersion is a version that clusters ran before.
type formerVersion struct {
	Version      string
	Since, Until time.Time
	Clusters     map[string]bool
}

// clusters returns a number of clusters in words.
func clusters(n int) string { return problem.Count(n, "cluster") }

// Bounds of what a cell lists.
const (
	shownClusters = 40
	shownPast     = 8
)

// worst returns the worst state of a folder's clusters, or "" without clusters.
func worst(f deployment.Counts) string {
	for _, s := range slices.Concat(stateOrder[1:], stateOrder[:1]) {
		if count(f, s) > 0 {
			return string(s)
		}
	}
	return ""
}

func fraction(n, of int) string {
	if n == of {
		return fmt.Sprint(of)
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// addTarget adds the counts of a state.
func (c *cell) addTarget(t deployment.TargetCount) {
	switch {
	case t.Failed > 0:
		c.State = string(deployment.StateFailed)
	case t.Current < t.Total:
		c.State = string(deployment.StateProgressing)
	case t.Total > 0:
		c.State = string(deployment.StateCurrent)
	}
	state, of := c.State, c.State
	if t.Failed > 0 && t.Failed < t.Total {
		of = "" // the counts don't show which version failed
	}
	var groups []history.VersionCount
	for version, n := range t.Versions {
		groups = append(groups, history.VersionCount{Version: version, State: of, Clusters: n})
	}
	if len(groups) > 0 {
		c.setGroups(groups)
	}
	c.State, c.Count = state, fraction(t.Current, t.Total)
}

// fail makes the cell failed, because clusters report a failure now. The recorded versions may be from before the
// failure.
func (c *cell) fail() {
	if failed := string(deployment.StateFailed); c.State != failed {
		c.State, c.Since = failed, time.Time{}
	}
}

// setGroups makes the cell show the version of most clusters, the worst state, and the time at which that state began.
func (c *cell) setGroups(groups []history.VersionCount) {
	slices.SortFunc(groups, func(a, b history.VersionCount) int {
		return cmp.Or(cmp.Compare(b.Clusters, a.Clusters), cmp.Compare(a.Version, b.Version), cmp.Compare(a.State, b.State))
	})
	c.Groups, c.Version, c.Since, c.State = groups, groups[0].Version, groups[0].Since, groups[0].State
	versions, total := map[string]bool{}, 0
	for _, g := range groups {
		versions[g.Version] = true
		total += g.Clusters
		if rank(g.State) > rank(c.State) {
			c.State, c.Since = g.State, g.Since
		}
	}
	c.More, c.Count = len(versions)-1, fmt.Sprint(total)
}

// addRuns adds the clusters that run the target, and their earlier versions. A cell without groups also gets the number
// of these clusters and their worst state.
func (c *cell) addRuns(runs []history.Run) {
	var open, closed []history.Run
	for _, r := range runs {
		if r.Until.IsZero() {
			open = append(open, r)
		} else {
			closed = append(closed, r)
		}
	}
	c.addLines(open)
	c.addPast(closed)
	if c.Count == "" && len(open) > 0 {
		c.State, c.Count = c.Lines[0].State, fmt.Sprint(len(open))
	}
}

// addLines lists clusters by version, state and message, the worst state first.
func (c *cell) addLines(open []history.Run) {
	names := map[line][]string{}
	for _, r := range open {
		l := line{Version: r.Version.Version, State: r.State, Message: r.Message}
		names[l] = append(names[l], r.Cluster)
	}
	for l, clusters := range names {
		slices.Sort(clusters)
		l.Clusters = problem.First(clusters, shownClusters)
		c.Lines = append(c.Lines, l)
	}
	slices.SortFunc(c.Lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(rank(b.State), rank(a.State)), cmp.Compare(a.State, b.State),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Clusters, b.Clusters))
	})
}

// addPast lists the versions that clusters ran before, newest first.
func (c *cell) addPast(closed []history.Run) {
	former := map[string]*formerVersion{}
	for _, r := range closed {
		version := r.Version.Version
		f := former[version]
		if f == nil {
			f = &formerVersion{Version: version, Since: r.Since, Clusters: map[string]bool{}}
			former[version] = f
		}
		f.Clusters[r.Cluster] = true
		if r.Since.Before(f.Since) {
			f.Since = r.Since
		}
		f.Until = deployment.Later(f.Until, r.Until)
	}
	c.Former = slices.SortedFunc(maps.Values(former), func(a, b *formerVersion) int {
		return cmp.Or(b.Until.Compare(a.Until), cmp.Compare(a.Version, b.Version))
	})
	c.Former = c.Former[:min(len(c.Former), shownPast)]
}
