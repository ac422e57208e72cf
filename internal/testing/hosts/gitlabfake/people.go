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
	p.sync()
	var all []MergeRequest
	for _, m := range p.requests {
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
	m, _, problem := p.open(author, source, target, title, body)
	if problem != nil {
		t.Fatalf("open a merge request from %s to %s: %v", source, target, problem)
	}
	return m.iid
}

// OpenFromFork opens a merge request from a branch of that name in a fork.
func (p *Project) OpenFromFork(source, target, body string) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.requests = append(p.requests, &mergeRequest{
		iid: len(p.requests) + 1, title: "From a fork", description: body, source: source, target: target, fork: true,
		sha: strings.Repeat("f", 40), state: "opened", author: "eve", created: p.server.now(), updated: p.server.now(),
	})
}

// Merge merges a merge request as a person does, and returns the new head of the target.
func (p *Project) Merge(t testing.TB, number int, squash bool) string {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	if m.state != "opened" {
		t.Fatalf("merge request %d is %s", number, m.state)
	}
	m.squash = squash
	if err := p.merge(m); err != nil {
		t.Fatal(err)
	}
	return p.rev(m.target)
}

// Lock puts a merge request into the state locked, as during a merge, until this number of requests about it.
func (p *Project) Lock(t testing.TB, number, requests int) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.state, m.locked = "locked", requests
}

// Close closes a merge request as a person does.
func (p *Project) Close(t testing.TB, number int) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.end("closed", p.server.now())
}

// Reopen reopens a closed merge request as a person does.
func (p *Project) Reopen(t testing.TB, number int) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.state = "opened"
}

// Edit changes title and description as a person does.
func (p *Project) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.title, m.description = title, body
}

// Retarget changes the target branch as a person does.
func (p *Project) Retarget(t testing.TB, number int, target string) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.target, m.base = target, p.rev(target)
}

// AutoMerge enables auto-merge of the commit that GitLab sees, as a person does.
func (p *Project) AutoMerge(t testing.TB, number int, squash bool) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.autoMerge, m.squash = m.sha, squash
}

// Label adds a label as a person does.
func (p *Project) Label(t testing.TB, number int, label string) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.label(label, "")
}

// Review approves a merge request as a user does. Reviewers stay on its list (docs).
func (p *Project) Review(t testing.TB, number int, login string) {
	t.Helper()
	m := p.known(t, number)
	defer p.server.mu.Unlock()
	m.reviewed = append(m.reviewed, login)
}

// SetStatus sets a status as a user does, or a job of CI: in one of our states or of GitLab's.
func (p *Project) SetStatus(login, commit, name, state string) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.post(login, commit, name, jobState(state), "", "")
}

// Status returns the latest state of a commit in a context, as GitLab calls it, and the number of its statuses.
func (p *Project) Status(commit, context string) (state string, posted int) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	for _, s := range p.of(commit) {
		if s.name == context {
			state, posted = s.state, posted+1
		}
	}
	return state, posted
}

// known returns a merge request, under the lock.
func (p *Project) known(t testing.TB, number int) *mergeRequest {
	t.Helper()
	p.server.mu.Lock()
	p.sync()
	i := slices.IndexFunc(p.requests, func(m *mergeRequest) bool { return m.iid == number })
	if i < 0 {
		p.server.mu.Unlock()
		t.Fatalf("there is no merge request %d", number)
	}
	return p.requests[i]
}
