package hostingtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

var issues = []row{
	{"an issue is opened, found, edited, commented, closed and opened again", func(p *place) {
		if p.withoutIssues() {
			return
		}
		p.open() // a pull request is no issue
		body := "Text\n\n" + githost.IssueMarker("dev", "0", "hello")
		content := githost.IssueContent{Title: "It fails", Body: body, Labels: []string{"kalypso", "Kalypso 2"}}
		opened := p.issue(p.repo.Issues.Open(p.ctx, content))
		other := p.issue(p.repo.Issues.Open(p.ctx, githost.IssueContent{Title: "Another", Body: "b"}))
		want := githost.Issue{Number: opened.Number, Title: content.Title, Body: body, Own: true}
		p.listed(other, want)
		for _, closed := range []bool{false, true, true, false} {
			want.Title += "!"
			want.Body, want.Closed = "New "+want.Body, closed
			edited := p.issue(p.repo.Issues.Edit(p.ctx, want.Number,
				githost.IssueContent{Title: want.Title, Body: want.Body, Closed: closed}))
			read := p.issue(p.repo.Issues.Read(p.ctx, want.Number))
			if diff := cmp.Diff([]githost.Issue{want, want}, []githost.Issue{edited, read}); diff != "" {
				p.Errorf("-want +got:\n%s", diff)
			}
		}
		if err := p.repo.Issues.Comment(p.ctx, want.Number, "Fixed."); err != nil {
			p.Error(err)
		}
		p.listed(other, want)
		_, err := p.repo.Issues.Read(p.ctx, 999)
		p.refused(err, githost.ErrNotVisible, "", "read issue 999")
	}},
	{"the newest issues are listed, first the newest", func(p *place) {
		if p.withoutIssues() {
			return
		}
		var want []githost.Issue
		for range 3 {
			one := p.issue(p.repo.Issues.Open(p.ctx, githost.IssueContent{Title: "x", Body: "y"}))
			want = append([]githost.Issue{one}, want...)
		}
		p.listed(want...)
	}},
	{"issues of other accounts are not listed, and not our own", func(p *place) {
		if p.withoutIssues() {
			return
		}
		body := "Text\n\n" + githost.IssueMarker("dev", "0", "hello")
		before := p.people.OpenIssue(p, Ann, "It fails", body)
		opened := p.issue(p.repo.Issues.Open(p.ctx, githost.IssueContent{Title: "It fails", Body: body}))
		var others []int
		for range githost.IssuesPage + 5 {
			others = append(others, p.people.OpenIssue(p, Cora, "It fails", body))
		}
		p.asking(1, func() { p.listed(opened) })
		for number, own := range map[int]bool{before: false, opened.Number: true, others[0]: false} {
			read := p.issue(p.repo.Issues.Read(p.ctx, number))
			want := githost.Issue{Number: number, Title: "It fails", Body: body, Own: own}
			if diff := cmp.Diff(want, read); diff != "" {
				p.Errorf("-want +got:\n%s", diff)
			}
		}
		p.people.Open(p, "change", "main", "It fails", body)
		p.repo = p.as(Reader)
		p.listed()
	}},
	{"long issues are listed in smaller pages", func(p *place) {
		if p.withoutIssues() {
			return
		}
		var want []githost.Issue
		for range 12 {
			one := p.issue(p.repo.Issues.Open(p.ctx, githost.IssueContent{Title: "x", Body: strings.Repeat("y", 60_000)}))
			want = append([]githost.Issue{one}, want...)
		}
		p.repo = p.with(Writer, smallAnswers)
		p.listed(want...)
	}},
	{"issues need the rights to see and to write the repo", func(p *place) {
		if p.withoutIssues() {
			return
		}
		_, err := p.as(Reader).Issues.Open(p.ctx, githost.IssueContent{Title: "x"})
		if e := p.refused(err, githost.ErrForbidden, "", "open an issue in "); e.Grant == "" {
			p.Error("it does not advise what to grant")
		}
		_, err = p.as(Foreign).Issues.List(p.ctx)
		p.refused(err, githost.ErrNotVisible, "", "list the issues in ")
	}},
}

// issue returns an issue, and fails the test with an error.
func (p *place) issue(one *githost.Issue, err error) githost.Issue {
	p.Helper()
	if err != nil || one == nil {
		p.Fatalf("%v, %v", one, err)
	}
	return *one
}

// withoutIssues reports whether the host has no issues that the provider uses.
func (p *place) withoutIssues() bool {
	p.Helper()
	if p.repo.Issues != nil {
		return false
	}
	if p.repo.Block != "azure_devops" {
		p.Error("the host has no issues")
	}
	return true
}

// listed fails the test unless these are the issues of the repo.
func (p *place) listed(want ...githost.Issue) {
	p.Helper()
	got, err := p.repo.Issues.List(p.ctx)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		p.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// newestIssue returns the number of the newest issue that the writer opened; 0: there is none.
func (p *place) newestIssue() int {
	p.Helper()
	if p.repo.Issues == nil {
		return 0
	}
	all, err := p.repo.Issues.List(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	if len(all) == 0 {
		return 0
	}
	return all[0].Number
}

// issueOperations returns all operations on the issues of a repo. The first one opens an issue. An operation fails if
// its result cannot be an issue of the repo.
func issueOperations() []operation {
	content := githost.IssueContent{Title: "It fails", Body: "Text\n\n" + githost.IssueMarker("dev", "0", "hello")}
	labelled, edited := content, content
	labelled.Labels = []string{"kalypso"}
	edited.Title, edited.Closed = "It failed", true
	one := func(i *githost.Issue, err error) error {
		if err == nil && i == nil {
			return errors.New("the operation returns neither an issue nor an error")
		}
		if err == nil && i.Number <= 0 {
			return fmt.Errorf("the operation returns the issue %d", i.Number)
		}
		return err
	}
	return []operation{
		{"Issues.Open", "open an issue", func(c call) error { return one(c.repo.Issues.Open(c.ctx, labelled)) }},
		{"Issues.List", "list the issues", func(c call) error {
			all, err := c.repo.Issues.List(c.ctx)
			if len(all) > githost.MaxListedIssues {
				return fmt.Errorf("the operation lists %d issues", len(all))
			}
			for _, i := range all {
				if !i.Own {
					return fmt.Errorf("the operation lists issue %d of another account", i.Number)
				}
				err = errors.Join(err, one(&i, nil))
			}
			return err
		}},
		{"Issues.Read", "", func(c call) error { return one(c.repo.Issues.Read(c.ctx, c.issue)) }},
		{"Issues.Edit", "", func(c call) error { return one(c.repo.Issues.Edit(c.ctx, c.issue, edited)) }},
		{"Issues.Comment", "", func(c call) error { return c.repo.Issues.Comment(c.ctx, c.issue, "Fixed.") }},
	}
}
