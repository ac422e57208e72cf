// Package feedback tells teams the result of their workloads: with a status on the commit that was read, and an issue
// for a workload that fails to render. The texts are a function of the rendered fleet and of the last feedback.
package feedback

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Message contains all that teams should see now.
type Message struct {
	Environment string
	Key         string   // distinguishes environments of the same name in the markers of issues
	Statuses    []Status // one for each commit
	Issues      []Issue  // one for each workload that fails, sorted by workload
	Workloads   []string // of the fleet: an issue of another one is closed as gone
	// IssueRepos are the URLs of the repos in which issues of the environment may be.
	IssueRepos []string
	// Before and After are the [Basis] before and after the apply.
	Before, After string

	repos []string // of the workloads
}

// Status is the status of a commit.
type Status struct {
	Repo, Commit string
	Status       githost.Status
}

func (s Status) key() string { return giturl.Key(s.Repo) + "@" + s.Commit }

// Issue is the issue of a workload that fails to render.
type Issue struct {
	Workload      string // "": it lists workloads
	Repo          string // URL
	Team          string // URL of the repo that the workload was read from; "": as Repo
	Content       githost.IssueContent
	Marker, Fault string
	summary       string   // the first reason, for a list
	listed        []string // workloads
}

func (i Issue) text() string { return fingerprint(i.Content.Title, i.Content.Body) }

func (i Issue) team() string { return giturl.Key(cmp.Or(i.Team, i.Repo)) }

// Sent contains the feedback so far. Terraform's private state keeps it.
type Sent struct {
	// Statuses are fingerprints of statuses, by the repo and the commit.
	Statuses map[string]string `json:"statuses,omitempty"`
	// Issues are the issues of workloads, by workload: the open ones, and those that people closed.
	Issues map[string]SentIssue `json:"issues,omitempty"`
	// Lists are the issues that list workloads without an issue of their own, by repo.
	Lists map[string]SentIssue `json:"lists,omitempty"`
	// Unchecked are the URLs of repos that may have open issues which Issues and Lists lack.
	Unchecked []string `json:"unchecked,omitempty"`
	// Basis is the [Basis] that the next apply finds unless another apply was killed after its push. Proposed is the basis
	// once the open pull request is merged.
	Basis    string `json:"basis,omitempty"`
	Proposed string `json:"proposed,omitempty"`
	// Next is the team that comes first the next time, since it was not told everything this time.
	Next string `json:"next,omitempty"`
}

// SentIssue is an issue that was opened, or that is due.
type SentIssue struct {
	Repo   string `json:"repo"`
	Number int    `json:"number,omitempty"` // 0: it is due, and an apply may have opened it without noting the number
	Text   string `json:"text,omitempty"`   // a fingerprint
	Marker string `json:"marker"`
	// Workloads are the workloads that it lists.
	Workloads []string `json:"workloads,omitempty"`
}

// HasIssues reports whether issues are open, or may be.
func (s *Sent) HasIssues() bool { return len(s.Issues)+len(s.Lists)+len(s.Unchecked) > 0 }

// find returns the issue of a workload, or the list of a repo.
func (s *Sent) find(workload, repo string) (SentIssue, bool) {
	if workload == "" {
		list, ok := s.Lists[giturl.Key(repo)]
		return list, ok
	}
	i, ok := s.Issues[workload]
	return i, ok
}

func (s *Sent) set(workload string, i SentIssue) {
	if workload == "" {
		s.Lists[giturl.Key(i.Repo)] = i
	} else {
		s.Issues[workload] = i
	}
}

func (s *Sent) remove(workload, repo string) {
	if workload == "" {
		delete(s.Lists, giturl.Key(repo))
	} else {
		delete(s.Issues, workload)
	}
}

// The most issues that one apply opens: for a workload each, and as lists of workloads in a repo each.
const (
	maxOpened = 20
	maxLists  = 20
)

// Plan contains the feedback that an apply gives.
type Plan struct {
	Statuses       []Status
	Opened, Edited []Issue
	Closed         []Closing
	// Checked are the URLs of repos in which the apply looks for issues of the environment that Sent lacks.
	Checked []string

	message *Message
	sent    Sent    // what stays as it is
	waiting []Issue // which a later apply opens
	next    string  // the team that comes first the next time
}

