package gitremote_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/proxies"
)

// TestProxyRefusal: if a proxy refuses to connect, the error names the proxy without its password.
func TestProxyRefusal(t *testing.T) {
	for _, status := range []int{401, 403, 407, 500} {
		for _, scheme := range []string{"https", "http"} {
			if scheme == "http" && status != http.StatusProxyAuthRequired {
				continue // over http, this answer could come from the server, too
			}
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, "refused "+r.Header.Get("Proxy-Authorization"), status)
			}))
			t.Setenv("HTTPS_PROXY", strings.Replace(proxy.URL, "://", "://me:canary@", 1))
			t.Setenv("HTTP_PROXY", strings.Replace(proxy.URL, "://", "://me:canary@", 1))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := open(t, scheme+"://git.acme.test/team/repo", nil).Ref(ctx, main)
			cancel()
			proxy.Close()
			is(t, err, gitremote.ErrUnreachable)
			if text := err.Error(); !strings.Contains(text, fmt.Sprintf("the proxy %s refuses the connection: HTTP status %d",
				proxy.URL, status)) || strings.Contains(text, "canary") {
				t.Errorf("%s, %d: %v", scheme, status, err)
			}
		}
	}
}

// TestProxyAddress: if HTTPS_PROXY contains an invalid address, the error names the variable without the password.
func TestProxyAddress(t *testing.T) {
	for _, value := range []string{
		"http://me:canary%zz@proxy", "gopher://me:canary@proxy", "http://me:canary@proxy:port",
	} {
		t.Setenv("HTTPS_PROXY", value)
		_, err := open(t, "https://git.acme.test/team/repo", nil).Ref(t.Context(), main)
		if err == nil || !strings.Contains(err.Error(), "HTTPS_PROXY") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestSSHProxy: if SSH can't use the proxy in ALL_PROXY, this is an error, unless NO_PROXY names the server.
func TestSSHProxy(t *testing.T) {
	server := gitserver.NewSSH(t)
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "b"})
	ref := func() error {
		_, err := open(t, server.URL(repo), []gitremote.Credential{
			{URL: "ssh://" + server.Host, PrivateKey: server.PrivateKey, KnownHosts: server.KnownHosts},
		}).Ref(t.Context(), main)
		return err
	}
	for value, want := range map[string]string{
		"http://me:canary@127.0.0.1:1": "can't use the proxy in ALL_PROXY", "gopher://x": "can't use the proxy in ALL_PROXY",
		"me:canary@x:1080": "can't use the proxy in ALL_PROXY", "socks5://127.0.0.1:1": "127.0.0.1:1",
	} {
		t.Setenv("NO_PROXY", "other.test")
		t.Setenv("ALL_PROXY", value)
		if err := ref(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", value, err)
		}
		t.Setenv("NO_PROXY", "127.0.0.1,localhost")
		if err := ref(); err != nil {
			t.Errorf("%s, although NO_PROXY names the server: %v", value, err)
		}
	}
	t.Setenv("ALL_PROXY", "")
	if err := ref(); err != nil {
		t.Error(err)
	}
}

