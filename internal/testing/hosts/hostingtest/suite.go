package hostingtest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Run plays all situations, each in a world of its own. Worlds may share a server.
func Run(t *testing.T, newWorld func(t *testing.T) *World) {
	t.Helper()
	for _, row := range slices.Concat(pullRequests, merges, statuses, issues, access, answers) {
		t.Run(strings.ReplaceAll(row.rule, " ", "_"), func(t *testing.T) {
			t.Parallel()
			row.test(newPlace(t, newWorld(t)))
		})
	}
}

// row is a situation.
type row struct {
	rule string
	test func(*place)
}

// place is a repo of a world with a commit on main, and one more on change.
type place struct {
	Test
	world  *World
	traits Traits
	people *Repo
	repo   githost.Repo // as Writer
	local  local
	ctx    context.Context
}

func newPlace(t *testing.T, world *World) *place {
	t.Helper()
	p := &place{Test: NewTest(t, world.Clock), world: world, traits: world.Traits, people: world.AddRepo(t)}
	p.local = local{t, gitserver.InitBare(t), p.people}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	p.ctx = ctx
	p.local.commit("main")
	p.local.git("branch", "change", "main")
	p.local.commit("change")
	p.local.send("main", "change")
	p.repo = p.as(Writer)
	return p
}

// as returns the repo with another credential.
func (p *place) as(c Credential) githost.Repo {
	p.Helper()
	return p.with(c, func(*httpapi.Access) {})
}

// over returns the repo of a host that sends its requests over a transport.
func (p *place) over(transport http.RoundTripper) githost.Repo {
	p.Helper()
	return p.with(Writer, func(a *httpapi.Access) { a.Transport = transport })
}

// with returns the repo of a host with another access to its API.
func (p *place) with(c Credential, change func(*httpapi.Access)) githost.Repo {
	p.Helper()
	repo, err := p.world.hostWith(p, c, change).Repo(p.people.URL)
	if err != nil {
		p.Fatal(err)
	}
	return repo
}

// until waits until the host shows something.
func (p *place) until(what string, seen func() bool) {
	p.Helper()
	if !p.world.Await(seen) {
		p.Fatalf("the host never shows %s", what)
	}
}

// untilRead reads a pull request until it meets a condition.
func (p *place) untilRead(number int, what string, is func(githost.PullRequest) bool) githost.PullRequest {
	p.Helper()
	var now githost.PullRequest
	p.until(fmt.Sprintf("pull request %d %s", number, what), func() bool {
		now = p.Must(p.repo.Read(p.ctx, number))
		return is(now)
	})
	return now
}

// untilState reads a pull request until it is in a state.
func (p *place) untilState(number int, state githost.PullRequestState) githost.PullRequest {
	p.Helper()
	return p.untilRead(number, string(state), func(pr githost.PullRequest) bool { return pr.State == state })
}

// openFrom pushes a branch with a commit on top of main, and opens a pull request from it.
func (p *place) openFrom(branch string) githost.PullRequest {
	p.Helper()
	p.local.branch(branch)
	wanted := Proposal()
	wanted.Branch = branch
	return p.Must(p.repo.Open(p.ctx, wanted))
}

// open opens the pull request that [Proposal] proposes.
func (p *place) open() githost.PullRequest {
	p.Helper()
	return p.Must(p.repo.Open(p.ctx, Proposal()))
}

// expect compares pull requests, without the host's own ID and page, and without the order of labels and reviewers.
func (p *place) expect(want, got githost.PullRequest) {
	p.Helper()
	if !strings.HasPrefix(got.URL, "http") || !strings.HasSuffix(got.URL, fmt.Sprint("/", got.Number)) {
		p.Errorf("its page is %q", got.URL)
	}
	for _, pr := range []*githost.PullRequest{&want, &got} {
		pr.ID, pr.URL = "", ""
		pr.Labels, pr.Reviewers = slices.Sorted(slices.Values(pr.Labels)), slices.Sorted(slices.Values(pr.Reviewers))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.Errorf("-want +got:\n%s", diff)
	}
}

// refused is [Test.Refused], of an error of the world's host. It returns the error.
func (p *place) refused(err, kind error, field githost.Field, text string) githost.Error {
	p.Helper()
	e := p.Refused(err, kind, field, text)
	if e.Host != p.repo.Host || e.Block != p.repo.Block {
		p.Errorf("the error is of host %q, block %q: %v", e.Host, e.Block, err)
	}
	return e
}

// asking fails the test unless f makes this number of requests to the API.
func (p *place) asking(requests int, f func()) {
	p.Helper()
	before := p.world.Requests()
	f()
	if p.world.Requests()-before != requests {
		p.Errorf("%d requests, want %d", p.world.Requests()-before, requests)
	}
}

// found fails the test unless this pull request is found; 0: none.
func (p *place) found(q githost.Query, want int) {
	p.Helper()
	found, err := p.repo.Find(p.ctx, q)
	number := 0
	if found != nil {
		number = found.Number
	}
	if err != nil || number != want {
		p.Errorf("found %v (%v), want number %d", found, err, want)
	}
}
