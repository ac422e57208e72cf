package gitremote_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestRedirectedCredential: the target of a redirect gets a credential only if it is on the requested server, and the
// credential matches the requested URL as well as the target's.
func TestRedirectedCredential(t *testing.T) {
	target, origin := startRedirect(t)
	for name, tc := range map[string]struct {
		url     string // of the credential
		to      string // the target of the repository /team
		goes    bool   // the target gets the credential
		refused bool   // a push is not redirected
	}{
		"credential for the target, which has another port": {url: target.URL, to: target.URL + "/private.git",
			refused: true},
		"credential for the origin, target on another port": {url: origin.URL, to: target.URL + "/private.git",
			refused: true},
		"credential for the target": {url: origin.URL + "/private",
			to: origin.URL + "/private.git"},
		"credential for the origin": {url: origin.URL + "/team", to: origin.URL + "/private.git"},
		"credential for origin and target": {url: origin.URL, to: origin.URL + "/private.git",
			goes: true},
		"credential for the origin, target with .git added": {url: origin.URL + "/team",
			to: origin.URL + "/team.git", goes: true},
		"credential for both, target with a backslash": {url: origin.URL, to: origin.URL + "/x/..%5Cprivate.git"},
		"credential for both, target with .. escaped twice": {url: origin.URL,
			to: origin.URL + "/x/%252e%252e/private.git"},
		"credential for both, target with an escaped slash": {url: origin.URL, to: origin.URL + "/x%2Fprivate.git"},
	} {
		for kind, open := range map[string]func(url string) remote{
			"basic": func(url string) remote {
				return open(t, url, []gitremote.Credential{{URL: tc.url, Username: "me", Password: "canary"}})
			},
			"bearer": func(url string) remote {
				return open(t, url, []gitremote.Credential{{URL: tc.url, BearerToken: "canary"}})
			},
			"login function": func(url string) remote {
				return open(t, url, nil, loginFunc(func(repo string) (gitremote.Login, error) {
					if rest, ok := strings.CutPrefix(repo, tc.url); ok && (rest == "" || rest == ".git" || rest[0] == '/') {
						return gitremote.Login{Username: "me", Password: "canary"}, nil
					}
					return gitremote.Login{}, nil
				}))
			},
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				origin.to = tc.to
				for _, push := range []bool{false, true} {
					origin.got, origin.there = nil, nil
					target.ResetLog()
					r := open(origin.URL + "/team")
					var err error
					if push {
						err = pushTo(t.Context(), r, gitremote.PushRequest{Branch: main, Pack: strings.NewReader("")})
						if tc.refused {
							is(t, err, gitremote.ErrRedirected)
						}
					} else {
						_, err = r.Ref(t.Context(), main)
					}
					there := origin.there
					for _, r := range target.Requests() {
						there = append(there, r.Authorization)
					}
					if len(there) == 0 && (!push || !tc.refused) {
						t.Errorf("push %t: the request was not redirected: %v", push, err)
					}
					if push && tc.refused && len(there) > 0 {
						t.Errorf("the push was redirected: %q", there)
					}
					for _, authorization := range there {
						if (authorization != "") != tc.goes {
							t.Errorf("push %t: the target got the credential: %t, want %t", push, authorization != "", tc.goes)
						}
					}
				}
			})
		}
	}
}

// TestRedirectToSSH: a redirect to SSH is not followed, even with a key for the target.
func TestRedirectToSSH(t *testing.T) {
	server := gitserver.NewSSH(t)
	_, origin := startRedirect(t)
	origin.to = server.URL(gitserver.InitBare(t))
	_, err := open(t, origin.URL+"/team", []gitremote.Credential{
		{URL: "ssh://" + server.Host, PrivateKey: server.PrivateKey, KnownHosts: server.KnownHosts},
	}).Ref(t.Context(), main)
	is(t, err, gitremote.ErrRedirected)
}

// TestRedirectToPlainHTTP: a redirect from https to http is not followed.
func TestRedirectToPlainHTTP(t *testing.T) {
	plain, url := gitserver.Serve(t, gitserver.InitBare(t))
	secure, asked := gitserver.Serve(t, gitserver.InitBare(t), gitserver.WithTLS())
	secure.Fail(gitserver.Fault{Status: http.StatusFound, Header: http.Header{"Location": {url + "/info/refs"}}})
	_, err := open(t, asked, []gitremote.Credential{{URL: secure.URL, CACertificate: secure.CA}}).Ref(t.Context(), main)
	is(t, err, gitremote.ErrRedirected)
	if got := plain.Requests(); len(got) > 0 {
		t.Errorf("the plain server got %+v", got)
	}
}

// TestRedirectLoop: at most ten redirects are followed.
func TestRedirectLoop(t *testing.T) {
	_, origin := startRedirect(t)
	origin.to = origin.URL + "/team"
	_, err := open(t, origin.URL+"/team", nil).Ref(t.Context(), main)
	is(t, err, gitremote.ErrRedirected)
	if n := len(origin.got); n != 10 || !strings.Contains(err.Error(), "more than 10 times") {
		t.Errorf("after %d requests: %v", n, err)
	}
}