// TestRedirectTargetNeedsItsOwnAuthority: a CA that is trusted for the requested server is not trusted for the target
// of a redirect.
func TestRedirectTargetNeedsItsOwnAuthority(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "b"})
	target, to := gitserver.Serve(t, repo, gitserver.WithTLS())
	asked, url := gitserver.Serve(t, gitserver.InitBare(t), gitserver.WithTLS())
	for name, tc := range map[string]struct {
		credentials []gitremote.Credential
		trusted     bool
	}{
		"both CAs trusted for the requested server": {[]gitremote.Credential{
			{URL: asked.URL, CACertificate: asked.CA + target.CA}}, false},
		"target's CA trusted for the target": {[]gitremote.Credential{{URL: asked.URL, CACertificate: asked.CA},
			{URL: target.URL, CACertificate: target.CA}}, true},
	} {
		asked.Fail(gitserver.Fault{Status: http.StatusFound, Header: http.Header{
			"Location": {to + "/info/refs?service=git-upload-pack"}}})
		before := len(target.Requests())
		_, err := open(t, url, tc.credentials).Ref(t.Context(), main)
		if (err == nil) != tc.trusted || (len(target.Requests()) > before) != tc.trusted {
			t.Errorf("%s: %v, requests %v", name, err, target.Requests())
		}
		if err != nil && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTinyproxy: the error also names a real proxy without its password. Tinyproxy wants a password, and allows port
// 443 only.
func TestTinyproxy(t *testing.T) {
	address := proxies.Tinyproxy(t, "me", "canary", "443").Address
	for url, tc := range map[string]struct{ proxy, says string }{
		"https://git.acme.test/team/repo":      {address, "407"},
		"https://git2.acme.test/team/repo":     {"me:canary2@" + address, "401"},
		"https://git.acme.test:8443/team/repo": {"me:canary@" + address, "403"},
		"https://git.acme.invalid/team/repo":   {"me:canary@" + address, "500"},
	} {
		t.Setenv("HTTPS_PROXY", "http://"+tc.proxy)
		_, err := open(t, url, nil).Ref(t.Context(), main)
		is(t, err, gitremote.ErrUnreachable)
		if text := err.Error(); !strings.Contains(text, "the proxy http://"+address+" refuses the connection: HTTP status "+
			tc.says) || strings.Contains(text, "canary") {
			t.Errorf("%s over %s: %v", url, tc.proxy, err)
		}
	}
}

// TestRealProxies: Git over HTTPS works over each kind of proxy, also if the server wants a client certificate. Git
// over SSH works over a SOCKS5 proxy. No proxy is used for a server that NO_PROXY names.
func TestRealProxies(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "b"})
	server, url := serveTLS(t, repo, tls.RequireAndVerifyClientCert)
	ssh := gitserver.NewSSH(t)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "https://"))
	credentials := []gitremote.Credential{
		withClient(proxies.Through(server.URL), server),
		{URL: "ssh://" + ssh.Host, PrivateKey: ssh.PrivateKey, KnownHosts: ssh.KnownHosts},
	}
	free, locked := proxies.Tinyproxy(t, "", "", port), proxies.Tinyproxy(t, "me", "canary", port)
	freeSocks, lockedSocks := proxies.Microsocks(t, "", ""), proxies.Microsocks(t, "me", "canary")
	for _, tc := range []struct {
		variable, scheme string
		by               *proxies.Proxy
		ssh, fails       bool
	}{
		{"HTTPS_PROXY", "http://", free, false, false},
		{"HTTPS_PROXY", "", free, false, false},
		{"https_proxy", "http://me:canary@", locked, false, false},
		{"HTTPS_PROXY", "socks5://", freeSocks, false, false},
		{"HTTPS_PROXY", "socks5h://me:canary@", lockedSocks, false, false},
		{"HTTPS_PROXY", "socks5://me:canary2@", lockedSocks, false, true},
		{"ALL_PROXY", "socks5://", freeSocks, true, false},
		{"all_proxy", "socks5h://me:canary@", lockedSocks, true, false},
		{"ALL_PROXY", "socks5://me:canary2@", lockedSocks, true, true},
		{"ALL_PROXY", "socks5://", lockedSocks, true, true},
	} {
		t.Run(tc.variable+" "+tc.scheme, func(t *testing.T) {
			t.Setenv(tc.variable, tc.scheme+tc.by.Address)
			url, to := proxies.Through(url), proxies.Server+":"+port
			if tc.ssh {
				url, to = ssh.URL(repo), ssh.Host
			}
			before := tc.by.Connections(to)
			_, err := open(t, url, credentials).Ref(t.Context(), main)
			switch connected := tc.by.Connections(to) > before; {
			case tc.fails:
				is(t, err, gitremote.ErrUnreachable)
				if !strings.Contains(err.Error(), tc.by.Address) {
					t.Errorf("the error does not name the proxy: %v", err)
				}
			case err != nil || !connected:
				t.Errorf("connected over the proxy: %t, %v", connected, err)
			}
			t.Setenv("NO_PROXY", "127.0.0.1,"+proxies.Server)
			before = tc.by.Connections(to)
			if _, err = open(t, url, credentials).Ref(t.Context(), main); err != nil || tc.by.Connections(to) > before {
				t.Errorf("NO_PROXY does not exclude the server: %v", err)
			}
		})
	}
}
