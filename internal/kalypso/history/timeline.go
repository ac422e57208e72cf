package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// Start is the time at which instances got a condition. If they ended, the state is [Removed].
type Start struct {
	ClusterType string `json:"cluster_type"`
	Target      string `json:"deployment_target"`
	Condition
	Since    time.Time `json:"since"`
	Message  string    `json:"message,omitempty"`
	Clusters []string  `json:"clusters"` // sorted
}

// Starts returns the starts and ends of changes, sorted.
func Starts(changes []InstanceChange) []Start {
	var starts []Start
	for _, c := range changes {
		for _, m := range c.Members {
			starts = append(starts, Start{
				ClusterType: c.ClusterType, Target: c.Target, Condition: c.To, Since: observation.Time(m.Since),
				Message: m.Message, Clusters: []string{m.Cluster},
			})
		}
	}
	return merge(starts)
}

// merge sorts starts, and merges starts that differ only in their clusters.
func merge(starts []Start) []Start {
	slices.SortFunc(starts, func(a, b Start) int { return cmp.Or(a.compare(b), slices.Compare(a.Clusters, b.Clusters)) })
	var merged []Start
	for _, s := range starts {
		if n := len(merged); n > 0 && merged[n-1].compare(s) == 0 {
			merged[n-1].Clusters = append(merged[n-1].Clusters, s.Clusters...)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

func (s Start) compare(other Start) int {
	return cmp.Or(
		place{s.ClusterType, s.Target}.compare(place{other.ClusterType, other.Target}),
		s.Condition.compare(other.Condition), s.Since.Compare(other.Since), cmp.Compare(s.Message, other.Message),
		cmp.Compare(s.Version.Commit, other.Version.Commit), cmp.Compare(s.Version.Repo, other.Version.Repo),
		cmp.Compare(s.Version.Path, other.Version.Path),
	)
}

// Run is the condition of an instance from Since until Until.
type Run struct {
	Cluster, ClusterType string
	Target               string `json:"deployment_target" attribute:"deployment_target,empty"`
	Condition
	Since, Until time.Time // Until is zero if the run continues
	Message      string
}

// span is a run of a [Timeline]. An instance that ended before its first known run has a span of [Removed].
type span struct {
	start *Start
	until time.Time
}

// Timeline builds runs from starts. The zero value is empty.
type Timeline struct {
	instances map[instance][]span // oldest first
}

// instance identifies a deployment target of a cluster type on a cluster.
type instance struct {
	at      place
	cluster string
}

// Add adds the starts of a record. Records are added in their order. A start that is already known is ignored.
func (t *Timeline) Add(starts []Start) {
	if t.instances == nil {
		t.instances = map[instance][]span{}
	}
	for i, s := range starts {
		for _, cluster := range s.Clusters {
			of := instance{place{s.ClusterType, s.Target}, cluster}
			t.instances[of] = addSpan(t.instances[of], &starts[i])
		}
	}
}

func addSpan(spans []span, s *Start) []span {
	var last *span
	if len(spans) > 0 {
		last = &spans[len(spans)-1]
	}
	switch {
	case last != nil && !s.Since.After(last.latest()):
		return spans
	case last != nil && last.until.IsZero():
		last.until = s.Since
	}
	switch {
	case s.running():
		spans = append(spans, span{start: s})
	case last == nil:
		spans = append(spans, span{start: s, until: s.Since})
	}
	return spans
}

// latest returns the latest time in a span.
func (s *span) latest() time.Time { return cmp.Or(s.until, s.start.Since) }

// Present returns the last known condition of each instance, with its latest time, in the form that [Compare] needs.
// Instances that ended have the state [Removed].
func (t *Timeline) Present() *observation.Observation {
	var o observation.Observation
	for _, s := range t.Last() {
		g := observation.Group{ClusterType: s.ClusterType, Target: s.Target, Version: s.Version, State: s.State}
		for _, cluster := range s.Clusters {
			g.Members = append(g.Members, observation.Member{
				Cluster: cluster, Since: observation.Millis(s.Since), Message: s.Message,
			})
		}
		o.Groups = append(o.Groups, g)
	}
	o.Sort()
	return &o
}

// Last returns the last start of each instance, sorted. Earlier starts are not needed to continue a timeline.
func (t *Timeline) Last() []Start {
	var starts []Start
	for of, spans := range t.instances {
		last := spans[len(spans)-1]
		s := *last.start
		if !last.until.IsZero() {
			s = Start{ClusterType: of.at.clusterType, Target: of.at.target, Condition: Condition{State: Removed},
				Since: last.until}
		}
		s.Clusters = []string{of.cluster}
		starts = append(starts, s)
	}
	return merge(starts)
}

// Select adds the runs and the versions that a query selects to past.
func (t *Timeline) Select(q Query, past *StoredRuns) {
	versions := versionCounts{}
	for of, spans := range t.instances {
		if !q.wants(of) {
			continue
		}
		for _, s := range spans {
			r := Run{Cluster: of.cluster, ClusterType: of.at.clusterType, Target: of.at.target, Condition: s.start.Condition,
				Since: s.start.Since, Until: s.until, Message: s.start.Message}
			if r.running() && r.Since.Before(q.Until) && (r.Until.IsZero() || r.Until.After(q.Since)) {
				past.Runs = append(past.Runs, r)
			}
			if r.running() && !r.Since.After(q.Until) && (r.Until.IsZero() || r.Until.After(q.Until)) {
				versions.add(r)
			}
		}
	}
	for _, v := range versions {
		past.Versions = append(past.Versions, v.VersionCount)
	}
	slices.SortFunc(past.Versions, VersionCount.Compare)
	slices.SortFunc(past.Runs, compareRuns)
	if past.Truncated = len(past.Runs) > q.Limit; past.Truncated {
		past.Runs = past.Runs[:q.Limit]
	}
}

// wants reports whether a query selects an instance.
func (q Query) wants(of instance) bool {
	return (q.Target == nil || *q.Target == of.at.target) && (q.Cluster == nil || *q.Cluster == of.cluster)
}

// versionCounts counts clusters by deployment target, version and state.
type versionCounts map[[3]string]*versionClusters

type versionClusters struct {
	VersionCount
	names map[string]bool
}

func (v versionCounts) add(r Run) {
	key := [3]string{r.Target, r.Version.Version, r.State}
	found := v[key]
	if found == nil {
		count := VersionCount{Target: r.Target, Version: r.Version.Version, State: r.State, Since: r.Since}
		found = &versionClusters{count, map[string]bool{}}
		v[key] = found
	}
	found.names[r.Cluster] = true
	found.Clusters = len(found.names)
	if r.Since.Before(found.Since) {
		found.Since = r.Since
	}
	found.Workload = max(found.Workload, r.Version.Workload)
	found.Workspace = max(found.Workspace, r.Version.Workspace)
}

// compareRuns sorts the newest first, then by instance.
func compareRuns(a, b Run) int {
	return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.ClusterType, b.ClusterType), cmp.Compare(a.Target, b.Target),
		cmp.Compare(a.Cluster, b.Cluster))
}
