package feedback

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// workload is a workload with what became of it.
type workload struct {
	name     string
	at       origin.Origin // zero: not from Git
	targets  int           // in the environment
	places   map[string]bool
	failed   []failure
	failing  map[string]bool // deployment targets
	unplaced []string        // why no policy places a target
}

// failure is a reason why targets of a workload fail.
type failure struct {
	problem problem.Problem
	targets []string // of the workload, without its name
}

// Basis identifies a record on the branch, by its hash, together with the repo that the arguments name for issues. It
// is empty if there is no record, or if the arguments want no issues. If an apply finds another basis than the last one
// left, an apply was killed in the meantime, or the state was lost, or issues were turned on: issues may be open that
// the state lacks.
func Basis(a *delivery.Arguments, record string) string {
	if record == "" || a.Feedback == nil || a.Feedback.Issues == nil {
		return ""
	}
	return fingerprint(record, giturl.Key(a.Feedback.Issues.Repo))
}

// Key returns the key of the arguments' environment in markers of issues.
func Key(a *delivery.Arguments) string { return fingerprint(a.Destination.String()) }

// NewMessage returns what teams should hear of a tree that an apply leaves. s has the record of that tree, as far as it
// is known. ok is false if the tree is not known yet.
func NewMessage(ctx context.Context, n *delivery.NextTree, s *delivery.State) (m *Message, ok bool) {
	a := n.Args
	m = &Message{Environment: a.Environment, Key: Key(a)}
	if a.Feedback == nil {
		return m, true
	}
	if a.Feedback.Unknown || unknown.Any(a.Sources) || n.Rendered.Tree == nil || n.Known < inventory.Whole ||
		n.Rendered.Assignments < inventory.Whole {
		return nil, false
	}
	all := workloadsOf(ctx, n)
	m.Workloads = slices.Sorted(maps.Keys(all))
	for _, name := range m.Workloads {
		if repo := all[name].at.Repo; repo != "" {
			m.repos = append(m.repos, repo)
		}
	}
	if a.Feedback.Context != "" {
		m.Statuses = statusesOf(a.Feedback.Context, m.Workloads, all)
	}
	if a.Feedback.Issues != nil {
		m.IssueRepos = m.repos
		if a.Feedback.Issues.Repo != "" {
			m.IssueRepos = []string{a.Feedback.Issues.Repo}
		}
		effects := effectsOf(n, s)
		for _, name := range m.Workloads {
			w := all[name]
			if issue, fails := w.issue(a, m.Key, effects); fails && issue.Repo != "" {
				m.Issues = append(m.Issues, issue)
			}
		}
	}
	return m, true
}

// maxExplained bounds the targets whose nearest policy is looked for.
const maxExplained = 500

// workloadsOf returns the workloads that have a target in the environment.
func workloadsOf(ctx context.Context, n *delivery.NextTree) map[string]*workload {
	f := n.Args.Fleet
	all, owner := map[string]*workload{}, map[string]*workload{}
	var keys []string
	byKey := map[string][]*workload{}
	for _, w := range f.Workloads {
		own := &workload{name: w.Name, places: map[string]bool{}, failing: map[string]bool{}}
		for i := range w.Targets {
			if f.MayRender(&w.Targets[i]) {
				own.targets++
				owner[w.Name+"-"+w.Targets[i].Name] = own
			}
		}
		if own.targets == 0 {
			continue
		}
		all[w.Name] = own
		if at, ok := origin.Parse(w.Origin.Key); ok {
			keys, byKey[at.String()] = append(keys, w.Origin.Key), append(byKey[at.String()], own)
		}
	}
	for _, at := range n.Args.Sources.Resolve(keys) {
		commit := at.Commit
		if at.Branch != "" {
			at.Commit = ""
		}
		for _, own := range byKey[at.String()] {
			own.at, own.at.Commit = at, commit
		}
	}
	for clusterType, folder := range n.Folders {
		for _, target := range folder.Targets {
			if own := owner[target.Name]; own != nil {
				own.places[clusterType] = true
			}
		}
	}
	addFailures(n.Rendered.Failed, all, owner)
	addUnplaced(ctx, n, all)
	return all
}

