package hosts

import (
	"slices"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// people act in the repo of any host.
type people interface {
	Open(t testing.TB, author, head, base, title, body string) int
	PullRequests() []hostfake.PullRequest
	Edit(t testing.TB, number int, title, body string)
	Retarget(t testing.TB, number int, base string)
	Label(t testing.TB, number int, label string)
	Review(t testing.TB, number int, login string)
	AutoMerge(t testing.TB, number int, login, method string)
	Merge(t testing.TB, number int, method string) (commit string)
	Close(t testing.TB, number int)
	Reopen(t testing.TB, number int)
	DeleteBranch(t testing.TB, branch string)
	Revoke(t testing.TB)
}

// requests are those for an operation: method, and a part of the path.
type requests map[hostingtest.Operation][2]string

// hostRepo is a repo as people use it. A type for each host adds what only the host has.
type hostRepo struct {
	people
	traffic     *hostfake.Traffic
	url, remote string
	beforePush  func(f func()) // runs f before the next push
	requests    requests
	failures    map[hostingtest.Fault]hostfake.Failure // but those of the connection
}

func (r hostRepo) URL() string { return r.url }

func (r hostRepo) Remote() string { return r.remote }

func (r hostRepo) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return r.people.Open(t, hostingtest.Ann, branch, target, title, body)
}

func (r hostRepo) Merge(t testing.TB, number int, method githost.MergeMethod) string {
	t.Helper()
	return r.people.Merge(t, number, string(method))
}

func (r hostRepo) AutoMerge(t testing.TB, number int, method githost.MergeMethod) {
	t.Helper()
	r.people.AutoMerge(t, number, hostingtest.Ann, string(method))
}

// PullRequests returns the pull requests in the provider's terms.
func (r hostRepo) PullRequests(testing.TB) (all []githost.PullRequest) {
	for _, p := range r.people.PullRequests() {
		pr := githost.PullRequest{
			Number: p.Number, State: githost.PullRequestState(p.State), Title: p.Title, Body: p.Body, Branch: p.Head,
			Target: p.Base, Draft: p.Draft, AutoMerge: githost.MergeMethod(p.AutoMerge), Labels: p.Labels, Reviewers: p.Asked,
		}
		for _, login := range p.Reviewers { // people may review without a request
			if !slices.Contains(pr.Reviewers, login) {
				pr.Reviewers = append(pr.Reviewers, login)
			}
		}
		if p.QueuedBy != "" {
			pr.Queue = &githost.QueuePlace{OwnEntry: p.QueuedBy == p.Author}
		}
		all = append(all, pr)
	}
	return all
}

// KeepOpen does nothing: most hosts close a pull request at once, or never.
func (r hostRepo) KeepOpen() {}

func (r hostRepo) Before(op hostingtest.Operation, f func()) {
	if op == hostingtest.Push {
		r.beforePush(f)
		return
	}
	r.traffic.Once(r.requests[op][0], r.requests[op][1], f)
}

func (r hostRepo) Fail(_ testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
	request, there := r.requests[op]
	if !there {
		return
	}
	failure := r.failures[how]
	switch how {
	case hostingtest.Dropped:
		failure = hostfake.Dropped()
	case hostingtest.AnswerLost:
		failure = hostfake.AnswerLost()
	}
	r.traffic.Fail(request[0], request[1], times, failure)
}
