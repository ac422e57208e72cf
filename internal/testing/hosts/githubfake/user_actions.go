package githubfake

import (
	"slices"
	"testing"
	"time"
)

// PullRequest is a pull request, as tests see it.
type PullRequest struct {
	Number                   int
	Title, Body              string
	Head, Base               string // branches
	HeadCommit, MergeCommit  string
	State                    string // open, closed, merged
	Draft                    bool
	Author, AutoMerge        string
	QueuedBy                 string // the user who put it into the merge queue
	Labels, Reviewers, Teams []string
	Approvals                []string // users
}

// PullRequests returns all pull requests of a repo, oldest first.
func (r *Repo) PullRequests() []PullRequest {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.pulls.sync()
	var all []PullRequest
	for _, p := range r.pulls.all {
		state := p.state
		if p.merged {
			state = "merged"
		}
		all = append(all, PullRequest{
			Number: p.number, Title: p.title, Body: p.body, Head: p.head, Base: p.base, HeadCommit: p.headCommit,
			MergeCommit: p.mergeCommit,
			State:       state, Draft: p.draft, Author: p.author, AutoMerge: p.autoMerge, QueuedBy: p.queuedBy,
			Labels: slices.Clone(p.labels), Reviewers: slices.Clone(p.reviewers), Teams: slices.Clone(p.teams),
			Approvals: slices.Clone(p.reviewed),
		})
	}
	return all
}

// Open opens a pull request as a person does, and returns its number.
func (r *Repo) Open(t testing.TB, author, head, base, title, body string) int {
	t.Helper()
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	p, problem := r.pulls.open(author, title, body, head, base, false)
	if problem != nil {
		t.Fatalf("open a pull request from %s to %s: %v", head, base, problem)
	}
	return p.number
}

// Merge merges a pull request as a person does, by "merge", "squash" or "rebase", and returns the commit.
func (r *Repo) Merge(t testing.TB, number int, method string) (commit string) {
	t.Helper()
	r.with(t, number, func(p *pull) {
		if p.state != "open" {
			t.Fatalf("pull request %d is closed", number)
		}
		if err := p.merge(method); err != nil {
			t.Fatal(err)
		}
		commit = p.mergeCommit
	})
	return commit
}

// Close closes a pull request as a person does.
func (r *Repo) Close(t testing.TB, number int) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.close() })
}

// Review approves a pull request as a user does, for a team if slug is not empty. Reviewers are then no longer
// requested.
func (r *Repo) Review(t testing.TB, number int, user, slug string) {
	t.Helper()
	r.with(t, number, func(p *pull) {
		p.reviewed = append(p.reviewed, user)
		p.reviewers = slices.DeleteFunc(p.reviewers, func(name string) bool { return name == user })
		p.teams = slices.DeleteFunc(p.teams, func(name string) bool { return name == slug })
	})
}

// ReviewRequests returns all review requests of a pull request, repeated ones included: "user", "team:slug".
func (r *Repo) ReviewRequests(t testing.TB, number int) (all []string) {
	t.Helper()
	r.with(t, number, func(p *pull) { all = slices.Clone(p.asked) })
	return all
}

// Reopen reopens a closed pull request as a person does.
func (r *Repo) Reopen(t testing.TB, number int) {
	t.Helper()
	r.with(t, number, func(p *pull) {
		if problem := p.reopen(); problem != "" {
			t.Fatal(problem)
		}
	})
}

// Edit changes the description of a pull request as a person does.
func (r *Repo) Edit(t testing.TB, number int, body string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.body = body })
}

// Rename changes the title of a pull request as a person does.
func (r *Repo) Rename(t testing.TB, number int, title string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.title = title })
}

// Label adds a label to a pull request as a person does.
func (r *Repo) Label(t testing.TB, number int, label string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.labels = append(p.labels, label) })
}

// Retarget changes the target branch of a pull request as a person does.
func (r *Repo) Retarget(t testing.TB, number int, base string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.base = base })
}

// AutoMerge enables auto-merge of a pull request as a person does.
func (r *Repo) AutoMerge(t testing.TB, number int, method string) {
	t.Helper()
	r.with(t, number, func(p *pull) { p.autoMerge = method })
}

// Status returns the latest state of a commit in a context, and the number of its statuses.
func (r *Repo) Status(commit, context string) (state string, posted int) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for _, s := range r.statuses.byCommit[commit] {
		if s.Context == context {
			state, posted = s.State, posted+1
		}
	}
	return state, posted
}

// StatusText returns the description of the last status of a commit in a context.
func (s *Server) StatusText(r *Repo, commit, context string) (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, s := range r.statuses.byCommit[commit] {
		if s.Context == context {
			text = s.Description
		}
	}
	return text
}

// SetStatus sets a state as another account.
func (r *Repo) SetStatus(commit, context, state string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.statuses.add(commit, status{Context: context, State: state})
	r.pulls.sync()
}

// SetStatusAs sets a status as a user or an app does, such as "octocat" or "acme-ci[bot]".
func (r *Repo) SetStatusAs(login, commit, context, state, description string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.statuses.add(commit, status{Context: context, State: state, Description: description, Creator: creatorOf(login)})
	r.pulls.sync()
}

// AddCheckRun adds a check run of an app, such as "github-actions". The conclusion is empty while it runs.
func (r *Repo) AddCheckRun(commit, name, conclusion, app string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	now := r.server.now().UTC().Truncate(time.Second)
	r.statuses.checkRuns[commit] = append(r.statuses.checkRuns[commit], checkRun{name, conclusion, app, now})
}

// with runs a change of a pull request by people.
func (r *Repo) with(t testing.TB, number int, f func(*pull)) {
	t.Helper()
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.pulls.sync()
	p := r.pulls.find(number)
	if p == nil {
		t.Fatalf("there is no pull request %d", number)
	}
	f(p)
}
