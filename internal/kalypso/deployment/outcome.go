package deployment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Judge finds the state of a deployment.
func Judge(w World) Outcome {
	o := Outcome{
		Verdict: Pending, Folders: map[string]FolderState{}, Targets: map[string]TargetCount{}, Clusters: map[string][]Followed{},
	}
	if w.Branch.Head == "" {
		o.Summary = fmt.Sprintf("The branch %q holds no rendering at this path yet.", w.Branch.Name)
		return o
	}
	all := w.group()
	for _, name := range slices.Sorted(maps.Keys(w.Branch.Folders)) {
		state := w.judgeFolder(name, all, &o)
		if len(w.Unanswered) > 0 {
			state.Verdict, state.Since = Pending, time.Time{}
		}
		o.Folders[name] = state
		for _, target := range w.Branch.Folders[name].Targets {
			count := o.Targets[target]
			count.Current, count.Total = count.Current+state.Current, count.Total+state.Total
			o.Targets[target] = count
		}
	}
	for _, c := range all {
		if c.folder == "" && !o.has(c.cluster) {
			o.name(c)
		}
		if _, there := w.Branch.Folders[c.folder]; !there && c.folder != "" {
			o.leaveOut(c, "it follows a folder that the branch does not hold; it is not counted")
		}
	}
	for name := range w.Rules.Expected {
		if _, there := w.Branch.Folders[name]; !there {
			o.Problems = append(o.Problems, Problem{
				Folder: name, State: StateMissing, Message: "clusters are expected to follow the folder, and the branch does not hold it",
			})
		}
	}
	o.sort()
	o.Verdict = w.verdict(o)
	o.Summary = w.summary(o)
	return o
}

// seen is what a cluster is seen to do about a folder.
type seen struct {
	cluster  string
	folder   string // "": not known
	state    State
	since    time.Time
	revision string
	why      string
}

// clusterKey is the same for the names of one cluster. Azure's IDs are the same in any case.
func clusterKey(name string) string {
	if lower := strings.ToLower(name); strings.HasPrefix(lower, "/subscriptions/") {
		return lower
	}
	return name
}

// group judges the reports and puts those of a cluster and a folder together, sorted by folder and cluster.
func (w *World) group() []seen {
	type object struct{ cluster, folder, object string }
	objects := map[object][]judged{}
	for _, r := range w.Reports {
		at := object{clusterKey(r.Cluster), r.Folder, r.Object}
		objects[at] = append(objects[at], w.judge(r))
	}
	type place struct{ cluster, folder string }
	clusters := map[place][]judged{}
	for at, reports := range objects {
		slices.SortFunc(reports, compareJudged)
		clusters[place{at.cluster, at.folder}] = append(clusters[place{at.cluster, at.folder}], agree(reports))
	}
	var all []seen
	for _, reports := range clusters {
		slices.SortFunc(reports, compareJudged)
		worst := reports[0]
		since := time.Time{}
		for _, j := range reports {
			if j.state == worst.state {
				since = later(since, j.since)
			}
		}
		why := worst.why
		if worst.Object != "" && worst.state != StateCurrent {
			why = join(worst.Object, why)
		}
		all = append(all, seen{worst.Cluster, worst.Folder, worst.state, since, revisionOf(reports), why})
	}
	slices.SortFunc(all, func(a, b seen) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.cluster, b.cluster))
	})
	return all
}

// revisionOf is what the worst of the reports with a revision names.
func revisionOf(reports []judged) string {
	for _, j := range reports {
		if j.Revision != "" {
			return j.Revision
		}
	}
	return ""
}

// compareJudged puts the worst first, whatever the order of the reports.
func compareJudged(a, b judged) int {
	return cmp.Or(
		cmp.Compare(severity[b.state], severity[a.state]), cmp.Compare(a.Object, b.Object), b.since.Compare(a.since),
		cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.why, b.why),
	)
}

// name adds a problem.
func (o *Outcome) name(s seen) {
	o.Problems = append(o.Problems, Problem{s.cluster, s.folder, s.state, s.revision, s.why})
}

// leaveOut names a cluster that is not counted.
func (o *Outcome) leaveOut(s seen, why string) {
	s.state, s.why = StateUnexpected, why
	o.follows(s)
	o.name(s)
}

// has reports whether a cluster is named.
func (o *Outcome) has(cluster string) bool {
	return slices.ContainsFunc(o.Problems, func(p Problem) bool { return p.Cluster == cluster })
}

// follows notes what a cluster follows.
func (o *Outcome) follows(s seen) {
	o.Clusters[s.cluster] = append(o.Clusters[s.cluster], Followed{s.folder, s.revision, s.state})
}