// TestRedirectedPost: a POST, which fetches or pushes a pack, follows no redirect, whatever its status.
func TestRedirectedPost(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	target, elsewhere := gitserver.Serve(t, repo)
	server, url := gitserver.Serve(t, repo)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, service := range []string{"git-upload-pack", "git-receive-pack"} {
			for _, to := range []string{elsewhere, server.URL + "/other.git"} {
				server.ClearFaults()
				server.ResetLog()
				server.Fail(gitserver.Fault{
					Service: service, Method: http.MethodPost, Status: status,
					Header: http.Header{"Location": {to + "/" + service}},
				})
				r := open(t, url, nil)
				var err error
				if service == "git-upload-pack" {
					err = readAll(t.Context(), r, head)
				} else {
					push := gitremote.PushRequest{Branch: main, Old: plumbing.NewHash(head), Pack: strings.NewReader("pack"), Size: 4}
					err = pushTo(t.Context(), r, push)
				}
				is(t, err, gitremote.ErrRedirected)
				got := target.Requests()
				for _, request := range server.Requests() {
					if strings.Contains(request.Path, "other") {
						got = append(got, request)
					}
				}
				if len(got) > 0 {
					t.Errorf("%s, %d: the target got %+v", service, status, got)
				}
			}
		}
	}
}

// TestRedirectedBody: no error shows a body from the target of a redirect. The body may come from a server that only
// this machine can reach.
func TestRedirectedBody(t *testing.T) {
	internal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "internal", http.StatusForbidden)
	}))
	defer internal.Close()
	_, origin := startRedirect(t)
	git := "http://" + startAnswer(t, "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n"+
		"Connection: close\r\n\r\n0025ERR Permission to internal denied")
	for _, to := range []string{internal.URL, origin.URL + "/forbidden", git} {
		origin.to = to
		_, err := open(t, origin.URL+"/team", nil).Ref(t.Context(), main)
		is(t, err, gitremote.ErrUnauthorized)
		if strings.Contains(err.Error(), "internal") || !strings.Contains(err.Error(), "after a redirect to "+to) {
			t.Errorf("got %v", err)
		}
	}
}

// TestAmbiguousPath: if servers may read a URL's path in different ways, no credential is sent, over HTTP or SSH.
func TestAmbiguousPath(t *testing.T) {
	server, _ := gitserver.Serve(t, gitserver.InitBare(t))
	ssh := gitserver.NewSSH(t)
	for _, path := range []string{
		"/acme/..%5Cevil", "/acme/%252e%252e/evil", "/acme/../evil", "/acme/./evil", "/acme/%2e%2e/evil", "/acme/..;/evil",
		"/acme/..%20/evil", "/acme/%255c", "/acme/x%00", "/acme/x%0A", "/acme/.../evil", "/acme/%25u002e",
	} {
		server.ResetLog()
		client := func(credential gitremote.Credential) *gitremote.Client {
			client, err := gitremote.NewClient([]gitremote.Credential{credential},
				loginFunc(func(string) (gitremote.Login, error) {
					return gitremote.Login{Username: "me", Password: "canary"}, nil
				}))
			if err != nil {
				t.Fatal(err)
			}
			return client
		}
		for _, credential := range []gitremote.Credential{
			{URL: server.URL, Username: "me", Password: "canary"},
			{URL: server.URL + "/acme", BearerToken: "canary"},
		} {
			r, err := client(credential).Remote(server.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = remote{r}.Ref(t.Context(), main)
			says := err != nil && strings.Contains(err.Error(), "no credential is sent because the URL has a path")
			if err == nil || errors.Is(err, gitremote.ErrRepoNotFound) && !says {
				t.Errorf("%s: the error does not say why there is no credential: %v", path, err)
			}
		}
		for _, r := range server.Requests() {
			if r.Authorization != "" {
				t.Errorf("%s: the server got a credential with %s", path, r.Path)
			}
		}
		key := gitremote.Credential{URL: "ssh://" + ssh.Host, PrivateKey: ssh.PrivateKey, KnownHosts: ssh.KnownHosts}
		r, err := client(key).Remote("ssh://" + ssh.User + "@" + ssh.Host + path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = remote{r}.Ref(t.Context(), main)
		is(t, err, gitremote.ErrUnauthorized)
	}
	ambiguous := gitremote.Credential{URL: server.URL + "/acme/..%5Cevil", BearerToken: "canary"}
	if _, err := gitremote.NewClient([]gitremote.Credential{ambiguous}); err == nil {
		t.Error("a credential for an ambiguous path is accepted")
	}
}

// redirector redirects requests for /team, and answers all other requests with status 403.
type redirector struct {
	*httptest.Server
	to    string
	got   []string // the Authorization headers of requests for /team
	there []string // the Authorization headers of all other requests
}

// startRedirect starts a server with the repo private.git, and a server that redirects.
func startRedirect(t *testing.T) (*gitserver.Server, *redirector) {
	t.Helper()
	repo := gitserver.InitBare(t)
	root := filepath.Dir(repo)
	gitserver.Git(t, root, "clone", "--quiet", "--bare", repo, "private.git")
	o := &redirector{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, ok := strings.CutPrefix(r.RequestURI, "/team/")
		if ok {
			o.got = append(o.got, r.Header.Get("Authorization"))
			w.Header().Set("Location", o.to+"/"+rest)
			w.WriteHeader(http.StatusFound)
			return
		}
		o.there = append(o.there, r.Header.Get("Authorization"))
		http.Error(w, "internal", http.StatusForbidden)
	}))
	t.Cleanup(o.Close)
	return gitserver.New(t, root), o
}
