package feedback

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
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
		said.set(i.Workload, SentIssue{i.Repo, number, i.text(), i.Marker, i.listed})
	}
	for _, i := range p.waiting {
		said.set(i.Workload, SentIssue{Repo: i.Repo, Marker: i.Marker})
	}
	said.Next, said.Basis = p.next, p.message.After
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

// TestListOfEachRepo: each repo has a list of its own workloads, and a list stays in its repo.
func TestListOfEachRepo(t *testing.T) {
	t.Parallel()
	all := slices.Concat(issuesIn(mono, 0, 25), issuesIn(other, 25, 45))
	p := NewPlan(message(all, nil), Sent{})
	if p.Line() != "feedback: 22 issues opened" {
		t.Errorf("%s", p.Line())
	}
	lists := map[string]string{}
	for _, i := range p.Opened {
		if i.Workload == "" {
			lists[i.Repo] += i.Content.Body
		}
	}
	for repo, names := range map[string][3]string{mono: {"w010", "w024", "w035"}, other: {"w035", "w044", "w024"}} {
		if list := lists[repo]; !strings.Contains(list, names[0]) || !strings.Contains(list, names[1]) ||
			strings.Contains(list, names[2]) {
			t.Errorf("the list in %s:\n%s", repo, list)
		}
	}
	if again := NewPlan(message(all, nil), sentBy(p)); !again.Empty() {
		t.Errorf("the next plan is %s", again.Line())
	}
}

// TestEachTeamIsTold: a team, or many of them, that breaks more workloads under new names with each apply keeps no
// other team from being told, in its own repo or in a common one.
func TestEachTeamIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		attackers, applies int
		common             bool
	}{
		"one team": {1, 1, false}, "one team, common repo": {1, 1, true}, "19 teams": {19, 1, false},
		"50 teams": {50, 3, false}, "50 teams, common repo": {50, 1, true}, "200 teams": {200, 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said Sent
			told := 0
			for apply := 1; apply <= 3*tt.applies && told == 0; apply++ {
				var all []Issue
				for i := range 30 * tt.attackers {
					team := i % tt.attackers
					all = append(all, issueIn(fmt.Sprintf("https://github.com/a%03d/x", team),
						fmt.Sprintf("a%03d-%03d-%03d", team, apply, i), "x"))
				}
				all = append(all, issueIn("https://github.com/z/z", "zzz", "x"))
				for i := range all {
					all[i].Team = all[i].Repo
					if tt.common {
						all[i].Repo = mono
					}
				}
				p := NewPlan(message(all, nil), said)
				if n := len(p.Opened); n > maxOpened+maxLists {
					t.Errorf("apply %d opens %d issues", apply, n)
				}
				for _, issue := range slices.Concat(p.Opened, p.Edited) {
					if issue.Workload == "zzz" || strings.Contains(issue.Content.Body, "zzz") {
						told = apply
					}
				}
				said = sentBy(p)
			}
			if told == 0 || told > tt.applies {
				t.Errorf("the team was told by apply %d, want at most %d", told, tt.applies)
			}
		})
	}
}

// TestChecks: an apply looks for issues in a repo only if it may have issues that the state lacks.
func TestChecks(t *testing.T) {
	t.Parallel()
	fine := message(nil, nil, "a")
	fails := message([]Issue{issueIn(mono, "a", "x")}, nil)
	due := Sent{Issues: map[string]SentIssue{"a": {Repo: mono}}}
	after := func(basis string, repos ...string) *Message {
		m := message(nil, nil, "a")
		m.Before, m.IssueRepos = basis, repos
		return m
	}
	for name, tt := range map[string]struct {
		now  *Message
		said Sent
		want string
	}{
		"nothing known, nothing fails":    {fine, Sent{}, ""},
		"due issue, workload mended":      {fine, due, "feedback: issues of 1 repo checked"},
		"due issue, workload still fails": {fails, due, "feedback: 1 issue opened"},
		"due issue, repo moved": {message([]Issue{issueIn(other, "a", "x")}, nil), due,
			"feedback: 1 issue opened, issues of 1 repo checked"},
		"due list": {fine, Sent{Lists: map[string]SentIssue{"x": {Repo: mono}}}, "feedback: issues of 1 repo checked"},
		"unchecked repos": {fine, Sent{Unchecked: []string{mono, mono + ".git", other}},
			"feedback: issues of 2 repos checked"},
		"record as the last apply left it":  {after("1", mono), Sent{Basis: "1"}, ""},
		"record of the merged pull request": {after("2", mono), Sent{Basis: "1", Proposed: "2"}, ""},
		"record of a killed apply": {after("2", mono, other), Sent{Basis: "1"},
			"feedback: issues of 2 repos checked"},
		"record of a lost state": {after("2", mono), Sent{}, "feedback: issues of 1 repo checked"},
		"no record":              {after("", mono), Sent{Basis: "1"}, ""},
	} {
		if got := NewPlan(tt.now, tt.said).Line(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
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
	listed := failing("a")
	listed.failed[0].problem.Cause = "The schema rejects these values:\n  A: it is missing\n  B: it is long\nChange them."
	for want, all := range map[string][]*workload{
		"failure target perf: Template flux: It fails: A: it is missing; B: i":   {listed},
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