// judgeFolder counts the clusters of a folder at head and finds its verdict.
func (w *World) judgeFolder(name string, all []seen, o *Outcome) FolderState {
	expected := w.Rules.Expected[name]
	members := map[string]seen{}
	listed := map[string]bool{}
	for _, cluster := range expected.Clusters {
		listed[clusterKey(cluster)] = true
		members[clusterKey(cluster)] = seen{
			cluster: cluster, folder: name, state: StateMissing, why: "it is expected to follow the folder, and nothing reports that it does",
		}
	}
	for _, s := range all {
		key := clusterKey(s.cluster)
		switch {
		case s.folder == "" && (listed[key] || len(listed) == 0):
			s.folder = name // it may follow any of them
			members[key] = s
		case s.folder != name:
		case len(listed) > 0 && !listed[key]:
			o.leaveOut(s, "the cluster is not among those expected; it is not counted")
		default:
			if other := members[key]; other.state == StateMissing || severity[s.state] >= severity[other.state] {
				members[key] = s
			}
		}
	}
	state := FolderState{Tree: w.Branch.Folders[name].Tree}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		s := members[key]
		state.add(s.state)
		if s.state != StateMissing {
			o.follows(s)
		}
		if s.state != StateCurrent {
			o.name(s)
		}
	}
	state.Total = len(members)
	w.missing(name, expected, &state, o)
	w.decide(expected, slices.Collect(maps.Values(members)), &state)
	if state.Tree == "" {
		o.Problems = append(o.Problems, Problem{
			Folder: name, State: StateMissing, Message: "the record on the branch lists the folder, and the branch does not hold it",
		})
	}
	return state
}

func (c *Counts) add(s State) {
	for state, n := range map[State]*int{
		StateCurrent: &c.Current, StateProgressing: &c.Progressing, StateFailed: &c.Failed, StateSuspended: &c.Suspended,
		StateStale: &c.Stale, StateOffline: &c.Offline, StateMissing: &c.Missing,
	} {
		if state == s {
			*n++
		}
	}
}

// missing counts clusters that are expected by their number: those that lack to a minimum of current ones, or one where
// nothing reports at all.
func (w *World) missing(name string, expected Expectation, state *FolderState, o *Outcome) {
	lacking, message := 0, ""
	switch {
	case expected.Minimum != nil:
		lacking = *expected.Minimum - state.Current
		message = fmt.Sprintf("%d of at least %d clusters are current", state.Current, *expected.Minimum)
		state.Total = max(state.Total, *expected.Minimum)
	case state.Total == 0:
		lacking, state.Total = 1, 1
		message = "no cluster reports that it follows the folder"
	}
	if lacking > state.Missing {
		state.Missing = lacking
		o.Problems = append(o.Problems, Problem{Folder: name, State: StateMissing, Message: message})
	}
}

// decide finds the verdict of a folder, and since when.
func (w *World) decide(expected Expectation, members []seen, state *FolderState) {
	c := state.Counts
	unavailable := c.Stale + c.Offline + c.Suspended + c.Missing
	noneNeeded := expected.Minimum != nil && *expected.Minimum == 0
	switch {
	case !w.Rules.MaxFailed.allows(c.Failed, c.Total):
		state.Verdict = Failure
	case state.Tree == "", c.Progressing > 0, !w.Rules.MaxUnavailable.allows(unavailable, c.Total), c.Current == 0 && !noneNeeded:
		state.Verdict = Pending
	default:
		state.Verdict = Success
	}
	state.Since = w.since(members, state)
}

// since is when a folder came to its verdict: a success with the last cluster that became current, a failure with the first
// one over the limit, and what is pending with the first cluster that is.
func (w *World) since(members []seen, state *FolderState) time.Time {
	of := func(states ...State) []time.Time {
		var times []time.Time
		for _, s := range members {
			if slices.Contains(states, s.state) && !s.since.IsZero() {
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
		for at < len(times)-1 && w.Rules.MaxFailed.allows(at+1, state.Total) {
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

// verdict is that of the whole.
func (w *World) verdict(o Outcome) Verdict {
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

// problemOrder is in which order problems are shown: those that decide first.
var problemOrder = []State{
	StateFailed, StateMissing, StateOffline, StateStale, StateSuspended, StateProgressing, StateUnexpected,
}

func (o *Outcome) sort() {
	for _, follows := range o.Clusters {
		slices.SortFunc(follows, func(a, b Followed) int { return cmp.Compare(a.Folder, b.Folder) })
	}
	slices.SortFunc(o.Problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(slices.Index(problemOrder, a.State), slices.Index(problemOrder, b.State)),
			cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Message, b.Message),
		)
	})
}

// summary says the state in a line.
func (w *World) summary(o Outcome) string {
	var current, total, done int
	var waiting []string
	for _, name := range slices.Sorted(maps.Keys(o.Folders)) {
		f := o.Folders[name]
		current, total = current+f.Current, total+f.Total
		if f.Verdict == Success {
			done++
		} else {
			waiting = append(waiting, name)
		}
	}
	text := fmt.Sprintf("%d of %d cluster types deployed at %.7s, %d of %d clusters current", done, len(o.Folders), w.Branch.Head, current, total)
	switch {
	case len(w.Unanswered) > 0:
		text += "; no answer: " + firstOf(w.Unanswered, 3)
	case !w.Branch.Complete:
		text += "; a rollout is under way"
	}
	if len(waiting) > 0 {
		text += "; not yet: " + firstOf(waiting, 5)
	}
	return text + "."
}

// firstOf are the first names of a list, and how many more there are.
func firstOf(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
