package githubfake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// The caller sees each kind of failure as often as the test asks for it.
func TestFailures(t *testing.T) {
	c, r := start(t)
	branch(t, r, "change", "a")
	reset := time.Now().Add(time.Hour)
	for name, tc := range map[string]struct {
		failure hostfake.Failure
		status  int
		header  map[string]string
		said    string
	}{
		"primary": {githubfake.PrimaryRateLimit(403, reset), 403,
			map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(reset.Unix())},
			"API rate limit exceeded"},
		"secondary": {githubfake.SecondaryRateLimit(403, 0), 403,
			map[string]string{"Retry-After": "", "X-RateLimit-Remaining": "4999"}, "secondary rate limit"},
		"secondary 429": {githubfake.SecondaryRateLimit(429, 7), 429, map[string]string{"Retry-After": "7"},
			"secondary rate limit"},
		"server": {githubfake.ServerError(502, 0), 502, map[string]string{"Retry-After": ""}, "Bad Gateway"},
		"server asks": {githubfake.ServerError(503, 3), 503, map[string]string{"Retry-After": "3"},
			"Service Unavailable"},
		"forbidden":          {githubfake.Forbidden("Nope"), 403, map[string]string{"X-RateLimit-Remaining": "4999"}, "Nope"},
		"dropped connection": {hostfake.Dropped(), 0, nil, ""},
	} {
		c.s.Fail("POST", "/pulls", 1, tc.failure)
		c.expect(200, "", "GET", pulls, nil)
		status, header, answer := c.do("POST", pulls, propose("change"))
		if said := fmt.Sprint(answer["message"]); status != tc.status || tc.said != "" && !strings.Contains(said, tc.said) {
			t.Errorf("%s: %d %s", name, status, said)
		}
		for h, want := range tc.header {
			if got := header.Get(h); got != want {
				t.Errorf("%s: %s is %q, want %q", name, h, got, want)
			}
		}
	}
	if got := r.PullRequests(); len(got) != 0 {
		t.Errorf("what failed took effect: %v", got)
	}
	c.s.ResetLog()
	c.s.Fail("", "/pulls", 2, hostfake.AnswerLost())
	c.expect(0, "", "POST", pulls, propose("change"))
	c.expect(0, "", "GET", pulls, nil)
	c.expect(422, "already exists", "POST", pulls, propose("change"))
	c.s.Fail("", "", -1, hostfake.Slow(30*time.Millisecond))
	began := time.Now()
	c.expect(200, "", "GET", pulls, nil)
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("a slow answer took %v", took)
	}
	c.s.ClearFailures()
	var log []string
	for _, q := range c.s.Requests() {
		log = append(log, fmt.Sprint(q.Method, q.Path, q.Status))
	}
	// The transport itself repeats a GET if an idle connection was closed.
	if diff := cmp.Diff([]string{"POST/repos/acme/gitops/pulls0", "GET/repos/acme/gitops/pulls0",
		"POST/repos/acme/gitops/pulls422", "GET/repos/acme/gitops/pulls200"}, log); diff != "" {
		t.Error(diff)
	}
}
