package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// environment is a column of the matrix, and a part of the timeline.
type environment struct {
	Name    string
	ID      string // of the timeline, in links
	History *History
	State   *DeploymentState
	Waiting []waiting // the closed gates that commits wait for, or why the newest commit is skipped

	Window     window
	Promoted   commit
	Newest     *delivery // the newest
	Bar        []bar
	Counts     string
	Deliveries []*delivery // newest first
	Metrics    []metric
}

// bar is a part of a bar, in per cent.
type bar struct {
	Class string
	X, W  string
}

// window is the time that a history shows.
type window struct{ From, To time.Time }

// waiting is a commit that is not promoted, with the reason.
type waiting struct {
	Commit commit
	Reason string
}

// newEnvironments joins histories, states and promotions by their names. If they have no name, it joins them by their
// locations.
func newEnvironments(
	histories []History, states []DeploymentState, promotions []Promotion,
) ([]*environment, error) {
	var all []*environment
	named, located := map[string]*environment{}, map[destination.Destination]*environment{}
	// find returns the environment at a place, or the one with a name if people gave that name, or nothing is there.
	find := func(at destination.Destination, given, name string) *environment {
		if e := located[keyOf(at)]; e != nil && given == "" {
			return e
		}
		return named[name]
	}
	add := func(name string) *environment {
		named[name] = &environment{Name: name}
		all = append(all, named[name])
		return named[name]
	}
	for i := range histories {
		h := &histories[i]
		name := cmp.Or(printable.Line(h.Name), h.Environment, h.GitOpsRepo.Branch)
		if named[name] != nil {
			return nil, twice("histories", name)
		}
		e := add(name)
		e.History, located[keyOf(h.GitOpsRepo)] = h, e
	}
	for i := range states {
		s := &states[i]
		name := cmp.Or(printable.Line(s.Name), s.Environment, s.GitOpsRepo.Branch)
		e := find(s.GitOpsRepo, s.Name, name)
		if e == nil {
			e = add(name)
		}
		if e.State != nil {
			return nil, twice("states", e.Name)
		}
		e.State, located[keyOf(s.GitOpsRepo)] = s, e
	}
	for _, p := range promotions {
		e := find(p.GitOpsRepo, p.Name, cmp.Or(printable.Line(p.Name), p.Environment))
		if e == nil {
			continue // the page shows what runs, and a promotion without a history and a state does not say that
		}
		for _, w := range p.Waiting {
			e.Waiting = append(e.Waiting, waiting{commit{Hash: w.Commit}, "Gate " + w.Gate + ": " + w.Reason})
		}
		if len(p.Waiting) == 0 && len(p.Skipped) > 0 { // the newest, as in the summary of the promotion
			e.Waiting = append(e.Waiting, waiting{commit{Hash: p.Skipped[0].Commit}, "It is skipped: " + p.Skipped[0].Reason})
		}
	}
	for i, e := range all {
		e.ID = fmt.Sprintf("e%d", i+1)
	}
	return all, nil
}

func twice(argument, environment string) error {
	return fmt.Errorf("two %s belong to the environment %q. Pass a map whose keys name the environments",
		argument, environment)
}

// maxWaiting limits the commits that a card shows as waiting.
const maxWaiting = 3

// NextWaiting returns the oldest waiting commits, which come first.
func (e *environment) NextWaiting() []waiting {
	oldest := slices.Clone(e.Waiting[max(0, len(e.Waiting)-maxWaiting):])
	slices.Reverse(oldest)
	return oldest
}

// keyOf returns a location in a form that is equal for equal folders.
func keyOf(at destination.Destination) destination.Destination {
	at.Path = path.Clean("/" + at.Path)
	return at
}

// asOf returns the latest time in the data.
func asOf(histories []History, states []DeploymentState) (latest time.Time) {
	see := func(a, b time.Time) { latest = deployment.Later(deployment.Later(latest, a), b) }
	for _, h := range histories {
		see(timeOf(h.Until), h.RecordedUntil)
		for _, d := range h.Deployments {
			see(d.StartedAt, d.DeliveredAt)
		}
		for _, r := range h.Runs {
			see(r.Since, r.Until)
		}
		for _, v := range h.Versions {
			see(v.Since, v.Since)
		}
	}
	for _, s := range states {
		see(s.ObservedAt, s.ObservedAt)
	}
	return latest
}

// timeOf parses a time. It returns the zero time for any other text.
func timeOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// describe fills in the environment's parts of the page.
func (e *environment) describe(now time.Time) {
	if s := e.State; s != nil {
		e.Promoted = commit{Hash: s.PromotedCommit}
		e.Bar, e.Counts = bars(s.Folders)
	}
	h := e.History
	if h == nil {
		return
	}
	e.Window = h.window(now)
	for i := range h.Deployments {
		e.Deliveries = append(e.Deliveries, newDelivery(h, &h.Deployments[i]))
	}
	slices.SortStableFunc(e.Deliveries, func(a, b *delivery) int { return b.StartedAt.Compare(a.StartedAt) })
	if len(e.Deliveries) > 0 {
		e.Newest = e.Deliveries[0]
		e.Promoted.Hash = cmp.Or(e.Promoted.Hash, e.Newest.PromotedCommit)
	}
	for i := range e.Waiting {
		e.Waiting[i].Commit.URL = commitURL(h.ControlPlane.Repo, e.Waiting[i].Commit.Hash)
	}
	e.Promoted.URL = commitURL(h.ControlPlane.Repo, e.Promoted.Hash)
	listed := e.Window
	if h.cut() {
		listed.From = e.Deliveries[len(e.Deliveries)-1].StartedAt
	}
	e.Metrics = newMetrics(h.Metrics, e.Deliveries, listed)
}

