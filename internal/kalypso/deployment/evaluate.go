package deployment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Evaluate decides the state of a deployment. It returns the error of ctx once ctx is done.
func Evaluate(ctx context.Context, w Input) (Outcome, error) {
	o := Outcome{
		Verdict:  Pending,
		Folders:  map[string]FolderState{},
		Targets:  map[string]TargetCount{},
		Clusters: map[string][]Followed{},
	}
	if w.Branch.Head == "" {
		o.Summary = fmt.Sprintf("The branch %q contains no rendering at this path yet.", w.Branch.Name)
		return o, nil
	}
	w.reported = map[place]bool{}
	w.listed = map[string]map[string]bool{}
	for folder, expected := range w.Rules.Expected {
		w.listed[folder] = map[string]bool{}
		for _, cluster := range expected.Clusters {
			w.listed[folder][clusterKey(cluster)] = true
		}
	}
	all, elsewhere := w.groupReports(ctx, &o)
	inFolder := map[string][]clusterState{}
	for _, s := range all {
		inFolder[s.Folder] = append(inFolder[s.Folder], s)
	}
	counted := clusterTally{current: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(w.Branch.Folders)) {
		if ctx.Err() != nil {
			break
		}
		state, members := w.evaluateFolder(name, slices.Concat(inFolder[""], inFolder[name]), elsewhere, &o)
		counted.add(state, members)
		if len(w.Unanswered) > 0 {
			state.Verdict, state.Since = Pending, time.Time{}
		}
		o.Folders[name] = state
		for _, target := range w.Branch.Folders[name].Targets {
			o.countTarget(target, TargetCount{Current: state.Current, Total: state.Total})
		}
	}
	hasProblem := map[string]bool{}
	for _, p := range o.Problems {
		hasProblem[p.Cluster] = true
	}
	for _, c := range all {
		if c.Folder == "" && !hasProblem[c.Cluster] {
			o.Problems = append(o.Problems, c.Problem)
			hasProblem[c.Cluster] = true
		}
		if _, there := w.Branch.Folders[c.Folder]; !there && c.Folder != "" {
			o.addUnexpected(c, "it follows a folder that the branch does not contain; it is not counted")
		}
	}
	for name := range w.Rules.Expected {
		if _, there := w.Branch.Folders[name]; !there {
			o.Problems = append(o.Problems, Problem{
				Folder:  name,
				State:   StateMissing,
				Message: "clusters are expected to follow the folder, but the branch does not contain it",
			})
		}
	}
	o.sort()
	o.Verdict = w.verdict(o)
	o.Summary = w.summary(o, counted)
	return o, ctx.Err()
}

// clusterTally counts each cluster once, though it may follow several folders, or could follow any of them.
type clusterTally struct {
	current map[string]bool // cluster → whether it is current in all of its folders
	unnamed int             // clusters that are missing to a minimum
}

func (c *clusterTally) add(state FolderState, members map[string]clusterState) {
	for key, s := range members {
		before, met := c.current[key]
		c.current[key] = (before || !met) && s.State == StateCurrent
	}
	c.unnamed += state.Total - len(members)
}

// clusterState is the state of one cluster in one folder: a problem, if it is not current.
type clusterState struct {
	Problem
	since time.Time
}

// clusterKey returns the key under which a cluster's reports are grouped. Azure's IDs ignore case.
func clusterKey(name string) string {
	if lower := strings.ToLower(name); strings.HasPrefix(lower, "/subscriptions/") {
		return lower
	}
	return name
}

// groupReports evaluates the reports and merges those of each cluster and folder, sorted by folder and cluster. It
// takes one cluster at a time, so that a large fleet needs little memory. It returns separately why objects sync a
// folder from elsewhere.
func (w *Input) groupReports(ctx context.Context, o *Outcome) (all []clusterState, elsewhere reasons) {
	byCluster := map[string][]int32{}
	var others []clusterState
	for i := range w.Reports {
		r := &w.Reports[i]
		if r.Health == Elsewhere {
			why := withMessage(OneLine(r.Object), OneLine(r.Message))
			others = append(others, clusterState{Problem: Problem{Cluster: r.Cluster, Folder: r.Folder, Message: why}})
			continue
		}
		key := clusterKey(r.Cluster)
		byCluster[key] = append(byCluster[key], int32(i)) //nolint:gosec // there are no 2^31 reports
	}
	for _, reports := range byCluster {
		if ctx.Err() != nil {
			break
		}
		all = append(all, w.groupReportsOf(reports, o)...)
	}
	for _, states := range [][]clusterState{all, others} {
		slices.SortFunc(states, func(a, b clusterState) int {
			return cmp.Or(cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Message, b.Message))
		})
	}
	return all, newReasons(others)
}