// addFailures adds the reasons why deployment targets fail to their workloads, each once.
func addFailures(failed problem.Problems, all, owner map[string]*workload) {
	for _, p := range failed {
		targets := map[*workload][]string{}
		if own := all[p.Name]; own != nil && p.Kind == string(fleet.KindWorkload) {
			targets[own] = nil
		}
		for _, target := range p.Affects {
			if own := owner[target.Name]; own != nil {
				targets[own] = append(targets[own], strings.TrimPrefix(target.Name, own.name+"-"))
				own.failing[target.Name] = true
			}
		}
		for own, names := range targets {
			slices.Sort(names)
			own.failed = append(own.failed, failure{p, slices.Compact(names)})
		}
	}
}

// addUnplaced adds why no policy places deployment targets.
func addUnplaced(ctx context.Context, n *delivery.NextTree, all map[string]*workload) {
	s := n.Rendered.Tree.Schedule
	if s == nil {
		return
	}
	nearest := map[string]string{}
	explained, _ := explain.Brief(ctx, n.Args.Fleet, s, maxExplained)
	for _, one := range explained {
		if len(one.Rejections) > 0 {
			nearest[one.Target.Name] = nearestTo(one.Rejections[0])
		}
	}
	for _, target := range s.Unscheduled {
		own := all[target.Workload.Name]
		if own == nil {
			continue
		}
		text := "no policy places target " + strings.TrimPrefix(target.Name, own.name+"-")
		if near := nearest[target.Name]; near != "" {
			text += "; nearest: " + near
		}
		own.unplaced = append(own.unplaced, text)
	}
}

// nearestTo returns what the nearest policy asks for.
func nearestTo(r explain.Rejection) string {
	if len(r.Mismatches) == 0 {
		return strings.TrimSuffix(r.Reason, ".")
	}
	var parts []string
	for _, m := range r.Mismatches {
		if m.Operator == metav1.LabelSelectorOpIn && len(m.Values) == 1 {
			parts = append(parts, m.Key+"="+m.Values[0])
		} else {
			parts = append(parts, m.String())
		}
	}
	return strings.Join(parts, ", ")
}

// state returns the state of a workload and the text of its status.
func (w *workload) state() (state githost.StatusState, text string) {
	switch {
	case len(w.failed) > 0:
		return githost.Failure, w.reason()
	case len(w.unplaced) > 0:
		text = w.unplaced[0]
		if more := len(w.unplaced) - 1; more > 0 {
			text = fmt.Sprintf("%d targets on no cluster type: %s", more+1, text)
		}
		return githost.Pending, text
	}
	return githost.Success, problem.Count(w.targets, "target") + " on " + problem.Count(len(w.places), "cluster type")
}

// reason returns the first reason why targets fail.
func (w *workload) reason() string {
	p := w.failed[0]
	text := p.problem.Summary + ": " + p.facts()
	if p.problem.Kind != string(fleet.KindWorkload) && p.problem.Kind != "" {
		text = p.problem.Kind + " " + p.problem.Name + ": " + text
	}
	switch len(p.targets) {
	case 0:
		return text
	case 1:
		return "target " + p.targets[0] + ": " + text
	}
	return "targets " + problem.First(p.targets, 2) + ": " + text
}

