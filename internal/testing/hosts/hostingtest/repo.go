package hostingtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// People act in the repo of any host.
type People interface {
	Open(t testing.TB, author, head, base, title, body string) int
	// PullRequests returns all pull requests as people see them, oldest first.
	PullRequests() []hostfake.PullRequest
	Edit(t testing.TB, number int, title, body string)
	Retarget(t testing.TB, number int, base string)
	Label(t testing.TB, number int, label string)
	// Review approves as a user does, also for teams.
	Review(t testing.TB, number int, login string, teams ...string)
	AutoMerge(t testing.TB, number int, login, method string)
	// Merge merges at once, and returns the new head of the target.
	Merge(t testing.TB, number int, method string) (commit string)
	Close(t testing.TB, number int)
	Reopen(t testing.TB, number int)
	// Require makes merges into a branch wait for a successful status in a context; "" or none: for none.
	Require(branch string, contexts ...string)
	SetStatus(login, commit, context, state string)
	// Protect makes the host refuse pushes of [Writer] to branches. Merges still work.
	Protect(t testing.TB, branches ...string)
	// DeleteBranch deletes a branch, which may be the default one.
	DeleteBranch(t testing.TB, branch string)
	// Revoke revokes the token of [Writer].
	Revoke(t testing.TB)
}

// Repo is a repo of a world, in which people act at given moments, and whose host can fail.
type Repo struct {
	People
	World *World
	URL   string // as users configure it
	// Remote is where Git pushes to without another credential: a path, or a URL that contains one.
	Remote     string
	BeforePush func(f func())             // runs f before the next push
	Requests   map[Operation][2]string    // method, and a part of the path
	Failures   map[Fault]hostfake.Failure // but those of the connection
	// OpenIssue opens an issue as a user. It is nil if the provider does not use the host's issues.
	OpenIssue func(t testing.TB, author, title, body string) (number int)
	// FailOwn makes requests fail in a way that only the host has, and reports whether it did; may be nil.
	FailOwn func(t testing.TB, op Operation, times int, how Fault) bool
}

// Operation is an operation of the provider on a host.
type Operation string

// The operations.
const (
	Open      Operation = "open"
	Edit      Operation = "edit"
	Read      Operation = "read"
	Close     Operation = "close"
	AutoMerge Operation = "auto-merge"
	Label     Operation = "label"
	Push      Operation = "push"
	Statuses  Operation = "statuses" // to read those of many commits
)

// Fault is how a request fails.
type Fault string

// The faults.
const (
	Dropped    Fault = "dropped"     // the request is lost
	AnswerLost Fault = "answer lost" // the request takes effect
	Forbidden  Fault = "forbidden"
	NotSeen    Fault = "not seen"  // the host has not seen a push to the head branch yet
	NotReady   Fault = "not ready" // the host has not checked yet whether the branch can be merged
	Refused    Fault = "refused"   // by the repo's settings
	Down       Fault = "down"      // the server answers, but is not available
)

// Open opens a pull request as Ann does.
func (r *Repo) Open(t testing.TB, branch, target, title, body string) (number int) {
	t.Helper()
	return r.People.Open(t, Ann, branch, target, title, body)
}

// Review approves as a user does who is a member of the team.
func (r *Repo) Review(t testing.TB, number int, login string) {
	t.Helper()
	r.People.Review(t, number, login, "platform")
}

// Merge merges at once, and returns the new head of the target.
func (r *Repo) Merge(t testing.TB, number int, method githost.MergeMethod) (commit string) {
	t.Helper()
	return r.People.Merge(t, number, string(method))
}

// AutoMerge enables auto-merge as Ann does.
func (r *Repo) AutoMerge(t testing.TB, number int, method githost.MergeMethod) {
	t.Helper()
	r.People.AutoMerge(t, number, Ann, string(method))
}

// KeepOpen makes pull requests stay open for some time after their branch was deleted. Most hosts close them at once,
// or never.
func (r *Repo) KeepOpen() {
	if late, is := r.People.(interface{ KeepOpen() }); is {
		late.KeepOpen()
	}
}

// SetStatus sets the status of a commit as Ann does.
func (r *Repo) SetStatus(commit, context string, state githost.StatusState) {
	r.People.SetStatus(Ann, commit, context, string(state))
}

// PullRequests returns all pull requests as people see them, oldest first, in the provider's terms. Reviewers are all
// who were requested, twice if they were requested twice. A draft's title has no prefix.
func (r *Repo) PullRequests() (all []githost.PullRequest) {
	for _, p := range r.People.PullRequests() {
		pr := githost.PullRequest{
			Number: p.Number, State: githost.PullRequestState(p.State), Title: p.Title, Body: p.Body, Branch: p.Head,
			Target: p.Base, Draft: p.Draft, AutoMerge: githost.MergeMethod(p.AutoMerge), Labels: p.Labels, Reviewers: p.Asked,
		}
		for _, login := range p.Reviewers { // people may review without a request
			if !slices.Contains(pr.Reviewers, login) {
				pr.Reviewers = append(pr.Reviewers, login)
			}
		}
		if p.Draft {
			pr.Title = strings.TrimPrefix(p.Title, r.World.Traits.DraftPrefix)
		}
		if p.QueuedBy != "" {
			pr.Queue = &githost.QueuePlace{OwnEntry: p.QueuedBy == p.Author}
		}
		all = append(all, pr)
	}
	return all
}

// Before runs f once, before the next request for an operation.
func (r *Repo) Before(op Operation, f func()) {
	if op == Push {
		r.BeforePush(f)
		return
	}
	r.World.Traffic.Once(r.Requests[op][0], r.Requests[op][1], f)
}

// Fail makes the next requests for an operation fail; -1: all. It does nothing if the host has no such request.
func (r *Repo) Fail(t testing.TB, op Operation, times int, how Fault) {
	t.Helper()
	request, known := r.Requests[op]
	if !known || r.FailOwn != nil && r.FailOwn(t, op, times, how) {
		return
	}
	failure := r.Failures[how]
	switch how {
	case Dropped:
		failure = hostfake.Dropped()
	case AnswerLost:
		failure = hostfake.AnswerLost()
	}
	r.World.Traffic.Fail(request[0], request[1], times, failure)
}
