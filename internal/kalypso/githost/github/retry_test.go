package github_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

func seconds(all ...int) (d []time.Duration) {
	for _, s := range all {
		d = append(d, time.Duration(s)*time.Second)
	}
	return d
}

// After a temporary failure, the client waits as long as GitHub says. If GitHub does not say it, each wait is longer
// than the one before. Reads, writes and GraphQL are all retried.
func TestRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		failure func(now time.Time) hostfake.Failure
		want    []time.Duration
	}{
		"primary rate limit, 403": {func(now time.Time) hostfake.Failure {
			return githubfake.PrimaryRateLimit(403, now.Add(90*time.Second))
		}, seconds(91, 1, 1)},
		"primary rate limit, 429": {func(now time.Time) hostfake.Failure {
			return githubfake.PrimaryRateLimit(429, now.Add(90*time.Second))
		}, seconds(91, 1, 1)},
		"secondary rate limit, 403, with Retry-After": {func(time.Time) hostfake.Failure {
			return githubfake.SecondaryRateLimit(403, 42)
		}, seconds(42, 42, 42)},
		"secondary rate limit, 429, with Retry-After": {func(time.Time) hostfake.Failure {
			return githubfake.SecondaryRateLimit(429, 42)
		}, seconds(42, 42, 42)},
		"secondary rate limit, 403": {func(time.Time) hostfake.Failure { return githubfake.SecondaryRateLimit(403, 0) },
			seconds(60, 120, 240)},
		"secondary rate limit, 429": {func(time.Time) hostfake.Failure { return githubfake.SecondaryRateLimit(429, 0) },
			seconds(60, 120, 240)},
		"500": {func(time.Time) hostfake.Failure { return githubfake.ServerError(500, 0) },
			seconds(1, 2, 4)},
		"502": {func(time.Time) hostfake.Failure { return githubfake.ServerError(502, 0) },
			seconds(1, 2, 4)},
		"503, with Retry-After": {func(time.Time) hostfake.Failure { return githubfake.ServerError(503, 17) },
			seconds(17, 17, 17)},
		"504": {func(time.Time) hostfake.Failure { return githubfake.ServerError(504, 0) },
			seconds(1, 2, 4)},
		"rate limit of GraphQL": {func(time.Time) hostfake.Failure {
			return hostfake.Failure{Status: 200,
				Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`}
		}, seconds(60, 120, 240)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ctx := p.within(time.Hour)
			if name != "rate limit of GraphQL" {
				p.fake.Fail("POST", "/pulls", 3, tc.failure(p.clock.Now()))
			}
			opened := must(t)(p.repo.Open(ctx, p.proposal()))
			if name != "rate limit of GraphQL" {
				expectWaits(t, p, tc.want)
				p.fake.Fail("GET", "/pulls/1", 3, tc.failure(p.clock.Now()))
				must(t)(p.repo.Read(ctx, opened.Number))
				expectWaits(t, p, tc.want)
			}
			p.on.Require("main", "ci")
			p.fake.Fail("POST", "/graphql", 3, tc.failure(p.clock.Now()))
			if got := must(t)(p.repo.MergeWhenReady(ctx, opened, githost.Squash)); got.AutoMerge != githost.Squash {
				t.Errorf("auto-merge is %q", got.AutoMerge)
			}
			expectWaits(t, p, tc.want)
		})
	}
}

func expectWaits(t *testing.T, p *place, want []time.Duration) {
	t.Helper()
	if diff := cmp.Diff(want, p.clock.Waited()); diff != "" {
		t.Errorf("waited (-want +got):\n%s", diff)
	}
}

// After a broken connection, the request is repeated. If the first attempt has opened the pull request, the second
// finds it and opens no other.
func TestDroppedConnections(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ctx := p.within(time.Hour)
	p.fake.Fail("POST", "/pulls", 2, hostfake.Dropped())
	p.fake.Fail("POST", "/pulls", 1, hostfake.AnswerLost())
	opened := must(t)(p.repo.Open(ctx, p.proposal()))
	if all := p.on.PullRequests(); len(all) != 1 || opened.Number != 1 || len(p.clock.Waited()) != 3 {
		t.Errorf("opened %+v of %+v", opened, all)
	}
	p.fake.Fail("GET", "", 4, hostfake.Dropped())
	must(t)(p.repo.Find(ctx, query))

	other := p.proposal()
	other.Body = "another text"
	_, err := p.repo.Open(ctx, other)
	expectError(t, err, githost.ErrExists, "A pull request already exists for acme:change.")
}

// After an incomplete answer, the request is repeated.
func TestIncompleteAnswerIsRetried(t *testing.T) {
	t.Parallel()
	broken := 2
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		broken--
		if broken >= 0 {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"number": 7, `)
			return
		}
		fmt.Fprint(w, `{"number": 7}`)
	}))
	defer server.Close()
	c := hostingtest.NewClockNow()
	client, err := github.New(github.Config{Access: httpapi.Access{BaseURL: server.URL, Clock: c}})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := client.Repo(server.URL + "/acme/gitops")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := repo.Read(t.Context(), 7); err != nil || p.Number != 7 || len(c.Waited()) != 2 {
		t.Errorf("%v, %v", p, err)
	}
}

