package feedback

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

const (
	mono  = "https://github.com/acme/mono"
	other = "https://github.com/acme/other"
)

func statusOn(repo, commit, text string) Status {
	return Status{repo, commit, githost.Status{Context: "kalypso/dev", State: githost.Success, Description: text}}
}

func issueIn(repo, workload, fault string) Issue {
	i := Issue{Workload: workload, Repo: repo, Marker: "<!-- " + workload + " -->", Fault: fault, summary: "it fails"}
	i.Content.Title, i.Content.Body = workload+" fails", fault
	return i
}

// message returns a message about these issues and statuses. Its workloads are the workloads of the issues and
// the fine workloads, sorted.
func message(issues []Issue, statuses []Status, fine ...string) *Message {
	m := &Message{Environment: "dev", Statuses: statuses, Issues: issues, Workloads: fine}
	for _, i := range issues {
		m.Workloads = append(m.Workloads, i.Workload)
	}
	slices.Sort(m.Workloads)
	m.listMarker = "<!-- list -->"
	return m
}

// issuesIn returns issues of workloads in a repo, whose names are numbers.
func issuesIn(repo string, from, to int) (all []Issue) {
	for i := from; i < to; i++ {
		all = append(all, issueIn(repo, fmt.Sprintf("w%03d", i), "fault"))
	}
	return all
}

// sentBy returns the feedback that has been sent once a plan has succeeded.
func sentBy(p *Plan) Sent {
	said, number := p.sent, 100
	for _, s := range p.Statuses {
		said.Statuses[s.key()] = s.fingerprint()
	}
	for _, i := range slices.Concat(p.Opened, p.Edited) {
		number++
		said.Issues[i.Workload] = SentIssue{i.Repo, number, i.text()}
	}
	said.Listed = p.listed
	return said
}

// TestNewPlan: a plan contains only what differs from the feedback that was sent before. Once the plan is carried out,
// the next plan is empty.
func TestNewPlan(t *testing.T) {
	t.Parallel()
	one, two := statusOn(mono, "1", "x"), statusOn(other, "2", "x")
	a, b := issueIn(mono, "a", "fault"), issueIn(mono, "b", "fault")
	ofA := []Issue{a}
	for name, tt := range map[string]struct {
		before, now *Message
		want        string
	}{
		"no feedback":    {message(nil, nil), message(nil, nil), ""},
		"first feedback": {message(nil, nil), message(ofA, []Status{one, two}), "feedback: 2 statuses, 1 issue opened"},
		"same feedback":  {message(ofA, []Status{one}), message(ofA, []Status{one}), ""},
		"another commit": {
			message(nil, []Status{one}), message(nil, []Status{statusOn(mono, "2", "x")}),
			"feedback: 1 status",
		},
		"another text": {
			message(nil, []Status{one}), message(nil, []Status{statusOn(mono, "1", "y")}),
			"feedback: 1 status",
		},
		"other notation of the repo's URL": {message(nil, []Status{one}),
			message(nil, []Status{statusOn(mono+".git", "1", "x")}), ""},
		"one commit fewer": {message(nil, []Status{one, two}), message(nil, []Status{two}), ""},
		"another fault": {
			message(ofA, nil), message([]Issue{issueIn(mono, "a", "z")}, nil),
			"feedback: 1 issue edited",
		},
		"another repo": {
			message(ofA, nil), message([]Issue{issueIn(other, "a", "fault")}, nil),
			"feedback: 1 issue opened, 1 closed",
		},
		"one workload fixed, another broken": {
			message(ofA, []Status{one}), message([]Issue{b}, []Status{two}, "a"),
			"feedback: 1 status, 1 issue opened, 1 closed",
		},
		"20 issues in a repo":  {message(nil, nil), message(issuesIn(mono, 0, 20), nil), "feedback: 20 issues opened"},
		"21 issues in a repo":  {message(nil, nil), message(issuesIn(mono, 0, 21), nil), "feedback: 21 issues opened"},
		"200 issues in a repo": {message(nil, nil), message(issuesIn(mono, 0, 200), nil), "feedback: 21 issues opened"},
		"workload with an issue of its own fixed": {message(issuesIn(mono, 0, 200), nil),
			message(issuesIn(mono, 1, 200), nil, "w000"), "feedback: 1 issue closed"},
		"workload in the list fixed": {message(issuesIn(mono, 0, 200), nil),
			message(issuesIn(mono, 0, 199), nil, "w199"), "feedback: 1 issue edited"},
		"all workloads in the list fixed": {message(issuesIn(mono, 0, 200), nil),
			message(issuesIn(mono, 0, 20), nil), "feedback: 1 issue closed"},
		"new broken workloads beside a list": {message(issuesIn(mono, 0, 30), nil),
			message(issuesIn(mono, 0, 32), nil), "feedback: 2 issues opened"},
	} {
		before := sentBy(NewPlan(tt.before, Sent{}))
		p := NewPlan(tt.now, before)
		if p.Line() != tt.want || p.Empty() != (tt.want == "") {
			t.Errorf("%s: %q, want %q", name, p.Line(), tt.want)
		}
		if again := NewPlan(tt.now, sentBy(p)); !again.Empty() {
			t.Errorf("%s: the next plan is %q", name, again.Line())
		}
	}
}

