package hostfake

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The states of a pull request.
const (
	Open   = "open"
	Closed = "closed"
	Merged = "merged"
)

// PullRequest is a pull request as its host keeps it.
type PullRequest struct {
	Number                  int
	Title, Body             string
	Head, Base              string // branches
	HeadCommit, BaseCommit  string // of the branches, as the host knows them
	Fork                    bool   // its head is a branch of another repo
	State                   string
	MergeCommit             string
	Draft                   bool
	Author                  string
	Labels                  []string
	Reviewers, Teams        []string // whose review is requested
	Asked                   []string // whose review was ever requested; twice if it was requested twice
	Approvals               []string // users
	AutoMerge, AutoMergeBy  string   // method and login; "": it is off
	QueuedBy                string   // the user who put it into the merge queue
	Created, Updated, Ended time.Time
}

// Pull is a pull request with what only its host has. A [PullRequest] does all of it but the merge, by the rules that
// most hosts have.
type Pull interface {
	Common() *PullRequest
	AddLabel(label string)
	Approve(login string)
	SetAutoMerge(login, method string)
	Reopen() error
	// Merge merges in Git.
	Merge(method string) error
}

// Common implements [Pull].
func (p *PullRequest) Common() *PullRequest { return p }

// AddLabel implements [Pull]: labels that differ only in case are the same.
func (p *PullRequest) AddLabel(label string) {
	if !ContainsFold(p.Labels, label) {
		p.Labels = append(p.Labels, label)
	}
}

// ContainsFold reports whether a list contains a text in any case.
func ContainsFold(all []string, text string) bool {
	return slices.ContainsFunc(all, func(other string) bool { return strings.EqualFold(other, text) })
}

// Approve implements [Pull]: a user whose review was requested stays on the list.
func (p *PullRequest) Approve(login string) { p.Approvals = append(p.Approvals, login) }

// Ask requests a review.
func (p *PullRequest) Ask(login string) {
	p.Asked = append(p.Asked, login)
	if !slices.Contains(p.Reviewers, login) {
		p.Reviewers = append(p.Reviewers, login)
	}
}

// SetAutoMerge implements [Pull].
func (p *PullRequest) SetAutoMerge(login, method string) { p.AutoMerge, p.AutoMergeBy = method, login }

// End closes it, or notes that it was merged.
func (p *PullRequest) End(state string, at time.Time) {
	p.State, p.AutoMerge, p.QueuedBy, p.Updated, p.Ended = state, "", "", at, at
}

// Reopen implements [Pull].
func (p *PullRequest) Reopen() error {
	p.State, p.Ended = Open, time.Time{}
	return nil
}

// Pulls are the pull requests of a repo, oldest first, and what people do with them.
type Pulls[P Pull] struct {
	All    []P
	Git    Repo
	Server *Server
	// OpenAs opens a pull request as a user, or refuses that.
	OpenAs func(author, head, base, title, body string) (opened P, refused Answer)
	// Sync updates the pull requests from the branches.
	Sync func()
}

// Find returns the pull request of a number.
func (ps *Pulls[P]) Find(number int) (found P, ok bool) {
	i := slices.IndexFunc(ps.All, func(p P) bool { return p.Common().Number == number })
	if i < 0 {
		return found, false
	}
	return ps.All[i], true
}

// IsOpen reports whether an open pull request has these branches of the repo.
func (ps *Pulls[P]) IsOpen(head, base string) (number int, open bool) {
	for _, pull := range ps.All {
		if p := pull.Common(); p.State == Open && !p.Fork && p.Head == head && p.Base == base {
			return p.Number, true
		}
	}
	return 0, false
}

// Matching returns the pull requests with these branches, and with a state in the host's words, newest first. An empty
// text matches all.
func (ps *Pulls[P]) Matching(state, head, base string, stateOf func(P) string) (found []P) {
	for _, pull := range slices.Backward(ps.All) {
		p := pull.Common()
		if (state == "" || state == stateOf(pull)) && (head == "" || head == p.Head) && (base == "" || base == p.Base) {
			found = append(found, pull)
		}
	}
	return found
}