// groupReportsOf evaluates and merges the reports of one cluster, which are indexes, in any order.
func (w *Input) groupReportsOf(cluster []int32, o *Outcome) (all []clusterState) {
	reports := lists.Map(cluster, func(i int32) *evaluatedReport { return w.evaluateReport(&w.Reports[i]) })
	slices.SortFunc(reports, func(a, b *evaluatedReport) int {
		if a.of.Folder != b.of.Folder || a.of.Object != b.of.Object {
			return cmp.Or(cmp.Compare(a.of.Folder, b.of.Folder), cmp.Compare(a.of.Object, b.of.Object))
		}
		return compareReports(a, b)
	})
	var objects []*evaluatedReport
	for one := range lists.Runs(reports, func(r *evaluatedReport) place { return place{r.of.Folder, r.of.Object} }) {
		objects = append(objects, mergeReports(one))
	}
	slices.SortFunc(objects, func(a, b *evaluatedReport) int {
		return cmp.Or(cmp.Compare(a.of.Folder, b.of.Folder), compareReports(a, b))
	})
	folders := slices.Collect(lists.Runs(objects, func(r *evaluatedReport) string { return r.of.Folder }))
	for _, objects := range folders {
		worst := objects[0]
		since := time.Time{}
		for _, r := range objects {
			if r.state == worst.state {
				since = Later(since, r.since)
			}
		}
		why := worst.reason
		if worst.of.Object != "" && worst.state != StateCurrent {
			why = withMessage(worst.of.Object, why)
		}
		all = append(all, clusterState{Problem{
			worst.of.Cluster, worst.of.Folder, worst.state, revisionOf(objects), why, worst.failing,
		}, since})
	}
	w.reportInstances(all, folders, o)
	return all
}

// reasons contains why folders are not synced from the branch: the message of the first object that syncs a folder from
// elsewhere to a cluster, or with "" to any cluster.
type reasons map[place]string

type place struct{ cluster, folder string }

func newReasons(sorted []clusterState) reasons {
	r := reasons{}
	for _, s := range sorted {
		for at, why := range map[place]string{
			{clusterKey(s.Cluster), s.Folder}: s.Message,
			{"", s.Folder}:                    fmt.Sprintf("cluster %q: %s", s.Cluster, s.Message),
		} {
			r[at] = cmp.Or(r[at], why)
		}
	}
	return r
}

// revisionOf returns the revision of the branch in the worst report that has one.
func revisionOf(reports []*evaluatedReport) string {
	for _, r := range reports {
		if r.revision != "" && !r.of.Nested {
			return r.revision
		}
	}
	return ""
}

// compareReports orders reports by severity, worst first, and then by all other fields.
func compareReports(a, b *evaluatedReport) int {
	return cmp.Or(
		cmp.Compare(severity[b.state], severity[a.state]), compareFailing(a.failing, b.failing),
		cmp.Compare(a.of.Object, b.of.Object), b.since.Compare(a.since), cmp.Compare(a.of.Cluster, b.of.Cluster),
		cmp.Compare(a.revision, b.revision), cmp.Compare(a.reason, b.reason),
	)
}

// evaluateFolder counts the clusters of a folder at head and decides its verdict. It also returns the named clusters.
func (w *Input) evaluateFolder(
	name string,
	all []clusterState,
	elsewhere reasons,
	o *Outcome,
) (state FolderState, members map[string]clusterState) {
	expected, listed := w.Rules.Expected[name], w.listed[name]
	members = map[string]clusterState{}
	for _, cluster := range expected.Clusters {
		members[clusterKey(cluster)] = clusterState{Problem: Problem{
			Cluster: cluster,
			Folder:  name,
			State:   StateMissing,
			Message: withMessage("it is expected to follow the folder, but no source reports that it does",
				elsewhere[place{clusterKey(cluster), name}]),
		}}
	}
	for _, s := range all {
		key := clusterKey(s.Cluster)
		switch {
		case s.Folder == "" && (listed[key] || len(listed) == 0):
			s.Folder = name // it may follow any folder
			members[key] = s
		case s.Folder != name:
		case len(listed) > 0 && !listed[key]:
			o.addUnexpected(s, "the cluster is not among the expected ones; it is not counted")
		default:
			if other := members[key]; other.State == StateMissing || severity[s.State] >= severity[other.State] {
				members[key] = s
			}
		}
	}
	state.Tree = w.Branch.Folders[name].Tree
	for _, key := range slices.Sorted(maps.Keys(members)) {
		s := members[key]
		state.add(s.State)
		if s.Failing {
			state.Failing++
		}
		if s.State != StateMissing {
			o.addFollowed(s)
		}
		if s.State != StateCurrent {
			o.Problems = append(o.Problems, s.Problem)
		}
	}
	if w.Instances != nil { // a cluster that reports nothing reports no failure
		w.silentInstances(name, members, o)
	}
	state.Total = len(members)
	w.countMissing(name, expected, elsewhere[place{"", name}], &state, o)
	w.setVerdict(expected, slices.Collect(maps.Values(members)), &state)
	if state.Tree == "" {
		o.Problems = append(o.Problems, Problem{
			Folder:  name,
			State:   StateMissing,
			Message: "the record on the branch lists the folder, but the branch does not contain it",
		})
	}
	return state, members
}

