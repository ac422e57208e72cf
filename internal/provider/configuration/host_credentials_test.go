package configuration_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// eavesdropper is a server that stores the requests that it receives.
type eavesdropper struct {
	*httptest.Server
	mu  sync.Mutex
	got []string // requests with their headers and bodies
	// the URL to which the server redirects all requests; if it is empty, the server answers 404
	to string
}

func newEavesdropper(t *testing.T) *eavesdropper {
	t.Helper()
	e := &eavesdropper{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		dump, err := httputil.DumpRequest(req, true)
		if err != nil {
			t.Error(err)
		}
		if user, password, basic := req.BasicAuth(); basic {
			dump = fmt.Appendf(dump, "\nbasic %s:%s", user, password)
		}
		e.mu.Lock()
		e.got = append(e.got, string(dump))
		to := e.to
		e.mu.Unlock()
		if to == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Location", to+req.URL.RequestURI())
		w.WriteHeader(http.StatusTemporaryRedirect)
	}))
	t.Cleanup(e.Close)
	return e
}

// received returns the requests since the last call.
func (e *eavesdropper) received() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	got := e.got
	e.got = nil
	return got
}

// with returns the number of requests that contain all of the texts.
func with(requests []string, texts ...string) (n int) {
	for _, one := range requests {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(one, text) }) {
			n++
		}
	}
	return n
}

// TestHostCredentials: the credential in a host's block is sent only to the server of that block, with the API and with
// Git. It is not sent to the target of a redirect, to a mirror of the server's repos, or to the servers of other
// blocks.
func TestHostCredentials(t *testing.T) {
	t.Parallel()
	blocks := map[string]struct{ folder, repo string }{
		"github": {"", "/acme/gitops"}, "gitlab": {"", "/acme/sub/gitops"}, "gitea": {"", "/acme/gitops"},
		"azure_devops": {"/tfs/Main", "/tfs/Main/p/_git/gitops"},
	}
	for block, of := range blocks {
		t.Run(block, func(t *testing.T) {
			t.Parallel()
			servers := map[string]*eavesdropper{}
			given := map[string]any{}
			for other, of := range blocks {
				servers[other] = newEavesdropper(t)
				given[other] = map[string]any{"base_url": servers[other].URL + of.folder, "token": "canary-" + other}
			}
			own, elsewhere := servers[block], newEavesdropper(t)
			repo := own.URL + of.repo
			use := func(config map[string]any, repo string) {
				t.Helper()
				p := &acc.ProtocolRun{T: t, Config: config, Resource: protocol.Resource{Type: "kalypso_commit_status"}}
				_, said := p.TryRun(map[string]any{"repo": repo, "commit": strings.Repeat("ab", 20), "context": "dev",
					"state": "success"})
				_, ds := p.Start().ReadData(t.Context(), "kalypso_control_plane", map[string]any{
					"repo": repo, "branch": "main",
				})
				if !said.HasErrors() || !ds.HasErrors() {
					t.Errorf("%s can be used:\n%s%s", repo, said, ds)
				}
				if strings.Contains(said.String()+ds.String(), "canary") {
					t.Errorf("a secret is shown:\n%s%s", said, ds)
				}
			}
			// none fails the test if a server got a credential. If ownGets is set, the block's own server must have got its
			// credential, with the API and with Git.
			none := func(what string, ownGets bool) {
				t.Helper()
				for other, server := range servers {
					got := server.received()
					secrets, theirs := with(got, "canary")+with(got, "Authorization"), with(got, "canary-"+block)
					api := with(got, "canary-"+block, "/api/") + with(got, "canary-"+block, "/_apis")
					git := with(got, "canary-"+block, "/info/refs")
					if other == block && ownGets && api > 0 && git > 0 && with(got, "canary") == theirs {
						continue
					}
					if secrets > 0 || other == block && ownGets {
						t.Errorf("%s: %s got %d secrets, %d of its own, in %d requests", what, other, secrets, theirs, len(got))
					}
				}
				for _, got := range elsewhere.received() {
					if strings.Contains(got, "canary") || strings.Contains(got, "Authorization") {
						t.Errorf("%s: a server without a block got %s", what, got)
					}
				}
			}
			use(given, repo)
			none("a repo of its own", true)
			for other, server := range servers {
				if other == block {
					continue
				}
				own.to = server.URL
				use(given, repo)
				none("a redirect to "+other, true)
			}
			own.to = elsewhere.URL
			use(given, repo)
			none("a redirect", true)
			own.to = ""

			mirrored := maps.Clone(given)
			mirrored["git_mirrors"] = map[string]any{own.URL + "/": elsewhere.URL + "/"}
			p := &acc.ProtocolRun{T: t, Config: mirrored}
			p.Start().ReadData(t.Context(), "kalypso_control_plane", map[string]any{"repo": repo, "branch": "main"})
			if got := elsewhere.received(); len(got) == 0 || with(got, "canary")+with(got, "Authorization") > 0 {
				t.Errorf("the mirror got %q", got)
			}
			none("a mirror", false)
			use(given, elsewhere.URL+of.repo)
			none("a repo elsewhere", false)
		})
	}
}