// PullRequests returns copies of the pull requests.
func (ps *Pulls[P]) PullRequests() (all []PullRequest) {
	ps.Server.Locked(func() {
		ps.Sync()
		for _, pull := range ps.All {
			p := *pull.Common()
			for _, list := range []*[]string{&p.Labels, &p.Reviewers, &p.Teams, &p.Asked, &p.Approvals} {
				*list = slices.Clone(*list)
			}
			all = append(all, p)
		}
	})
	return all
}

// With runs a change of a pull request by people.
func (ps *Pulls[P]) With(t testing.TB, number int, change func(P)) {
	t.Helper()
	ps.Server.Locked(func() {
		ps.Sync()
		p, found := ps.Find(number)
		if !found {
			t.Fatalf("there is no pull request %d", number)
		}
		change(p)
	})
}

// Open opens a pull request as a user does, and returns its number.
func (ps *Pulls[P]) Open(t testing.TB, author, head, base, title, body string) (number int) {
	t.Helper()
	ps.Server.Locked(func() {
		p, refused := ps.OpenAs(author, head, base, title, body)
		if refused.Status != 0 {
			t.Fatalf("open a pull request from %s to %s: %v", head, base, refused.Body)
		}
		number = p.Common().Number
	})
	return number
}

// OpenFromFork opens a pull request from a branch of that name of another repo.
func (ps *Pulls[P]) OpenFromFork(t testing.TB, author, head, base, title, body string) {
	t.Helper()
	ps.With(t, ps.Open(t, author, head, base, title, body), func(p P) { p.Common().Fork = true })
}

// Merge merges a pull request as a person does, by "merge", "squash" or "rebase", and returns the new head of its base.
func (ps *Pulls[P]) Merge(t testing.TB, number int, method string) (commit string) {
	t.Helper()
	ps.With(t, number, func(p P) {
		if now := p.Common(); now.State != Open {
			t.Fatalf("pull request %d is %s", number, now.State)
		}
		if err := p.Merge(method); err != nil {
			t.Fatal(err)
		}
		commit = ps.Git.Head(p.Common().Base)
	})
	return commit
}

// Close closes a pull request as a person does.
func (ps *Pulls[P]) Close(t testing.TB, number int) {
	t.Helper()
	ps.With(t, number, func(p P) { p.Common().End(Closed, ps.Server.Now()) })
}

// Reopen reopens a closed pull request as a person does.
func (ps *Pulls[P]) Reopen(t testing.TB, number int) {
	t.Helper()
	ps.With(t, number, func(p P) {
		if err := p.Reopen(); err != nil {
			t.Fatal(err)
		}
	})
}

// Edit changes title and description as a person does.
func (ps *Pulls[P]) Edit(t testing.TB, number int, title, body string) {
	t.Helper()
	ps.With(t, number, func(p P) { p.Common().Title, p.Common().Body = title, body })
}

// Retarget changes the target branch as a person does.
func (ps *Pulls[P]) Retarget(t testing.TB, number int, base string) {
	t.Helper()
	ps.With(t, number, func(p P) { p.Common().Base = base })
}

// Label adds a label as a person does.
func (ps *Pulls[P]) Label(t testing.TB, number int, label string) {
	t.Helper()
	ps.With(t, number, func(p P) { p.AddLabel(label) })
}

// Review approves as a user does, also for teams. Their review is then no longer requested.
func (ps *Pulls[P]) Review(t testing.TB, number int, login string, teams ...string) {
	t.Helper()
	ps.With(t, number, func(p P) {
		p.Approve(login)
		c := p.Common()
		c.Teams = slices.DeleteFunc(c.Teams, func(team string) bool { return slices.Contains(teams, team) })
	})
}

// AutoMerge enables auto-merge as a user does.
func (ps *Pulls[P]) AutoMerge(t testing.TB, number int, login, method string) {
	t.Helper()
	ps.With(t, number, func(p P) { p.SetAutoMerge(login, method) })
}

// DeleteBranch deletes a branch as a person does.
func (ps *Pulls[P]) DeleteBranch(t testing.TB, branch string) {
	t.Helper()
	gitserver.Git(t, ps.Git.Dir, "update-ref", "-d", "refs/heads/"+branch)
}

// Revoke revokes the token of the server.
func (ps *Pulls[P]) Revoke(testing.TB) { ps.Server.Revoke(ps.Server.Token) }