// Closing is an issue to close.
type Closing struct {
	Workload string // "": it lists workloads
	Issue    SentIssue
	Removed  bool // the fleet no longer has the workload
}

// NewPlan returns the difference between a message and the feedback so far.
func NewPlan(m *Message, said Sent) *Plan {
	p := &Plan{message: m, next: said.Next, sent: Sent{
		Statuses: map[string]string{}, Issues: map[string]SentIssue{}, Lists: map[string]SentIssue{}, Next: said.Next,
	}}
	for _, s := range m.Statuses {
		if said.Statuses[s.key()] == s.fingerprint() {
			p.sent.Statuses[s.key()] = s.fingerprint()
		} else {
			p.Statuses = append(p.Statuses, s)
		}
	}
	p.planIssues(m, said)
	p.planClosings(m, said)
	p.planChecks(m, said)
	return p
}

func (s Status) fingerprint() string {
	return fingerprint(strings.ToLower(s.Status.Context), string(s.Status.State), s.Status.Description)
}

// planIssues opens and edits issues. A workload that a list names stays in the list. Of the other new failures, each
// team gets an issue of its own before any team gets a second one, so that no team can keep another one from being
// told. The teams take turns over several applies. The rest of a repo is listed in one more issue in this repo.
func (p *Plan) planIssues(m *Message, said Sent) {
	listed := map[string]map[string]bool{}
	for key, list := range said.Lists {
		listed[key] = map[string]bool{}
		for _, workload := range list.Workloads {
			listed[key][workload] = true
		}
	}
	var due []Issue
	lists := map[string][]Issue{} // by repo
	for _, issue := range m.Issues {
		old, has := said.Issues[issue.Workload]
		switch key := giturl.Key(issue.Repo); {
		case has && giturl.Same(old.Repo, issue.Repo) && old.Number != 0:
			p.keep(issue, old)
		case !has && listed[key][issue.Workload]:
			lists[key] = append(lists[key], issue)
		default:
			due = append(due, issue)
		}
	}
	due = inTurn(due, Issue.team, said.Next)
	p.Opened = slices.Clone(due[:min(len(due), maxOpened)])
	rest := due[len(p.Opened):]
	if teams := teamsOf(due); len(teams) > maxOpened {
		p.next = teams[maxOpened]
		rest = inTurn(rest, Issue.team, p.next)
	}
	opened := 0
	for _, issue := range rest {
		key := giturl.Key(issue.Repo)
		if lists[key] == nil && said.Lists[key].Number == 0 {
			if opened == maxLists {
				p.waiting = append(p.waiting, issue)
				continue
			}
			opened++
		}
		lists[key] = append(lists[key], issue)
	}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		list := m.newList(lists[key])
		if old := said.Lists[key]; old.Number != 0 {
			p.keep(list, old)
		} else {
			p.Opened = append(p.Opened, list)
		}
	}
}

// keep plans an issue that was opened in the same repo.
func (p *Plan) keep(issue Issue, old SentIssue) {
	p.sent.set(issue.Workload, old)
	if old.Text != issue.text() {
		p.Edited = append(p.Edited, issue)
	}
}

