package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Removed is the state of an instance that is gone.
const Removed = "removed"

// InstanceChange says that some instances of a deployment target began to run another version or got another state. An
// instance is a deployment target on a cluster, through a cluster type.
type InstanceChange struct {
	observation.Place
	// From and To are the previous and the new condition of the instances. From has no state if there was no instance. To
	// has the state [Removed] if the instance is gone.
	From, To observation.Condition
	// Members are the clusters. Since is the time at which they began to run To.
	Members []observation.Member
}

// same reports whether two conditions are equal. A different commit with the same content makes no difference, nor does
// a commit that only one of the two conditions contains.
func same(a, b observation.Condition) bool {
	v, w := a.Version, b.Version
	return a.State == b.State && v.Content == w.Content && (v.Version == w.Version || v.Identity() == w.Identity())
}

func running(c observation.Condition) bool { return c.State != "" && c.State != Removed }

// byPlace returns the groups of an observation by their place. o may be nil.
func byPlace(o *observation.Observation) map[observation.Place][]observation.Group {
	groups := map[observation.Place][]observation.Group{}
	if o != nil {
		for _, g := range o.Groups {
			groups[g.Place] = append(groups[g.Place], g)
		}
	}
	return groups
}

// Compare returns the changes between two observations, sorted. If was is nil, all instances are new.
//
// The members of was contain the latest known time of each instance. A change begins at the time that now reports, if
// this time is after the time in was and not after the observation. Otherwise it begins at the time of the observation.
func Compare(was, now *observation.Observation) []InstanceChange {
	var changes []InstanceChange
	before, after := byPlace(was), byPlace(now)
	observed := observation.Millis(now.ObservedAt)
	for _, at := range slices.SortedFunc(sets.Keys(before, after), observation.Place.Compare) {
		ran := map[string]lastRun{} // by cluster
		for _, g := range before[at] {
			for _, m := range g.Members {
				ran[m.Cluster] = lastRun{&g, m.Since}
			}
		}
		found := map[[2]observation.Condition][]observation.Member{} // from and to
		for _, g := range after[at] {
			for _, m := range g.Members {
				from := ran[m.Cluster]
				delete(ran, m.Cluster)
				if from.of != nil && same(from.of.Condition, g.Condition) {
					continue
				}
				if m.Since <= from.since || m.Since > observed {
					m.Since = observed
				}
				change := [2]observation.Condition{from.condition(), g.Condition}
				found[change] = append(found[change], m)
			}
		}
		for cluster, from := range ran {
			change := [2]observation.Condition{from.condition(), {State: Removed}}
			if change[0].State != "" {
				found[change] = append(found[change], observation.Member{Cluster: cluster, Since: observed})
			}
		}
		changes = append(changes, changesAt(at, found)...)
	}
	return changes
}

// lastRun is the last run of an instance.
type lastRun struct {
	of    *observation.Group // nil: there was none
	since int64
}

// condition returns the condition of an instance that runs, or else the zero value.
func (l lastRun) condition() observation.Condition {
	if l.of == nil || !running(l.of.Condition) {
		return observation.Condition{}
	}
	return l.of.Condition
}

// changesAt returns the changes at a place, sorted.
func changesAt(at observation.Place, found map[[2]observation.Condition][]observation.Member) []InstanceChange {
	var changes []InstanceChange
	for is, members := range found {
		slices.SortFunc(members, func(a, b observation.Member) int { return cmp.Compare(a.Cluster, b.Cluster) })
		changes = append(changes, InstanceChange{at, is[0], is[1], members})
	}
	slices.SortFunc(changes, func(a, b InstanceChange) int {
		return cmp.Or(compareConditions(a.From, b.From), compareConditions(a.To, b.To),
			cmp.Compare(a.Members[0].Cluster, b.Members[0].Cluster))
	})
	return changes
}

func compareConditions(a, b observation.Condition) int {
	return cmp.Or(
		cmp.Compare(a.Version.Version, b.Version.Version), cmp.Compare(a.Version.Content, b.Version.Content),
		cmp.Compare(a.State, b.State),
	)
}

// Carry returns the current instances. If all sources answered, this is now itself. Otherwise, instances that now does
// not report, or only expects, are copied from was, since nothing newer is known about them.
func Carry(was, now *observation.Observation) *observation.Observation {
	if len(now.Unanswered) == 0 {
		return now
	}
	reported := clusters{}
	carried := *now
	carried.Groups = nil
	for _, g := range now.Groups {
		if g.State != string(deployment.StateMissing) {
			carried.Groups = append(carried.Groups, g)
			reported.add(g.Place, g.Members)
		}
	}
	if was != nil {
		for _, g := range reported.filter(was.Groups, false) {
			if running(g.Condition) {
				carried.Groups = append(carried.Groups, g)
			}
		}
	}
	carried.Sort()
	return &carried
}

// only returns a copy of an observation that contains only the instances in changes.
func only(o *observation.Observation, changes []InstanceChange) *observation.Observation {
	wanted := clusters{}
	for _, c := range changes {
		wanted.add(c.Place, c.Members)
	}
	some := *o
	some.Groups = wanted.filter(o.Groups, true)
	return &some
}

// clusters contains names of clusters by the deployment target of a cluster type.
type clusters map[observation.Place]map[string]bool

func (c clusters) add(at observation.Place, members []observation.Member) {
	if c[at] == nil {
		c[at] = map[string]bool{}
	}
	for _, m := range members {
		c[at][m.Cluster] = true
	}
}

// filter returns copies of groups that have only the members in c or, if in is false, the others.
func (c clusters) filter(groups []observation.Group, in bool) (left []observation.Group) {
	for _, g := range groups {
		names := c[g.Place]
		var members []observation.Member
		for _, m := range g.Members {
			if names[m.Cluster] == in {
				members = append(members, m)
			}
		}
		g.Members = members
		if len(members) > 0 {
			left = append(left, g)
		}
	}
	return left
}

// Count returns the number of instances that change.
func Count(changes []InstanceChange) int {
	n := 0
	for _, c := range changes {
		n += len(c.Members)
	}
	return n
}

// Due reports whether to record an observation: if something changed since the last record, or if that record is older
// than renewAfter. A renewAfter of 0 turns the second condition off. was is nil if nothing was recorded for the
// environment.
func Due(was, now *observation.Observation, renewAfter time.Duration) bool {
	if was == nil || renewAfter > 0 && now.ObservedAt.Sub(was.ObservedAt) >= renewAfter {
		return true
	}
	return was.Verdict != now.Verdict || was.PromotedCommit != now.PromotedCommit ||
		len(Compare(was, Carry(was, now))) > 0
}

// SamePlace reports whether two observations belong to the same environment, at the same place of the GitOps repo.
func SamePlace(a, b *observation.Observation) bool {
	return a.Environment == b.Environment &&
		Snapshot{Repo: a.Repo, Branch: a.Branch, Path: a.Path}.IsAt(b.Repo, b.Branch, b.Path)
}