func (c *Counts) add(s ClusterState) {
	switch s {
	case StateCurrent:
		c.Current++
	case StateProgressing:
		c.Progressing++
	case StateFailed:
		c.Failed++
	case StateSuspended:
		c.Suspended++
	case StateStale:
		c.Stale++
	case StateOffline:
		c.Offline++
	case StateMissing:
		c.Missing++
	case StateUnexpected: // it is no state of a cluster that is counted
	}
}

// countMissing counts the clusters missing from the expected number: up to the minimum of current ones, or one if no
// cluster reports.
func (w *Input) countMissing(name string, expected Expectation, reason string, state *FolderState, o *Outcome) {
	lacking, message := 0, ""
	switch {
	case expected.Minimum != nil:
		lacking = *expected.Minimum - state.Current
		message = fmt.Sprintf("%d of at least %d clusters are current", state.Current, *expected.Minimum)
		state.Total = max(state.Total, *expected.Minimum)
	case state.Total == 0:
		lacking, state.Total = 1, 1
		message = withMessage("no cluster reports that it follows the folder", reason)
	}
	if lacking > state.Missing {
		state.Missing = lacking
		o.Problems = append(o.Problems, Problem{Folder: name, State: StateMissing, Message: message})
	}
}

// setVerdict sets the verdict of a folder, and the time since when it has it.
func (w *Input) setVerdict(expected Expectation, members []clusterState, state *FolderState) {
	c := state.Counts
	unavailable := c.Stale + c.Offline + c.Suspended + c.Missing
	noneNeeded := expected.Minimum != nil && *expected.Minimum == 0
	switch {
	case !w.Rules.MaxFailed.Allows(c.Failed, c.Total):
		state.Verdict = Failure
	case state.Tree == "",
		c.Progressing > 0,
		!w.Rules.MaxUnavailable.Allows(unavailable, c.Total),
		c.Current == 0 && !noneNeeded:
		state.Verdict = Pending
	default:
		state.Verdict = Success
	}
	state.Since = w.since(members, state)
}

// since returns the time at which a folder reached its verdict. Success began with the last cluster that became
// current, failure with the first one over the limit, and pending with the first cluster that is pending.
func (w *Input) since(members []clusterState, state *FolderState) time.Time {
	of := func(states ...ClusterState) []time.Time {
		var times []time.Time
		for _, s := range members {
			if slices.Contains(states, s.State) && !s.since.IsZero() {
				times = append(times, s.since)
			}
		}
		slices.SortFunc(times, time.Time.Compare)
		return times
	}
	var times []time.Time
	at := 0
	switch state.Verdict {
	case Success:
		times = of(StateCurrent)
		at = len(times) - 1
	case Failure:
		times = of(StateFailed)
		for at < len(times)-1 && w.Rules.MaxFailed.Allows(at+1, state.Total) {
			at++
		}
	case Pending:
		times = of(StateProgressing, StateSuspended)
	}
	if len(times) == 0 {
		return time.Time{}
	}
	return times[at]
}

// verdict returns the verdict of all folders together.
func (w *Input) verdict(o Outcome) Verdict {
	worst := Success
	for _, f := range o.Folders {
		switch f.Verdict {
		case Failure:
			return Failure
		case Pending:
			worst = Pending
		case Success:
		}
	}
	for name := range w.Rules.Expected {
		if _, there := w.Branch.Folders[name]; !there {
			worst = Pending
		}
	}
	if !w.Branch.Complete || len(o.Folders) == 0 || len(w.Unanswered) > 0 {
		worst = Pending
	}
	return worst
}

// summary describes the state in one line.
func (w *Input) summary(o Outcome, clusters clusterTally) string {
	current, total, done := 0, len(clusters.current)+clusters.unnamed, 0
	for _, is := range clusters.current {
		if is {
			current++
		}
	}
	var waiting []string
	for _, name := range slices.Sorted(maps.Keys(o.Folders)) {
		if o.Folders[name].Verdict == Success {
			done++
		} else {
			waiting = append(waiting, name)
		}
	}
	text := fmt.Sprintf(
		"%d of %d cluster types deployed at %.7s, %d of %d clusters current",
		done,
		len(o.Folders),
		w.Branch.Head,
		current,
		total,
	)
	switch {
	case len(w.Unanswered) > 0:
		text += "; no answer: " + problem.First(w.Unanswered, 3)
	case !w.Branch.Complete:
		text += "; a rollout is in progress"
	}
	if len(waiting) > 0 {
		text += "; not deployed yet: " + problem.First(waiting, 5)
	}
	return text + "."
}