// facts returns the indented lines of the cause, which say what is wrong: a status has no room for more. Without such a
// line, it returns the whole cause.
func (f failure) facts() string {
	var lines []string
	for line := range strings.Lines(f.cause()) {
		if strings.HasPrefix(line, "  ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		return f.cause()
	}
	return strings.Join(lines, "; ")
}

func (f failure) cause() string { return strings.TrimSpace(cmp.Or(f.problem.Cause, f.problem.Detail)) }

// statusesOf returns a status for each commit. Workloads that share it share the status: that of a failure, else of a
// pending one.
func statusesOf(name string, names []string, all map[string]*workload) []Status {
	rank := map[githost.StatusState]int{githost.Failure: 2, githost.Pending: 1}
	byCommit := map[string][]*workload{}
	for _, n := range names {
		if w := all[n]; w.at.Commit != "" {
			key := giturl.Key(w.at.Repo) + "@" + w.at.Commit
			byCommit[key] = append(byCommit[key], w)
		}
	}
	var statuses []Status
	for _, key := range slices.Sorted(maps.Keys(byCommit)) {
		shared := byCommit[key]
		s := Status{Repo: shared[0].at.Repo, Commit: shared[0].at.Commit}
		worst, count := shared[0], 0
		for _, w := range shared {
			state, _ := w.state()
			switch first, _ := worst.state(); {
			case rank[state] > rank[first]:
				worst, count = w, 1
			case state == first:
				count++
			}
		}
		state, text := worst.state()
		switch {
		case len(shared) == 1:
		case state == githost.Success:
			text = successOf(shared)
		default:
			text = worst.name + ": " + text
			if count > 1 {
				verb := map[githost.StatusState]string{githost.Failure: "fail", githost.Pending: "wait"}[state]
				text = fmt.Sprintf("%d workloads %s: %s", count, verb, text)
			}
		}
		s.Status = githost.Status{Context: name, State: state, Description: StatusText(text)}
		statuses = append(statuses, s)
	}
	return statuses
}

func successOf(shared []*workload) string {
	targets, places := 0, map[string]bool{}
	for _, w := range shared {
		targets += w.targets
		maps.Copy(places, w.places)
	}
	return fmt.Sprintf("%s, %s on %s", problem.Count(len(shared), "workload"), problem.Count(targets, "target"),
		problem.Count(len(places), "cluster type"))
}

// StatusText returns a text as the description of a status: printable, on one line, and as short as all hosts need it.
func StatusText(text string) string { return status.Shorten(printable.Line(oneLine(text))) }

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// effectsOf returns what happens to the deployment targets that fail to render, by their names.
func effectsOf(n *delivery.NextTree, s *delivery.State) map[string][]string {
	effects := map[string][]string{}
	if n.Failing == nil {
		return effects
	}
	var known *record.Record
	if s != nil {
		known = s.LastRead.Record
	}
	for _, list := range []struct {
		becomes string
		all     []record.FailedAssignment
	}{{"kept", n.Failing.Kept}, {"left out", n.Failing.LeftOut}} {
		for _, f := range list.all {
			line := f.String() + ": " + list.becomes
			if since := cmp.Or(f.Since, known.Since(f)); since != "" {
				line += ", failing since " + since
			}
			effects[f.DeploymentTarget] = append(effects[f.DeploymentTarget], line)
		}
	}
	return effects
}

// issue returns the issue of a workload, if it fails. Without a repo, there is none.
func (w *workload) issue(a *delivery.Arguments, key string, effects map[string][]string) (i Issue, fails bool) {
	if len(w.failed) == 0 {
		return Issue{}, false
	}
	i = Issue{
		Workload: w.name, Repo: cmp.Or(a.Feedback.Issues.Repo, w.at.Repo), Team: w.at.Repo,
		Marker: githost.IssueMarker(a.Environment, key, w.name), summary: oneLine(w.reason()),
	}
	i.Content.Labels = a.Feedback.Issues.Labels
	f := describe.Failure{Environment: a.Environment, Workload: w.name, Marker: i.Marker}
	if w.at.Repo != "" {
		f.File = w.at.File()
	}
	targets := slices.Sorted(maps.Keys(w.failing))
	fault := slices.Clone(targets)
	for _, target := range targets {
		f.Targets = append(f.Targets, effects[target]...)
	}
	for _, p := range w.failed {
		f.Reasons = append(f.Reasons, describe.Reason{
			Object: p.problem.Subject(), Summary: p.problem.Summary, Text: p.cause(),
		})
		fault = append(fault, p.problem.Kind, p.problem.Name, p.problem.Summary, p.cause())
	}
	i.Fault = fingerprint(fault...)
	f.Fault = i.Fault
	i.Content.Title, i.Content.Body = describe.Issue(f)
	return i, true
}
