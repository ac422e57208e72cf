package gitremote_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const noSuchHash = "7c6d4b0e5a1c7b0c7d5a4e3f2b1a09f8e7d6c5b4"

// TestUnknownObject: every server reports an unknown object with the same error after one request, with and without a
// depth and a filter.
func TestUnknownObject(t *testing.T) {
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
			url, credentials := backend.Start(t, repo)
			var waited waits
			r := open(t, url, credentials, waited.option())
			for _, want := range []gitremote.FetchRequest{
				{}, {Depth: 1}, {Depth: 7}, {Depth: 1, Filter: "blob:none"}, {Filter: "tree:0"}, {Depth: 3, Filter: "tree:0"},
			} {
				want.Wants = []plumbing.Hash{plumbing.NewHash(noSuchHash)}
				err := r.Fetch(t.Context(), want, gitremote.Objects{})
				is(t, err, gitremote.ErrObjectNotServed)
				if !strings.Contains(err.Error(), noSuchHash) || len(waited) > 0 {
					t.Errorf("waited %v: %v", waited, err)
				}
			}
		})
	}
}

// azureServers starts a server over HTTP and one over SSH that behave as Azure Repos.
func azureServers(t *testing.T, repo string) map[string]azureServer {
	t.Helper()
	over, url := gitserver.Serve(t, repo, gitserver.Azure(), gitserver.WithBasic("kalypso", "canary-password"))
	ssh, sshURL := gitserver.ServeAzureSSH(t, repo)
	return map[string]azureServer{
		"http": {over.Azure, url,
			[]gitremote.Credential{{URL: over.URL, Username: "kalypso", Password: "canary-password"}}},
		"ssh": {&ssh.AzureRepos, sshURL,
			[]gitremote.Credential{{URL: "ssh://" + ssh.Host, PrivateKey: ssh.PrivateKey, KnownHosts: ssh.KnownHosts}}},
	}
}

// azureServer is a server with its settings, which a test can change while it runs.
type azureServer struct {
	*gitserver.AzureRepos
	url         string
	credentials []gitremote.Credential
}

// TestAzurePush: a lost race, a protected branch and a missing right are different errors.
func TestAzurePush(t *testing.T) {
	for _, name := range []string{"http", "ssh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			old := plumbing.NewHash(gitserver.Seed(t, repo, "main", map[string]string{"a": "1"}))
			server := azureServers(t, repo)[name]
			r := open(t, server.url, server.credentials)
			remove := gitremote.PushRequest{Branch: main, Old: old}

			w, err := r.Writer(t.Context()) // reads the head before the other push
			if err != nil {
				t.Fatal(err)
			}
			gitserver.Seed(t, repo, "main", map[string]string{"a": "2"})
			err = w.Push(remove)
			w.Close()
			is(t, err, gitremote.ErrBranchMoved)
			if !strings.Contains(err.Error(), "TF401028") {
				t.Errorf("the error does not contain the server's message: %v", err)
			}

			remove.Old = plumbing.NewHash(gitserver.Rev(t, repo, "main"))
			server.Protect("main")
			err = pushTo(t.Context(), r, remove)
			is(t, err, gitremote.ErrProtected)
			is(t, err, gitremote.ErrRejected)

			server.ReadOnly.Store(true)
			err = pushTo(t.Context(), r, remove)
			is(t, err, gitremote.ErrUnauthorized)
			if !strings.Contains(err.Error(), "TF401027") {
				t.Errorf("the error does not contain the server's message: %v", err)
			}
			if at, err := r.Ref(t.Context(), main); err != nil || at != remove.Old {
				t.Errorf("the branch is at %s, %v", at, err)
			}
		})
	}
}

// TestAzureAddresses: the two addresses of a repo in Azure Repos may each have a credential and a mirror. They are
// still one repo.
func TestAzureAddresses(t *testing.T) {
	urls := []string{"https://dev.azure.com/acme/p/_git/r", "https://acme.visualstudio.com/p/_git/r"}
	to := map[string]string{}
	var credentials []gitremote.Credential
	for _, url := range urls {
		credentials = append(credentials, gitremote.Credential{URL: url, BearerToken: "canary"})
		to[url] = "/srv/" + strings.Repeat("x", len(to)+1)
	}
	client, err := gitremote.NewClient(credentials, mirrors(t, to))
	if err != nil {
		t.Fatal(err)
	}
	one, err := client.Remote(urls[0])
	if err != nil {
		t.Fatal(err)
	}
	if two, err := client.Remote(urls[1]); err != nil || one.Key() != two.Key() {
		t.Errorf("%s and %s count as two repos, %v", one, two, err)
	}
}