// TestClosing: if a workload does not exist any more, its issue is closed with this reason.
func TestClosing(t *testing.T) {
	t.Parallel()
	said := sentBy(NewPlan(message([]Issue{issueIn(mono, "a", "x"), issueIn(mono, "b", "x")}, nil), Sent{}))
	got := map[string]bool{}
	for _, closing := range NewPlan(message(nil, nil, "b"), said).Closed {
		got[closing.Workload] = closing.Removed
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "b": false}, got); diff != "" {
		t.Errorf("removed workloads (-want +got):\n%s", diff)
	}
}

// TestListOfOneRepo: a list of failing workloads names only workloads of the repo that it is in, and it is not moved to
// another repo.
func TestListOfOneRepo(t *testing.T) {
	t.Parallel()
	all := slices.Concat(issuesIn(mono, 0, 25), issuesIn(other, 25, 35))
	p := NewPlan(message(all, nil), Sent{})
	list := p.Opened[len(p.Opened)-1]
	if list.Repo != other || strings.Contains(list.Content.Body, "w024") || !strings.Contains(list.Content.Body, "w034") {
		t.Errorf("the list in %s:\n%s", list.Repo, list.Content.Body)
	}
	said := sentBy(p)
	said.Issues[""] = SentIssue{mono, 1, "x"}
	if p = NewPlan(message(all, nil), said); len(p.Edited) != 1 || p.Edited[0].Repo != mono || len(p.Opened) > 0 {
		t.Errorf("the list is moved: %s", p.Line())
	}
}

// TestStatusesOf: workloads at the same commit share one status. It shows a failure if there is one, or else a pending
// workload.
func TestStatusesOf(t *testing.T) {
	t.Parallel()
	fine := func(name string) *workload {
		w := &workload{name: name, targets: 2, places: map[string]bool{"large": true, "small": true}}
		w.at.Repo, w.at.Commit = mono, "1"
		return w
	}
	pending := func(name string) *workload {
		w := fine(name)
		w.unplaced = []string{"no policy places target perf"}
		return w
	}
	failing := func(name string) *workload {
		w := fine(name)
		w.failed, w.failing = failures("perf"), map[string]bool{name + "-perf": true}
		return w
	}
	for want, all := range map[string][]*workload{
		"success 2 targets on 2 cluster types":                                   {fine("a")},
		"success 2 workloads, 4 targets on 2 cluster types":                      {fine("a"), fine("b")},
		"pending no policy places target perf":                                   {pending("a")},
		"pending b: no policy places target perf":                                {fine("a"), pending("b")},
		"pending 2 workloads wait: b: no policy places target perf":              {fine("a"), pending("b"), pending("c")},
		"failure target perf: Template flux: It fails: line 1 of 2":              {failing("a")},
		"failure b: target perf: Template flux: It fails: line 1 of 2":           {fine("a"), failing("b"), pending("c")},
		"failure 2 workloads fail: b: target perf: Template flux: It fails: l":   {pending("a"), failing("b"), failing("c")},
		"failure 2 workloads fail: a: target perf: Template flux: It fails: lin": {failing("a"), failing("b")},
	} {
		byName, names := map[string]*workload{}, []string(nil)
		for _, w := range all {
			byName[w.name], names = w, append(names, w.name)
		}
		got := statusesOf("kalypso/dev", names, byName)
		if len(got) != 1 {
			t.Fatalf("%d statuses, want 1", len(got))
		}
		if said := string(got[0].Status.State) + " " + got[0].Status.Description; !strings.HasPrefix(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
	elsewhere := fine("b")
	elsewhere.at.Commit = ""
	if got := statusesOf("x", []string{"b"}, map[string]*workload{"b": elsewhere}); len(got) > 0 {
		t.Errorf("a workload without a commit has the status %+v", got)
	}
}

// failures returns a fault of a team that affects one target.
func failures(target string) []failure {
	return []failure{{problem.Problem{
		Kind: "Template", Name: "flux", Summary: "It fails", Cause: "line 1\nof 2", Fault: problem.TeamFault,
	}, []string{target}}}
}
