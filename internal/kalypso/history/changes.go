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
	ClusterType, Target string
	// From and To are the previous and the new condition of the instances. From has no state if there was no instance. To
	// has the state [Removed] if the instance is gone.
	From, To Condition
	// Members are the clusters. Since is the time at which they began to run To.
	Members []observation.Member
}

// Condition is the version and the state of an instance.
type Condition struct {
	Version observation.Version `json:",embed"`
	State   string              `json:"state"`
}

// same reports whether two conditions are equal. A different commit with the same content makes no difference, nor does
// a commit that only one of the two conditions contains.
func (c Condition) same(other Condition) bool {
	a, b := c.Version, other.Version
	return c.State == other.State && a.Content == b.Content && (a.Version == b.Version || a.Identity() == b.Identity())
}

func (c Condition) running() bool { return c.State != "" && c.State != Removed }

// place identifies a deployment target of a cluster type by their names.
type place struct{ clusterType, target string }

func placeOf(g observation.Group) place { return place{g.ClusterType, g.Target} }

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.clusterType, other.clusterType), cmp.Compare(p.target, other.target))
}

// byPlace returns the groups of an observation by their place. o may be nil.
func byPlace(o *observation.Observation) map[place][]observation.Group {
	groups := map[place][]observation.Group{}
	if o != nil {
		for _, g := range o.Groups {
			groups[placeOf(g)] = append(groups[placeOf(g)], g)
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
	for _, at := range slices.SortedFunc(sets.Keys(before, after), place.compare) {
		type lastRun struct {
			group *observation.Group
			since int64
		}
		ran := map[string]lastRun{} // by cluster
		for i, g := range before[at] {
			for _, m := range g.Members {
				ran[m.Cluster] = lastRun{&before[at][i], m.Since}
			}
		}
		found := map[[2]*observation.Group][]observation.Member{} // from and to
		for i, g := range after[at] {
			to := Condition{g.Version, g.State}
			for _, m := range g.Members {
				from, met := ran[m.Cluster]
				delete(ran, m.Cluster)
				if met && to.same(Condition{from.group.Version, from.group.State}) {
					continue
				}
				if m.Since <= from.since || m.Since > observed {
					m.Since = observed
				}
				key := [2]*observation.Group{from.group, &after[at][i]}
				found[key] = append(found[key], m)
			}
		}
		for cluster, from := range ran {
			if (Condition{State: from.group.State}).running() {
				key := [2]*observation.Group{from.group, nil}
				found[key] = append(found[key], observation.Member{Cluster: cluster, Since: observed})
			}
		}
		changes = append(changes, changesAt(at, found)...)
	}
	return changes
}

// changesAt returns the changes at a place, sorted.
func changesAt(at place, found map[[2]*observation.Group][]observation.Member) []InstanceChange {
	condition := func(g *observation.Group) Condition {
		if g == nil {
			return Condition{State: Removed}
		}
		return Condition{g.Version, g.State}
	}
	var changes []InstanceChange
	for groups, members := range found {
		c := InstanceChange{ClusterType: at.clusterType, Target: at.target, To: condition(groups[1]), Members: members}
		if from := condition(groups[0]); from.running() {
			c.From = from
		}
		slices.SortFunc(c.Members, func(a, b observation.Member) int { return cmp.Compare(a.Cluster, b.Cluster) })
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b InstanceChange) int {
		return cmp.Or(a.From.compare(b.From), a.To.compare(b.To), cmp.Compare(a.Members[0].Cluster, b.Members[0].Cluster))
	})
	return changes
}

func (c Condition) compare(other Condition) int {
	return cmp.Or(
		cmp.Compare(c.Version.Version, other.Version.Version), cmp.Compare(c.Version.Content, other.Version.Content),
		cmp.Compare(c.State, other.State),
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
			reported.add(placeOf(g), g.Members)
		}
	}
	if was != nil {
		for _, g := range reported.filter(was.Groups, false) {
			if (Condition{State: g.State}).running() {
				carried.Groups = append(carried.Groups, g)
			}
		}
	}
	carried.Sort()
	return &carried
}

// Only returns a copy of an observation that contains only the instances in changes.
func Only(o *observation.Observation, changes []InstanceChange) *observation.Observation {
	wanted := clusters{}
	for _, c := range changes {
		wanted.add(place{c.ClusterType, c.Target}, c.Members)
	}
	some := *o
	some.Groups = wanted.filter(o.Groups, true)
	return &some
}

// clusters contains names of clusters by the deployment target of a cluster type.
type clusters map[place]map[string]bool

func (c clusters) add(at place, members []observation.Member) {
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
		names := c[placeOf(g)]
		var members []observation.Member
		for _, m := range g.Members {
			if names[m.Cluster] == in {
				members = append(members, m)
			}
		}
		if g.Members = members; len(members) > 0 {
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