// TestSignInPage: a web page instead of Git's answer means that the server rejects the credential. The credential is
// not tried again.
func TestSignInPage(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	server, url := gitserver.Serve(t, repo, gitserver.Azure(), gitserver.WithBasic("kalypso", "canary-password"))
	right := []gitremote.Credential{{URL: server.URL, Username: "kalypso", Password: "canary-password"}}
	page := http.Header{"Content-Type": {"Text/HTML; charset=utf-8"}}
	var waited waits
	for name, test := range map[string]struct {
		credentials []gitremote.Credential
		fault       *gitserver.Fault
	}{
		"no credential":    {nil, nil},
		"wrong credential": {[]gitremote.Credential{{URL: server.URL, Username: "kalypso", Password: "canary-wrong"}}, nil},
		"page instead of the fetch": {right,
			&gitserver.Fault{Service: "git-upload-pack", Method: http.MethodPost, Status: http.StatusOK, Header: page}},
		"page instead of the push's greeting": {right,
			&gitserver.Fault{Service: "git-receive-pack", Method: http.MethodGet, Status: http.StatusOK, Header: page}},
		"status 203 without a content type": {right, &gitserver.Fault{Status: http.StatusNonAuthoritativeInfo}},
		"redirect to a page": {right, &gitserver.Fault{Status: http.StatusFound,
			Header: http.Header{"Location": {signInPage(t) + "/_signin?realm=dev.azure.com"}}}},
	} {
		server.ResetLog()
		server.ClearFaults()
		if test.fault != nil {
			server.Fail(*test.fault)
		}
		err := readAll(t.Context(), open(t, url, test.credentials, waited.option()), head)
		is(t, err, gitremote.ErrUnauthorized)
		if len(waited) > 0 || !strings.Contains(err.Error(), "web page") {
			t.Errorf("%s: waited %v: %v", name, waited, err)
		}
		if requests := server.Requests(); test.fault == nil && len(requests) != 1 {
			t.Errorf("%s: %d requests", name, len(requests))
		}
	}
}

// TestAzureWrongKey: if Azure Repos rejects a key, the key is not tried again.
func TestAzureWrongKey(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, url := gitserver.ServeAzureSSH(t, repo)
	other, _ := gitserver.ServeAzureSSH(t, repo)
	var waited waits
	_, err := open(t, url, []gitremote.Credential{
		{URL: "ssh://" + server.Host, PrivateKey: other.PrivateKey, KnownHosts: server.KnownHosts},
	}, waited.option()).Ref(t.Context(), main)
	is(t, err, gitremote.ErrUnauthorized)
	if len(waited) > 0 {
		t.Errorf("waited %v", waited)
	}
}

// signInPage starts a server that answers every request with a web page, and returns its URL.
func signInPage(t *testing.T) string {
	t.Helper()
	s := gitserver.New(t, t.TempDir())
	s.Fail(gitserver.Fault{Times: -1, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte("<html>sign in")})
	return s.URL
}

// TestErrorInPack: a message on channel 3 in the middle of a pack is reported as the server's error, not as a broken
// connection.
func TestErrorInPack(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := plumbing.NewHash(gitserver.Seed(t, repo, "main", map[string]string{"a": "1"}))
	const packHead = "PACK\x00\x00\x00\x02\x00\x00\x00\x03"
	for _, start := range []string{"", "PACK", packHead, packHead + "\x9f"} {
		server, url := gitserver.Serve(t, repo, gitserver.WithProtocolV0())
		body := gitserver.Packet("NAK\n") + gitserver.Packet("\x02counting\n")
		if start != "" {
			body += gitserver.Packet("\x01" + start)
		}
		server.Fail(gitserver.Fault{
			Method: http.MethodPost, Status: http.StatusOK, Times: -1,
			Body: []byte(body + gitserver.Packet("\x03TF401035: The object '"+noSuchHash+"' does not exist.\n") + "0000"),
		})
		var waited waits
		want := gitremote.FetchRequest{Wants: []plumbing.Hash{head}}
		err := open(t, url, nil, waited.option()).Fetch(t.Context(), want, gitremote.Objects{})
		is(t, err, gitremote.ErrObjectNotServed)
		if len(waited) > 0 {
			t.Errorf("%q: waited %v", start, waited)
		}
	}
}

// TestAzureServerRefusals: our test server refuses the same requests as Azure Repos.
func TestAzureServerRefusals(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	for name, server := range azureServers(t, repo) {
		r := open(t, server.url, server.credentials)
		want := gitremote.FetchRequest{Wants: []plumbing.Hash{plumbing.NewHash(head)}, Filter: "blob:limit=1k"}
		err := r.Fetch(t.Context(), want, gitremote.Objects{})
		if err == nil || !strings.Contains(err.Error(), "blob:limit") {
			t.Errorf("%s: filter that Azure Repos refuses: got %v", name, err)
		}
	}
	_, url := gitserver.Serve(t, repo, gitserver.Azure())
	body := gitserver.Packet("want "+head+" side-band-64k\n") + "0000" + gitserver.Packet("done\n")
	res, err := http.Post(url+"/git-upload-pack", "application/x-git-upload-pack-request", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "TF401041") {
		t.Errorf("without multi_ack: %s %s", res.Status, text)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/info/refs?service=git-upload-pack", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Git-Protocol", "version=2")
	res, err = http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ = io.ReadAll(res.Body)
	if strings.Contains(string(text), "version 2") || !strings.Contains(string(text), head) {
		t.Errorf("asked for version 2: %s", text)
	}
}