// No attempt waits beyond the deadline, and the error names the cause. Without a deadline, the number of attempts is
// limited.
func TestRetriesEndAtDeadline(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	read := func(ctx context.Context) error {
		_, err := p.repo.Read(ctx, 1)
		return err
	}
	p.fake.Fail("", "", -1, githubfake.PrimaryRateLimit(403, p.clock.Now().Add(time.Hour)))
	err := read(p.within(30 * time.Minute))
	expectError(t, err, githost.ErrRateLimited,
		`read pull request 1 of acme/gitops: the host's rate limit lasts beyond the timeout: "API rate limit exceeded`)
	expectWaits(t, p, nil)

	p.fake.ClearFailures()
	p.fake.Fail("", "", -1, githubfake.ServerError(502, 0))
	expectError(t, read(p.within(time.Minute)), githost.ErrUnavailable,
		`the host is not available: "Bad Gateway" (HTTP 502)`)
	expectWaits(t, p, seconds(1, 2, 4, 8, 16))
	expectError(t, read(context.Background()), githost.ErrUnavailable, "Bad Gateway")
	expectWaits(t, p, seconds(1, 2, 4, 8, 16, 30, 30, 30, 30))

	p.fake.ClearFailures()
	p.fake.Fail("", "", -1, hostfake.Dropped())
	expectError(t, read(p.within(5*time.Second)), githost.ErrUnavailable, "EOF")

	p.fake.ClearFailures()
	p.fake.Fail("", "", -1, hostfake.Slow(time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := read(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, githost.ErrUnavailable) {
		t.Errorf("a slow server: %v", err)
	}
}

// If the server accepts a request but does not answer, the request is repeated.
func TestServerWithoutAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	opened := must(t)(p.repo.Open(t.Context(), p.proposal()))
	p.fake.Fail("", "", 2, hostfake.Slow(time.Minute))
	impatient := p.as(github.Config{Access: httpapi.Access{Token: p.fake.Token, HeaderTimeout: time.Second}})
	must(t)(impatient.Read(t.Context(), opened.Number))
	expectWaits(t, p, seconds(1, 2))
	p.fake.Fail("", "", -1, hostfake.Slow(time.Minute))
	_, err := impatient.Read(p.within(30*time.Second), opened.Number)
	expectError(t, err, githost.ErrUnavailable, "timeout awaiting response headers")
}

// After the last request that the rate limit allows, the client still sends the next request at once: it does not
// compute a wait from the machine's clock, which may be wrong, but lets GitHub refuse.
func TestLastRequestOfRateLimit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	last := githubfake.PrimaryRateLimit(200, time.Now().Add(time.Hour))
	last.Body = `{"number": 1}`
	p.fake.Fail("GET", "/pulls/1", 1, last)
	must(t)(p.repo.Read(t.Context(), 1))
	must(t)(p.repo.Open(t.Context(), p.proposal()))
	expectWaits(t, p, nil)
}

