package source_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A data source times out if a server accepts a request or a connection and does not answer.
func TestAccDataSourceTimeouts(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Commit("silent", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("shop", "test")})
	h.Fail(gitserver.Fault{Hang: true, Times: -1})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }() // it accepts no connections
	key := gitserver.NewSSH(t)
	at := silent.Addr().String()
	_, port, _ := strings.Cut(at, ":")
	_, hostKey, _ := strings.Cut(key.KnownHosts, " ")

	r := acc.NewRootFrom(t, "testdata/TestAccDataSourceTimeouts")
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{
		"http": h.URL, "password": acc.GitHostPassword, "ssh": "ssh://git@" + at, "private_key": key.PrivateKey,
		"known_hosts": "[127.0.0.1]:" + port + " " + hostKey,
	}))
	start := time.Now()
	out := r.Terraform("plan", "-no-color")
	took := time.Since(start)
	if n := strings.Count(out.Text(), ": Timeout exceeded"); n != 4 ||
		!strings.Contains(out.Text(), "Raise timeouts") {
		t.Errorf("%d of 4 data sources ran out of time:\n%s", n, out.Text())
	}
	if took > time.Minute {
		t.Errorf("the plan took %s", took)
	}
}

// Requests to a busy server are retried, during plan and during apply.
func TestAccBusyServer(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t, gitserver.WithFilter())
	h.Dir("gitops")
	h.Commit("shop-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("shop", "test")})
	r := newWorkloads(t, h, map[string]string{"shop": "shop-src"})
	busy := func() {
		after := http.Header{"Retry-After": {"0"}}
		h.Fail(gitserver.Fault{Service: "git-upload-pack", Status: http.StatusServiceUnavailable, Header: after, Times: 2})
		h.Fail(gitserver.Fault{
			Service: "git-receive-pack", Method: http.MethodGet, Status: http.StatusTooManyRequests, Header: after,
		})
		h.DropAnswer()
	}
	busy()
	r.Apply()
	busy()
	r.ExpectEmptyPlan()
	if log := gitserver.Log(t, h.Dir("gitops"), "dev"); len(log) != 1 {
		t.Errorf("the branch has the commits %q", log)
	}
}