// cut reports whether the argument limit cut off older deployments.
func (h *History) cut() bool {
	complete := 0
	for _, d := range h.Deployments {
		if !d.DeliveredAt.IsZero() {
			complete++
		}
	}
	return len(h.Deployments) > 0 && complete < h.Metrics.Deployments
}

// window returns the window of the history. Without until, it ends at the time of the data.
func (h *History) window(now time.Time) window {
	to := cmp.Or(timeOf(h.Until), now)
	from := timeOf(h.Since)
	if from.IsZero() {
		length, err := time.ParseDuration(h.Since)
		if err != nil || length <= 0 {
			length = history.DefaultWindow
		}
		from = to.Add(-length)
	}
	return window{from, to}
}

// part returns the position of a time in the window, 0 to 1.
func (w window) part(t time.Time) float64 {
	length := w.To.Sub(w.From)
	if length <= 0 {
		return 1
	}
	return min(max(float64(t.Sub(w.From))/float64(length), 0), 1)
}

// count returns the number of clusters in a state. A cluster that reports a failure is shown as failed at once. The
// verdict waits for a deadline.
func count(f deployment.Counts, state deployment.ClusterState) int {
	return map[deployment.ClusterState]int{
		deployment.StateCurrent: f.Current, deployment.StateFailed: f.Failed + f.Failing, deployment.StateMissing: f.Missing,
		deployment.StateOffline: f.Offline, deployment.StateStale: f.Stale, deployment.StateSuspended: f.Suspended,
		deployment.StateProgressing: f.Progressing - f.Failing,
	}[state]
}

// bars returns the states of all clusters as the parts of a bar, and as a text.
func bars(folders map[string]deployment.FolderState) ([]bar, string) {
	counts, total := map[deployment.ClusterState]int{}, 0
	for _, f := range folders {
		for _, s := range stateOrder {
			counts[s] += count(f.Counts, s)
			total += count(f.Counts, s)
		}
	}
	if total == 0 {
		return nil, ""
	}
	var all []bar
	var words []string
	done := 0
	for _, s := range stateOrder {
		n := counts[s]
		if n == 0 {
			continue
		}
		all = append(all, bar{Class: string(s), X: percent(done, total), W: percent(n, total)})
		words = append(words, fmt.Sprintf("%d %s", n, s))
		done += n
	}
	return all, strings.Join(words, ", ")
}

func percent(n, of int) string { return fmt.Sprintf("%.2f%%", 100*float64(n)/float64(of)) }

// stateOrder lists the states of clusters: current, then the states of problems, the worst first.
var stateOrder = append([]deployment.ClusterState{deployment.StateCurrent}, deployment.ProblemOrder...)

// rank returns the weight of a state, by which states are sorted. It is 0 for current and for an empty state. An
// unknown state comes right after failed.
func rank(state string) int {
	switch i := slices.Index(stateOrder, deployment.ClusterState(state)); {
	case i == 0 || state == "":
		return 0
	case i < 0:
		return 2*len(stateOrder) - 3 // after failed
	default:
		return 2 * (len(stateOrder) - i)
	}
}

// class returns the CSS class of a state.
func class(state string) string {
	switch {
	case state == "":
		return "none"
	case slices.Contains(stateOrder, deployment.ClusterState(state)):
		return state
	}
	return "other"
}

// notes describes missing data.
func notes(all []*environment) []string {
	var lines []string
	list := func(text string, lacks func(e *environment) bool) {
		var names []string
		for _, e := range all {
			if lacks(e) {
				names = append(names, e.Name)
			}
		}
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf(text, strings.Join(names, ", ")))
		}
	}
	list("%s: only deliveries are known, not the versions that clusters run.", func(e *environment) bool {
		return e.State == nil && len(e.History.Versions)+len(e.History.Runs) == 0
	})
	list("%s: no history, so deliveries are not known.", func(e *environment) bool { return e.History == nil })
	list("%s: the branch has more commits than were read, so older deliveries are missing.", func(e *environment) bool {
		return e.History != nil && !e.History.Complete
	})
	list("%s: older deliveries are missing because of limit, so the trends begin later than the metrics.",
		func(e *environment) bool { return e.History != nil && e.History.cut() })
	list("%s: older runs of clusters are missing because of limit.", func(e *environment) bool {
		return e.History != nil && e.History.Truncated
	})
	return lines
}