// planClosings closes the issues that were opened and that nothing keeps. If a workload gets an issue in another repo,
// the old one is closed.
func (p *Plan) planClosings(m *Message, said Sent) {
	fails := map[string]bool{}
	for _, issue := range m.Issues {
		fails[issue.Workload] = true
	}
	for _, workload := range slices.Sorted(maps.Keys(said.Issues)) {
		if _, kept := p.sent.Issues[workload]; !kept && said.Issues[workload].Number != 0 {
			_, known := slices.BinarySearch(m.Workloads, workload)
			p.Closed = append(p.Closed, Closing{workload, said.Issues[workload], fails[workload] || !known})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(said.Lists)) {
		if _, kept := p.sent.Lists[key]; !kept && said.Lists[key].Number != 0 {
			p.Closed = append(p.Closed, Closing{"", said.Lists[key], false})
		}
	}
}

// planChecks plans the repos in which the apply looks for issues that the state lacks: an apply that was killed, or the
// answer to whose request was lost, may have opened them. An apply that was killed has written another record than the
// last one that was completed.
func (p *Plan) planChecks(m *Message, said Sent) {
	repos := slices.Clone(said.Unchecked)
	killed := m.Before != "" && m.Before != said.Basis && m.Before != said.Proposed
	if killed {
		repos = append(repos, m.IssueRepos...)
	}
	fails := map[string]bool{} // the issues that are still due
	for _, issue := range m.Issues {
		fails[issue.Workload+" "+giturl.Key(issue.Repo)] = true
	}
	for workload, i := range said.Issues {
		if killed || i.Number == 0 && !fails[workload+" "+giturl.Key(i.Repo)] {
			repos = append(repos, i.Repo)
		}
	}
	for _, list := range said.Lists {
		if killed || list.Number == 0 {
			repos = append(repos, list.Repo)
		}
	}
	done := map[string]bool{} // listed anyway
	for _, issue := range p.Opened {
		done[giturl.Key(issue.Repo)] = true
	}
	slices.Sort(repos)
	for _, repo := range repos {
		if key := giturl.Key(repo); !done[key] {
			done[key] = true
			p.Checked = append(p.Checked, repo)
		}
	}
}

// inTurn orders items of teams: one of each team, then the second one of each team, and so on. The order of teams is
// that of their keys, and begins with first.
func inTurn[T any](all []T, team func(T) string, first string) []T {
	byTeam := map[string][]T{}
	for _, one := range all {
		byTeam[team(one)] = append(byTeam[team(one)], one)
	}
	teams := slices.Sorted(maps.Keys(byTeam))
	start, _ := slices.BinarySearch(teams, first)
	teams = slices.Concat(teams[start:], teams[:start])
	ordered := make([]T, 0, len(all))
	for round := 0; len(ordered) < len(all); round++ {
		for _, key := range teams {
			if round < len(byTeam[key]) {
				ordered = append(ordered, byTeam[key][round])
			}
		}
	}
	return ordered
}

// teamsOf returns the teams of issues, in the order of the first issue of each.
func teamsOf(all []Issue) (teams []string) {
	found := map[string]bool{}
	for _, issue := range all {
		if key := issue.team(); !found[key] {
			found[key] = true
			teams = append(teams, key)
		}
	}
	return teams
}

// newList returns the issue that lists workloads of one repo.
func (m *Message) newList(rest []Issue) Issue {
	l := Issue{Repo: rest[0].Repo, Marker: githost.IssueMarker(m.Environment, m.Key, "")}
	l.Content.Labels = rest[0].Content.Labels
	slices.SortFunc(rest, func(a, b Issue) int { return strings.Compare(a.Workload, b.Workload) })
	for _, issue := range rest {
		l.listed = append(l.listed, issue.Workload)
	}
	var lines []string
	for _, issue := range inTurn(rest, Issue.team, "") { // if the list is cut, it names each team
		lines = append(lines, issue.Workload+": "+issue.summary)
	}
	l.Fault = fingerprint(l.listed...)
	l.Content.Title, l.Content.Body = describe.IssueOfMany(describe.FailureList{
		Environment: m.Environment, Workloads: lines, Marker: l.Marker, Fault: l.Fault,
	})
	return l
}

// Empty reports whether there is nothing to say.
func (p *Plan) Empty() bool { return p.Line() == "" }

// Line describes the plan, such as "feedback: 3 statuses, 1 issue opened, 1 closed"; "" if there is nothing to say.
func (p *Plan) Line() string {
	var parts []string
	if n := len(p.Statuses); n > 0 {
		parts = append(parts, problem.OneOrMany(n, "1 status", "%d statuses"))
	}
	count := func(n int) string { return problem.Count(n, "issue") }
	for _, part := range []struct {
		n    int
		verb string
	}{{len(p.Opened), "opened"}, {len(p.Edited), "edited"}, {len(p.Closed), "closed"}} {
		if part.n > 0 {
			parts, count = append(parts, count(part.n)+" "+part.verb), strconv.Itoa
		}
	}
	if n := len(p.Checked); n > 0 {
		parts = append(parts, "issues of "+problem.Count(n, "repo")+" checked")
	}
	if len(parts) == 0 {
		return ""
	}
	return "feedback: " + strings.Join(parts, ", ")
}

// fingerprint returns the start of a hash of texts.
func fingerprint(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}
