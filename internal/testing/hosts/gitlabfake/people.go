package gitlabfake

import (
	"slices"
	"strings"
	"testing"
)

// MergeRequest is a merge request, as tests see it.
type MergeRequest struct {
	Number                  int
	Title, Body             string
	Source, Target          string // branches
	HeadCommit, MergeCommit string
	State                   string // opened, locked, closed, merged
	Draft, AutoMerge        bool
	Squash                  bool
	Author                  string
	Labels, Reviewers       []string
	Commands                []string // the quick actions that GitLab ran
}

// MergeRequests returns all merge requests of a project, oldest first.
func (p *Project) MergeRequests() []MergeRequest {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.requests.sync()
	var all []MergeRequest
	for _, m := range p.requests.all {
		all = append(all, MergeRequest{
			Number: m.iid, Title: m.title, Body: m.description, Source: m.source, Target: m.target, HeadCommit: m.sha,
			MergeCommit: m.mergeCommit, State: m.state, Draft: m.draft(), AutoMerge: m.autoMerge != "", Squash: m.squash,
			Author: m.author, Labels: slices.Clone(m.labels), Reviewers: slices.Clone(m.reviewers),
			Commands: slices.Clone(m.commands),
		})
	}
	return all
}

// Open opens a merge request as a person does, and returns its number.
func (p *Project) Open(t testing.TB, author, source, target, title, body string) int {
	t.Helper()
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	m, _, problem := p.requests.open(author, source, target, title, body)
	if problem != nil {
		t.Fatalf("open a merge request from %s to %s: %v", source, target, problem)
	}
	return m.iid
}

// OpenFromFork opens a merge request from a branch of that name in a fork.
func (p *Project) OpenFromFork(source, target, body string) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.requests.all = append(p.requests.all, &mergeRequest{
		project: p, iid: len(p.requests.all) + 1, title: "From a fork", description: body, source: source, target: target,
		fork: true,
		sha:  strings.Repeat("f", 40), state: "opened", author: "eve", created: p.server.now(), updated: p.server.now(),
	})
}

// Merge merges a merge request as a person does, and returns the new head of the target.
func (p *Project) Merge(t testing.TB, number int, squash bool) (commit string) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) {
		if m.state != "opened" {
			t.Fatalf("merge request %d is %s", number, m.state)
		}
		m.squash = squash
		if err := m.merge(); err != nil {
			t.Fatal(err)
		}
		commit = p.git.Head(m.target)
	})
	return commit
}

// Lock puts a merge request into the state locked, as during a merge, until this number of requests about it.
func (p *Project) Lock(t testing.TB, number, requests int) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.state, m.locked = "locked", requests })
}

// Close closes a merge request as a person does.
func (p *Project) Close(t testing.TB, number int) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.end("closed", p.server.now()) })
}

// Reopen reopens a closed merge request as a person does.
func (p *Project) Reopen(t testing.TB, number int) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.state = "opened" })
}

// Edit changes title and description as a person does.
func (p *Project) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.title, m.description = title, body })
}

// Retarget changes the target branch as a person does.
func (p *Project) Retarget(t testing.TB, number int, target string) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.target, m.base = target, p.git.Head(target) })
}

// AutoMerge enables auto-merge of the commit that GitLab sees, as a person does.
func (p *Project) AutoMerge(t testing.TB, number int, squash bool) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.autoMerge, m.squash = m.sha, squash })
}

// Label adds a label as a person does.
func (p *Project) Label(t testing.TB, number int, label string) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.label(label, "") })
}

// Review approves a merge request as a user does. Reviewers stay on its list (docs).
func (p *Project) Review(t testing.TB, number int, login string) {
	t.Helper()
	p.with(t, number, func(m *mergeRequest) { m.reviewed = append(m.reviewed, login) })
}

// SetStatus sets a status as a user does, or a job of CI: in one of our states or of GitLab's.
func (p *Project) SetStatus(login, commit, name, state string) {
	p.server.locked(func() { p.statuses.post(login, commit, name, jobState(state), "", "") })
}

// Status returns the latest state of a commit in a context, as GitLab calls it, and the number of its statuses.
func (p *Project) Status(commit, context string) (state string, posted int) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	for _, s := range p.statuses.of(commit) {
		if s.name == context {
			state, posted = s.state, posted+1
		}
	}
	return state, posted
}

// with runs a change of a merge request by people.
func (p *Project) with(t testing.TB, number int, f func(*mergeRequest)) {
	t.Helper()
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.requests.sync()
	i := slices.IndexFunc(p.requests.all, func(m *mergeRequest) bool { return m.iid == number })
	if i < 0 {
		t.Fatalf("there is no merge request %d", number)
	}
	f(p.requests.all[i])
}
