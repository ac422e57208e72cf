package azuredevopsfake

import (
	"slices"
	"testing"
)

// PullRequest is a pull request as people see it.
type PullRequest struct {
	Number            int
	Title, Body       string
	Source, Target    string
	Status            string // active, abandoned, completed
	Draft             bool
	Strategy          string   // of auto-complete; "": it is off
	Labels, Reviewers []string // a reviewer who was requested twice occurs twice
	Labelled          int      // requests to add a label, after the create
	DeletesBranch     bool
}

// PullRequests returns all pull requests of the repo, oldest first.
func (r *Repo) PullRequests() (all []PullRequest) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for _, p := range r.pulls {
		one := PullRequest{
			Number: p.number, Title: p.title, Body: p.description, Source: p.source, Target: p.target, Status: p.status,
			Draft: p.draft, Labels: slices.Clone(p.labels), Labelled: p.labelled,
			DeletesBranch: p.options.Delete == nil || *p.options.Delete,
		}
		if p.completer != "" {
			one.Strategy = p.options.Strategy
		}
		for _, v := range p.reviewers {
			for range max(v.asked, 1) {
				name := v.login
				if v.team {
					name = Team
				}
				one.Reviewers = append(one.Reviewers, name)
			}
		}
		all = append(all, one)
	}
	return all
}

// Open opens a pull request as a user does, and returns its number.
func (r *Repo) Open(t testing.TB, login, source, target, title, body string) int {
	t.Helper()
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	p, _, _, problem := r.open(login, source, target, title, body)
	if p == nil {
		t.Fatal(problem)
	}
	return p.number
}

// OpenFromFork opens a pull request from a branch of that name of another repo.
func (r *Repo) OpenFromFork(t testing.TB, login, source, target, title, body string) int {
	t.Helper()
	number := r.Open(t, login, source, target, title, body)
	r.with(t, number, func(p *pull) { p.fork = true })
	return number
}

// with runs a change of a pull request by people.
func (r *Repo) with(t testing.TB, number int, f func(*pull)) {
	t.Helper()
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	i := slices.IndexFunc(r.pulls, func(p *pull) bool { return p.number == number })
	if i < 0 {
		t.Fatalf("there is no pull request %d", number)
	}
	f(r.pulls[i])
}

// Edit changes title and description.
func (r *Repo) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.title, p.description = title, body })
}

// Label adds a label.
func (r *Repo) Label(t testing.TB, number int, label string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.label(label) })
}

// Review approves as a user does.
func (r *Repo) Review(t testing.TB, number int, login string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.reviewer(r.server.person(login)).vote = 10 })
}

// Close abandons a pull request.
func (r *Repo) Close(t testing.TB, number int) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.setStatus("abandoned") })
}

// Reopen reactivates a pull request.
func (r *Repo) Reopen(t testing.TB, number int) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.setStatus("active") })
}

// Retarget changes the target branch.
func (r *Repo) Retarget(t testing.TB, number int, target string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.target = target })
}

// Complete merges by a strategy at once, and returns the new head of the target.
func (r *Repo) Complete(t testing.TB, number int, strategy string) (commit string) {
	t.Helper()
	r.with(t, number, func(p *pull) {
		p.sha = r.git.Head(p.source)
		if err := p.merge(strategy); err != nil {
			t.Fatal(err)
		}
		commit = p.merged
	})
	return commit
}

// AutoComplete sets auto-complete as a user does.
func (r *Repo) AutoComplete(t testing.TB, number int, login, strategy string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.completer, p.options = login, completion{Strategy: strategy} })
}

// FailMerge makes the merge in the background end with a status: rejectedByPolicy or failure.
func (r *Repo) FailMerge(t testing.TB, number int, status string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.failed = status })
}
