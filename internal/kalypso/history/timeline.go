package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// Start is the time at which instances got a condition. If they ended, the state is [Removed].
type Start struct {
	observation.Place
	observation.Condition
	Since    time.Time `json:"since"`
	Message  string    `json:"message,omitempty"`
	Clusters []string  `json:"clusters"` // sorted
}

// Starts returns the starts and ends of changes, sorted. Starts that differ only in their clusters are one.
func Starts(changes []InstanceChange) []Start {
	var starts []Start
	for _, c := range changes {
		for _, m := range c.Members {
			starts = append(starts, Start{c.Place, c.To, observation.Time(m.Since), m.Message, []string{m.Cluster}})
		}
	}
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
		s.Compare(other.Place), compareConditions(s.Condition, other.Condition), s.Since.Compare(other.Since),
		cmp.Compare(s.Message, other.Message), cmp.Compare(s.Version.Commit, other.Version.Commit),
		cmp.Compare(s.Version.Repo, other.Version.Repo), cmp.Compare(s.Version.Path, other.Version.Path),
	)
}

// Run is the condition of an instance from Since until Until.
type Run struct {
	Cluster string
	observation.Place
	observation.Condition
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
	observation.Place
	cluster string
}

// Add adds the starts of a record. Records are added in their order. A start that is already known is ignored.
func (t *Timeline) Add(starts []Start) {
	if t.instances == nil {
		t.instances = map[instance][]span{}
	}
	for i, s := range starts {
		for _, cluster := range s.Clusters {
			of := instance{s.Place, cluster}
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
	case running(s.Condition):
		spans = append(spans, span{start: s})
	case last == nil:
		spans = append(spans, span{start: s, until: s.Since})
	}
	return spans
}

// run returns the run of an instance.
func (s span) run(of instance) Run {
	return Run{of.cluster, of.Place, s.start.Condition, s.start.Since, s.until, s.start.Message}
}

// latest returns the latest time in a span.
func (s *span) latest() time.Time { return cmp.Or(s.until, s.start.Since) }

// Present returns the last known condition of each instance, with its latest time, in the form that [Compare] needs.
// Instances that ended have the state [Removed]. Its changes from nothing are enough to continue a timeline.
func (t *Timeline) Present() *observation.Observation {
	present := Present{}
	for of, spans := range t.instances {
		present.Add(spans[len(spans)-1].run(of))
	}
	return present.Observation()
}

// Present collects the latest condition of instances.
type Present map[condition][]observation.Member

type condition struct {
	observation.Place
	observation.Condition
}

// Add adds the last run of an instance.
func (p Present) Add(r Run) {
	key := condition{r.Place, r.Condition}
	m := observation.Member{Cluster: r.Cluster, Since: observation.Millis(r.Since), Message: r.Message}
	if !r.Until.IsZero() {
		key.Condition = observation.Condition{State: Removed}
		m.Since, m.Message = observation.Millis(r.Until), ""
	}
	p[key] = append(p[key], m)
}

// Observation returns the instances in the form that [Compare] needs.
func (p Present) Observation() *observation.Observation {
	o := &observation.Observation{}
	for of, members := range p {
		o.Groups = append(o.Groups, observation.Group{Place: of.Place, Condition: of.Condition, Members: members})
	}
	o.Sort()
	return o
}

// Select adds the runs and the versions that a query selects to past.
func (t *Timeline) Select(q Query, past *StoredRuns) {
	versions := versionCounts{}
	for of, spans := range t.instances {
		if !q.wants(of) {
			continue
		}
		for _, s := range spans {
			r := s.run(of)
			if running(r.Condition) && r.Since.Before(q.Until) && (r.Until.IsZero() || r.Until.After(q.Since)) {
				past.Runs = append(past.Runs, r)
			}
			if running(r.Condition) && !r.Since.After(q.Until) && (r.Until.IsZero() || r.Until.After(q.Until)) {
				versions.add(r)
			}
		}
	}
	for _, v := range versions {
		past.Versions = append(past.Versions, v.VersionCount)
	}
	slices.SortFunc(past.Versions, VersionCount.Compare)
	slices.SortFunc(past.Runs, compareRuns)
	past.Truncated = len(past.Runs) > q.Limit
	if past.Truncated {
		past.Runs = past.Runs[:q.Limit]
	}
}

// wants reports whether a query selects an instance.
func (q Query) wants(of instance) bool {
	return (q.Target == nil || *q.Target == of.Target) && (q.Cluster == nil || *q.Cluster == of.cluster)
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
	return cmp.Or(b.Since.Compare(a.Since), a.Compare(b.Place), cmp.Compare(a.Cluster, b.Cluster))
}
