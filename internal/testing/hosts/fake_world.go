package hosts

import (
	"net/http"
	"slices"
	"testing"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// The tokens of other people in each fake. Its own token is the one of [hostingtest.Writer].
const (
	readerToken  = "canaryReader"
	foreignToken = "canaryForeign"
)

// fakeWorld is a fake host with a clock of its own.
type fakeWorld struct {
	Clock  *hostingtest.Clock
	server *hostfake.Server
	open   func(httpapi.Access) (githost.Host, error)
}

// newFakeWorld returns the world of a fake, with the tokens of other people. Bob may read a repo.
func newFakeWorld(
	clock *hostingtest.Clock, server *hostfake.Server, repo string, open func(httpapi.Access) (githost.Host, error),
) fakeWorld {
	server.AddToken(foreignToken, "eve", nil)
	server.AddToken(readerToken, hostingtest.Bob, map[string]hostfake.Access{repo: hostfake.Read})
	return fakeWorld{clock, server, open}
}

// Host implements [hostingtest.World].
func (w *fakeWorld) Host(t testing.TB, as hostingtest.Credential) githost.Host {
	t.Helper()
	return w.HostOver(t, as, nil)
}

// HostOver implements [hostingtest.World].
func (w *fakeWorld) HostOver(t testing.TB, as hostingtest.Credential, transport http.RoundTripper) githost.Host {
	t.Helper()
	host, err := w.open(httpapi.Access{
		Token: w.token(as), BaseURL: w.server.URL, Clock: w.Clock, Credential: "token", Transport: transport,
	})
	return hostOf(t, host, err)
}

// Arguments implements [hostingtest.World].
func (w *fakeWorld) Arguments(_ testing.TB, as hostingtest.Credential) map[string]any {
	return map[string]any{"base_url": w.server.URL, "token": w.token(as)}
}

func (w *fakeWorld) token(as hostingtest.Credential) string {
	return map[hostingtest.Credential]string{hostingtest.Writer: w.server.Token, hostingtest.Reader: readerToken,
		hostingtest.Foreign: foreignToken, hostingtest.Wrong: "canaryWrong"}[as]
}

// Requests implements [hostingtest.World].
func (w *fakeWorld) Requests() int { return len(w.server.Requests()) }

// Pause implements [hostingtest.World].
func (w *fakeWorld) Pause(testing.TB) { w.Clock.Pass(time.Second) }

// people act in the repo of any fake.
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
}

// fakeRepo is a repo of a fake as people use it. A type for each host adds what only the host has.
type fakeRepo struct {
	people
	server   *hostfake.Server
	url, dir string
	requests requests
	failures map[hostingtest.Fault]hostfake.Failure // but those of the connection
}

func (r fakeRepo) URL() string { return r.url }

func (r fakeRepo) Remote() string { return r.dir }

func (r fakeRepo) Open(t testing.TB, branch, target, title, body string) int {
	t.Helper()
	return r.people.Open(t, hostingtest.Ann, branch, target, title, body)
}

func (r fakeRepo) Merge(t testing.TB, number int, method githost.MergeMethod) string {
	t.Helper()
	return r.people.Merge(t, number, string(method))
}

func (r fakeRepo) AutoMerge(t testing.TB, number int, method githost.MergeMethod) {
	t.Helper()
	r.people.AutoMerge(t, number, hostingtest.Ann, string(method))
}

func (r fakeRepo) PullRequests(testing.TB) []githost.PullRequest {
	return shown(r.people.PullRequests())
}

// shown returns pull requests in the provider's terms.
func shown(pulls []hostfake.PullRequest) (all []githost.PullRequest) {
	for _, p := range pulls {
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

// KeepOpen does nothing: most fakes close a pull request with the next request, or never.
func (r fakeRepo) KeepOpen() {}

func (r fakeRepo) Revoke(testing.TB) { r.server.Revoke(r.server.Token) }

func (r fakeRepo) Before(op hostingtest.Operation, f func()) {
	if op == hostingtest.Push {
		r.server.Git.BeforeReceive(f)
		return
	}
	r.server.Once(r.requests[op][0], r.requests[op][1], f)
}

func (r fakeRepo) Fail(_ testing.TB, op hostingtest.Operation, times int, how hostingtest.Fault) {
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
	r.server.Fail(request[0], request[1], times, failure)
}
