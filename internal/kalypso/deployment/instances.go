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

// folderRun contains the reported state of a folder's targets on a cluster.
type folderRun struct {
	since   time.Time // of the folder's state
	targets []targetRun
}

type targetRun struct {
	target  string
	state   ClusterState // "": that of the folder
	since   time.Time
	message string
	applied []Applied
}

// began returns the time of the condition's transition, or else of the report.
func (r *Report) began() time.Time {
	if r.Since.IsZero() {
		return r.Time
	}
	return r.Since
}

// reportInstances passes on the instances from the reports of one cluster, for each folder in which it counts. Reports
// are in the order of their severity, worst first.
func (w *Input) reportInstances(states []clusterState, reports map[place][]evaluatedReport, o *Outcome) {
	anywhere := slices.IndexFunc(states, func(s clusterState) bool { return s.folder == "" })
	for _, s := range states {
		at := place{clusterKey(s.cluster), s.folder}
		folder, there := w.Branch.Folders[s.folder]
		if !there || len(w.listed[s.folder]) > 0 && !w.listed[s.folder][at.cluster] ||
			w.Instances == nil && len(folder.Targets) == 0 {
			continue
		}
		w.reported[at] = true
		run := w.folderRunOf(reports[at])
		// As in evaluateFolder, a report on the whole cluster counts if it is worse.
		if anywhere >= 0 && severity[states[anywhere].state] >= severity[s.state] {
			s.state, s.reason, s.failing = states[anywhere].state, states[anywhere].reason, states[anywhere].failing
		}
		w.passOn(s, run, folder.Targets, o)
	}
}

// folderRunOf returns the state of the deployment targets from the reports of a cluster in a folder, worst first.
func (w *Input) folderRunOf(reports []evaluatedReport) folderRun {
	run := folderRun{}
	for _, j := range reports {
		if j.state == reports[0].state {
			run.since = Later(run.since, j.report.began())
		}
		for _, t := range j.report.Targets {
			run.add(w.targetRunOf(j, t))
		}
		if !j.report.Nested || w.TargetOf == nil {
			continue
		}
		if target := w.TargetOf(j.report.Folder, j.report.Object); target != "" {
			one := targetRun{target: target, state: j.state.reported(j.failing), since: j.report.began(), message: j.reason}
			if j.report.Revision != "" {
				one.applied = []Applied{{Object: j.report.Object, Revision: j.report.Revision}}
			}
			run.add(one)
		}
	}
	return run
}

// targetRunOf returns the state of a deployment target from a report.
func (w *Input) targetRunOf(j evaluatedReport, t TargetReport) targetRun {
	run := targetRun{target: t.Name, since: j.report.began(), message: OneLine(t.Message)}
	if t.Revision != "" || t.Version != "" {
		run.applied = []Applied{{Revision: OneLine(t.Revision), Version: OneLine(t.Version)}}
	}
	if t.Health == "" {
		return run
	}
	r := j.report
	r.Nested, r.Health, r.Message = true, t.Health, t.Message
	judged := w.evaluateReport(r)
	run.state, run.message = judged.state.reported(judged.failing), judged.reason
	return run
}

// add merges the report of another object on a target: the worse state counts, and for equal states the later time.
func (r *folderRun) add(one targetRun) {
	i := slices.IndexFunc(r.targets, func(t targetRun) bool { return t.target == one.target })
	if i < 0 {
		r.targets = append(r.targets, one)
		return
	}
	known := &r.targets[i]
	switch c := cmp.Compare(severity[one.state], severity[known.state]); {
	case c > 0:
		known.state, known.since, known.message = one.state, one.since, one.message
	case c == 0:
		known.since = Later(known.since, one.since)
	}
	known.applied = append(known.applied, one.applied...)
}

// passOn passes on the instances of a cluster in a folder with these deployment targets at head, and counts those that
// failed.
func (w *Input) passOn(s clusterState, run folderRun, head []string, o *Outcome) {
	pass := func(i Instance) {
		if w.Instances != nil {
			w.Instances(i)
		}
		if _, there := slices.BinarySearch(head, i.Target); i.State != StateFailed || !there {
			return
		}
		failed := TargetCount{Failed: 1}
		if s.state == StateCurrent {
			failed.Current = -1 // it was counted with its folder
		}
		o.countTarget(i.Target, failed)
	}
	whole := Instance{
		Cluster: s.cluster, Folder: s.folder, State: s.state.reported(s.failing), Since: run.since, Message: s.reason,
		Revision: s.revision,
	}
	pass(whole)
	told := map[string]bool{}
	for _, t := range run.targets {
		told[t.target] = true
		one := whole
		one.Target, one.Applied = t.target, t.applied
		one.Message = cmp.Or(t.message, whole.Message)
		if t.state != "" && !decidesTargets(s.state) {
			one.State, one.Since, one.Message = t.state, t.since, t.message
		}
		pass(one)
	}
	for _, target := range head {
		if !told[target] {
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
			w.passOn(s, folderRun{}, w.Branch.Folders[folder].Targets, o)
		}
	}
}

// decidesTargets reports whether the state of a folder is the one of all of its targets: nothing newer is known.
func decidesTargets(s ClusterState) bool {
	return s == StateStale || s == StateOffline || s == StateMissing
}
