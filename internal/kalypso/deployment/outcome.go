package deployment

import (
	"cmp"
	"slices"
)

// countTarget adds to the counts of a deployment target.
func (o *Outcome) countTarget(target string, more TargetCount) {
	n := o.Targets[target]
	n.Current, n.Failed, n.Total = n.Current+more.Current, n.Failed+more.Failed, n.Total+more.Total
	o.Targets[target] = n
}

// addUnexpected lists a cluster as a problem without counting it.
func (o *Outcome) addUnexpected(s clusterState, why string) {
	s.State, s.Message, s.Failing = StateUnexpected, why, false
	o.addFollowed(s)
	o.Problems = append(o.Problems, s.Problem)
}

// addFollowed records the folder that a cluster follows.
func (o *Outcome) addFollowed(s clusterState) {
	o.Clusters[s.Cluster] = append(o.Clusters[s.Cluster], Followed{s.Folder, s.Revision, s.State})
}

// ProblemOrder lists the states of problems: those that weigh most for the verdict come first.
var ProblemOrder = []ClusterState{
	StateFailed, StateMissing, StateOffline, StateStale, StateSuspended, StateProgressing, StateUnexpected,
}

func (o *Outcome) sort() {
	for _, follows := range o.Clusters {
		slices.SortFunc(follows, func(a, b Followed) int { return cmp.Compare(a.Folder, b.Folder) })
	}
	slices.SortFunc(o.Problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(slices.Index(ProblemOrder, a.State), slices.Index(ProblemOrder, b.State)),
			compareFailing(a.Failing, b.Failing),
			cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Message, b.Message),
		)
	})
}

// compareFailing orders those that fail first.
func compareFailing(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
