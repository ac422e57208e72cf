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
	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Message contains all that teams should see now.
type Message struct {
	Environment string
	Statuses    []Status // one for each commit
	Issues      []Issue  // one for each workload that fails, sorted by workload
	Workloads   []string // of the fleet: an issue of another one is closed as gone

	repos      []string // of the workloads
	listMarker string   // of the issue that lists workloads without an issue of their own
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
	Content       githost.IssueContent
	Marker, Fault string
	summary       string // the first reason, for a list
}

func (i Issue) text() string { return fingerprint(i.Content.Title, i.Content.Body) }

// Sent contains the feedback so far. Terraform's private state keeps it.
type Sent struct {
	// Statuses are fingerprints of statuses, by the repo and the commit.
	Statuses map[string]string `json:"statuses,omitempty"`
	// Issues are the open issues, and those that people closed, by workload. That of "" lists the workloads Listed.
	Issues map[string]SentIssue `json:"issues,omitempty"`
	Listed []string             `json:"listed,omitempty"`
}

// SentIssue is an issue that was opened.
type SentIssue struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Text   string `json:"text"` // a fingerprint
}

// maxOpened bounds the issues that one apply opens for a workload each.
const maxOpened = 20

// Plan contains the feedback that an apply gives.
type Plan struct {
	Statuses       []Status
	Opened, Edited []Issue
	Closed         []Closing

	environment string
	sent        Sent // what stays as it is
	listed      []string
}

// Closing is an issue to close.
type Closing struct {
	Workload string
	Issue    SentIssue
	Removed  bool // the fleet no longer has the workload
}

// NewPlan returns the difference between a message and the feedback so far.
func NewPlan(m *Message, said Sent) *Plan {
	p := &Plan{environment: m.Environment, sent: Sent{Statuses: map[string]string{}, Issues: map[string]SentIssue{}}}
	for _, s := range m.Statuses {
		if said.Statuses[s.key()] == s.fingerprint() {
			p.sent.Statuses[s.key()] = s.fingerprint()
		} else {
			p.Statuses = append(p.Statuses, s)
		}
	}
	p.planIssues(m, said)
	return p
}

func (s Status) fingerprint() string {
	return fingerprint(strings.ToLower(s.Status.Context), string(s.Status.State), s.Status.Description)
}

// planIssues opens, edits and closes issues. A workload that a list names stays in the list.
func (p *Plan) planIssues(m *Message, said Sent) {
	wanted, listed, opened := map[string]bool{}, map[string]bool{}, 0
	for _, workload := range said.Listed {
		listed[workload] = true
	}
	var rest []Issue
	for _, issue := range m.Issues {
		switch _, has := said.Issues[issue.Workload]; {
		case has:
		case listed[issue.Workload], opened == maxOpened:
			rest = append(rest, issue)
			continue
		default:
			opened++
		}
		p.want(issue, said)
		wanted[issue.Workload] = true
	}
	for _, issue := range rest {
		p.listed = append(p.listed, issue.Workload)
	}
	if len(rest) > 0 {
		p.want(m.newList(inOneRepo(rest, said.Issues[""].Repo)), said)
		wanted[""] = true
	}
	for _, workload := range slices.Sorted(maps.Keys(said.Issues)) {
		if !wanted[workload] {
			_, known := slices.BinarySearch(m.Workloads, workload)
			p.Closed = append(p.Closed, Closing{workload, said.Issues[workload], workload != "" && !known})
		}
	}
}

// want plans an issue, unless it was opened with the same text. In another repo, it is a new one, and the old one is
// closed.
func (p *Plan) want(issue Issue, said Sent) {
	old, has := said.Issues[issue.Workload]
	switch {
	case has && giturl.Same(old.Repo, issue.Repo) && old.Text == issue.text():
		p.sent.Issues[issue.Workload] = old
	case has && giturl.Same(old.Repo, issue.Repo):
		p.sent.Issues[issue.Workload] = old
		p.Edited = append(p.Edited, issue)
	case has:
		p.Closed = append(p.Closed, Closing{issue.Workload, old, true})
		fallthrough
	default:
		p.Opened = append(p.Opened, issue)
	}
}

// inOneRepo returns the issues of one repo: that of the list so far, or else the one with the most issues. A list in
// the repo of one team does not name the workloads of another.
func inOneRepo(issues []Issue, before string) []Issue {
	count := map[string]int{}
	for _, issue := range issues {
		count[giturl.Key(issue.Repo)]++
	}
	most := giturl.Key(before)
	if count[most] == 0 {
		most = slices.MaxFunc(slices.Sorted(maps.Keys(count)), func(a, b string) int {
			return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(b, a))
		})
	}
	return slices.DeleteFunc(slices.Clone(issues), func(i Issue) bool { return giturl.Key(i.Repo) != most })
}

// newList returns the issue that lists workloads of one repo.
func (m *Message) newList(rest []Issue) Issue {
	l := Issue{Repo: rest[0].Repo, Marker: m.listMarker}
	l.Content.Labels = rest[0].Content.Labels
	var workloads, lines []string
	for _, issue := range rest {
		workloads = append(workloads, issue.Workload)
		lines = append(lines, issue.Workload+": "+issue.summary)
	}
	l.Fault = fingerprint(workloads...)
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
