package deployment

import (
	"cmp"
	"slices"
	"time"
)

// Instance is one deployment target on one cluster.
type Instance struct {
	Cluster string
	Folder  string // of the cluster type
	Target  string // "": the folder itself
	// State is failed as soon as the cluster reports a failure, whatever the deadline of verdicts is.
	State ClusterState
	// Since is the time at which the state began, or else that of the report; zero: unknown.
	Since    time.Time
	Message  string
	Revision string // of the branch, that the cluster synced; "": unknown
	// Applied contains the applied revisions, by object; empty: no object reports one.
	Applied []Applied
}

// Applied is the revision that an object applied.
type Applied struct {
	Object   string // as in [Report.Object]; "": a report of the deployment target itself
	Revision string // as in [TargetReport]
	Version  string // that a report names; "": none
}

// began returns the time of the condition's transition, or else of the report.
func (r *Report) began() time.Time {
	if r.Since.IsZero() {
		return r.Time
	}
	return r.Since
}

// reportInstances passes on the instances from the reports of one cluster, for each folder in which it counts. reports
// contains the reports for each state, worst first.
func (w *Input) reportInstances(states []clusterState, reports [][]*evaluatedReport, o *Outcome) {
	anywhere := slices.IndexFunc(states, func(s clusterState) bool { return s.Folder == "" })
	for i, s := range states {
		at := place{clusterKey(s.Cluster), s.Folder}
		folder, there := w.Branch.Folders[s.Folder]
		if !there || len(w.listed[s.Folder]) > 0 && !w.listed[s.Folder][at.cluster] ||
			w.Instances == nil && len(folder.Targets) == 0 {
			continue
		}
		w.reported[at] = true
		since, targets := w.targetsOf(reports[i])
		// As in evaluateFolder, a report on the whole cluster counts if it is worse.
		if anywhere >= 0 && severity[states[anywhere].State] >= severity[s.State] {
			s.State, s.Message, s.Failing = states[anywhere].State, states[anywhere].Message, states[anywhere].Failing
		}
		w.passOn(s, since, targets, o)
	}
}

// targetsOf returns what the reports of a cluster in a folder, worst first, say about its deployment targets. since is
// the time from which the state of the folder applies.
func (w *Input) targetsOf(reports []*evaluatedReport) (since time.Time, targets []Instance) {
	for _, r := range reports {
		if r.state == reports[0].state {
			since = Later(since, r.of.began())
		}
		for _, t := range r.of.Targets {
			targets = addTarget(targets, w.reportedTarget(r.of, t))
		}
		if !r.of.Nested || w.TargetOf == nil {
			continue
		}
		if target := w.TargetOf(r.of.Folder, r.of.Object); target != "" {
			one := Instance{Target: target, State: r.state.Reported(r.failing), Since: r.of.began(), Message: r.reason}
			if r.revision != "" {
				one.Applied = []Applied{{Object: r.of.Object, Revision: r.revision}}
			}
			targets = addTarget(targets, one)
		}
	}
	return since, targets
}

// reportedTarget returns what a report says about a deployment target. The state is "" if it is that of the folder.
func (w *Input) reportedTarget(of *Report, t TargetReport) Instance {
	one := Instance{Target: t.Name, Since: of.began(), Message: OneLine(t.Message)}
	if t.Revision != "" || t.Version != "" {
		one.Applied = []Applied{{Revision: OneLine(t.Revision), Version: OneLine(t.Version)}}
	}
	if t.Health != "" {
		r := *of
		r.Nested, r.Health, r.Message = true, t.Health, t.Message
		judged := w.evaluateReport(&r)
		one.State, one.Message = judged.state.Reported(judged.failing), judged.reason
	}
	return one
}

// addTarget merges the report of another object on a target: the worse state counts, and for equal states the later
// time.
func addTarget(targets []Instance, one Instance) []Instance {
	i := slices.IndexFunc(targets, func(t Instance) bool { return t.Target == one.Target })
	if i < 0 {
		return append(targets, one)
	}
	known := &targets[i]
	switch c := cmp.Compare(severity[one.State], severity[known.State]); {
	case c > 0:
		known.State, known.Since, known.Message = one.State, one.Since, one.Message
	case c == 0:
		known.Since = Later(known.Since, one.Since)
	}
	known.Applied = append(known.Applied, one.Applied...)
	return targets
}

// passOn passes on the instances of a cluster in a folder: of the folder, of the reported deployment targets, and of
// the other targets at head. It counts those that failed.
func (w *Input) passOn(s clusterState, since time.Time, reported []Instance, o *Outcome) {
	head := w.Branch.Folders[s.Folder].Targets
	pass := func(i Instance) {
		if w.Instances != nil {
			w.Instances(i)
		}
		if _, there := slices.BinarySearch(head, i.Target); i.State != StateFailed || !there {
			return
		}
		failed := TargetCount{Failed: 1}
		if s.State == StateCurrent {
			failed.Current = -1 // it was counted with its folder
		}
		o.countTarget(i.Target, failed)
	}
	whole := Instance{
		Cluster: s.Cluster, Folder: s.Folder, State: s.State.Reported(s.Failing), Since: since, Message: s.Message,
		Revision: s.Revision,
	}
	pass(whole)
	known := map[string]bool{}
	for _, one := range reported {
		known[one.Target] = true
		one.Cluster, one.Folder, one.Revision = whole.Cluster, whole.Folder, whole.Revision
		// A folder that is stale, offline or missing decides the state of all of its targets: nothing newer is known.
		if one.State == "" || slices.Contains([]ClusterState{StateStale, StateOffline, StateMissing}, s.State) {
			one.State, one.Since, one.Message = whole.State, whole.Since, cmp.Or(one.Message, whole.Message)
		}
		pass(one)
	}
	for _, target := range head {
		if !known[target] {
			whole.Target = target
			pass(whole)
		}
	}
}

// silentInstances passes on the instances of the clusters that are expected in a folder and report nothing of it. A
// cluster whose folder is unknown is left out, unless it is expected here.
func (w *Input) silentInstances(folder string, members map[string]clusterState, o *Outcome) {
	for key, s := range members {
		if w.listed[folder][key] && !w.reported[place{key, folder}] {
			w.passOn(s, time.Time{}, nil, o)
		}
	}
}