// Errors that a retry can't fix are reported at once, with GitHub's message.
func TestPermanentErrorsAreNotRetried(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, tc := range []struct {
		failure hostfake.Failure
		kind    error
		said    string
	}{
		{githubfake.Forbidden("Resource not accessible by integration"), githost.ErrForbidden,
			`"Resource not accessible by integration" (HTTP 403)`},
		{githubfake.ServerError(404, 0), githost.ErrNotVisible, "not found, or not visible to the credential"},
		{githubfake.ServerError(401, 0), githost.ErrUnauthenticated, "Unauthorized"},
		{githubfake.ServerError(501, 0), githost.ErrRejected, "Not Implemented"},
		{githubfake.ServerError(451, 0), githost.ErrRejected, "Legal"},
		{hostfake.Failure{
			Status: 422,
			Body: `{"message":"Validation Failed",` +
				`"errors":[{"resource":"PullRequest","field":"title","code":"invalid"},"bare"]}`,
		}, githost.ErrRejected, `"Validation Failed: PullRequest title invalid: bare" (HTTP 422)`},
		{hostfake.Failure{Status: 400, Body: "<html>proxy</html>"}, githost.ErrRejected, `"Bad Request" (HTTP 400)`},
		{hostfake.Failure{Status: 200, Body: "<html>proxy</html>"}, githost.ErrRejected,
			"read pull request 1 of acme/gitops"},
		{hostfake.Failure{Status: 302, Header: map[string]string{"Location": "https://elsewhere.acme.io/"}},
			githost.ErrRejected, "HTTP 302"},
	} {
		p.fake.ResetLog()
		p.fake.Fail("", "", 1, tc.failure)
		_, err := p.repo.Read(p.within(time.Hour), 1)
		expectError(t, err, tc.kind, tc.said)
		expectWaits(t, p, nil)
		if n := len(p.fake.Requests()); n != 1 {
			t.Errorf("%v: %d requests", tc.kind, n)
		}
	}
}

// GitHub redirects requests for the old name of a repo. The client sends them again, with method and body.
func TestRenamedRepo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	moved := hostfake.Failure{Status: 301, Header: map[string]string{"Location": p.fake.URL +
		"/api/v3/repos/acme/gitops/pulls"}}
	p.fake.Fail("POST", "/old/pulls", -1, moved)
	repo, err := p.client(github.Config{Access: httpapi.Access{Token: p.fake.Token}}).Repo(p.fake.URL + "/acme/old")
	if err != nil {
		t.Fatal(err)
	}
	if opened := must(t)(repo.Open(t.Context(), p.proposal())); opened.Title != "Title" {
		t.Errorf("opened %+v", opened)
	}
}

// A request to a server that can't be reached is tried five times. If the server's certificate is invalid, it is tried
// once.
func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	tls.Config.ErrorLog = nil
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		base, said string
		waits      int
	}{{closed, "connection refused", 4}, {tls.URL, "certificate", 0}} {
		c := hostingtest.NewClockNow()
		var reasons []error
		client, err := github.New(github.Config{
			Access: httpapi.Access{
				BaseURL: tc.base,
				Clock:   c,
				Token:   "canary",
				OnRetry: func(_ context.Context, reason error, _ time.Duration) {
					reasons = append(reasons, reason)
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		repo, err := client.Repo(tc.base + "/acme/gitops")
		if err != nil {
			t.Fatal(err)
		}
		_, err = repo.Read(t.Context(), 1)
		expectError(t, err, githost.ErrUnavailable, tc.said)
		if n := len(c.Waited()); n != tc.waits || len(reasons) != n {
			t.Errorf("%s: waited %d times, with the reasons %v", tc.base, n, reasons)
		}
	}
}
