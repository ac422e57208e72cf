package httpapi_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/proxies"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// certificatesOf returns the configuration with the authority of a server, and a client's certificate and key.
func certificatesOf(t *testing.T, server *tlsserver.Server, client tlsserver.Pair) *servertls.Config {
	t.Helper()
	return servertls.Certificates{Authorities: server.CA, Client: client.Certificate, ClientKey: client.Key}.Parse(true,
		func(field, reason string) { t.Fatalf("%s %s", field, reason) })
}

// ask sends a request to an API. It returns the error, and how long the client waited between attempts.
func ask(t *testing.T, api string, certificates *servertls.Config) (waited time.Duration, err error) {
	t.Helper()
	root, err := url.Parse(api + "/")
	if err != nil {
		t.Fatal(err)
	}
	clock := hostingtest.NewClockNow()
	client := httpapi.New(httpapi.Config{
		Access:  httpapi.Access{Clock: clock, Certificates: certificates},
		Host:    "Host",
		Roots:   []*url.URL{root},
		Message: func([]byte) string { return "" }, RawRefusals: true,
		Limited: func(*http.Response, []byte) (time.Time, bool) { return time.Time{}, false },
	}).Client(httpapi.TokenAuthorization("token"))
	start := clock.Now()
	ctx, cancel := context.WithDeadline(t.Context(), start.Add(5*time.Minute))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/user", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return clock.Now().Sub(start), err
}

// TestCertificates: the server of an API gets the client certificate, but the target of a redirect does not. If the
// server refuses the certificate, the request fails soon.
func TestCertificates(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	server := tlsserver.New(t, ok, tls.RequireAndVerifyClientCert)
	if _, err := ask(t, server.URL, certificatesOf(t, server, server.Client)); err != nil ||
		!slices.Equal(server.Presented(), []string{"client"}) {
		t.Errorf("with authority and client certificate: %v", err)
	}
	for name, certificates := range map[string]*servertls.Config{
		"no client certificate":            certificatesOf(t, server, tlsserver.Pair{}),
		"certificate of another authority": certificatesOf(t, server, tlsserver.NewPair(t)),
		"no authority":                     nil,
	} {
		waited, err := ask(t, server.URL, certificates)
		if err == nil || servertls.Advice(err) == "" || waited > 30*time.Second {
			t.Errorf("%s: %v after %s", name, err, waited)
		}
	}

	target := tlsserver.New(t, ok, tls.RequestClientCert)
	asked := tlsserver.New(t, http.RedirectHandler(target.URL+"/user", http.StatusFound), tls.RequireAndVerifyClientCert)
	asked.CA += target.CA
	if _, err := ask(t, asked.URL, certificatesOf(t, asked, asked.Client)); err == nil ||
		!strings.Contains(err.Error(), "outside its API") || len(target.Presented()) > 0 {
		t.Errorf("a redirect: %v", err)
	}
}

// TestProxyOverTLS: the authority that is configured for a server is not trusted for a proxy over TLS.
func TestProxyOverTLS(t *testing.T) {
	server := tlsserver.New(t, http.NotFoundHandler(), tls.RequestClientCert)
	certificates := certificatesOf(t, server, server.Client)
	t.Setenv("HTTPS_PROXY", strings.Replace(server.URL, "://", "://me:canary@", 1))
	waited, err := ask(t, "https://api.acme.test", certificates)
	if err == nil || !strings.Contains(err.Error(), "certificate signed by unknown authority") ||
		strings.Contains(err.Error(), "canary") || len(server.Presented()) > 0 || waited > time.Minute {
		t.Errorf("%v after %s", err, waited)
	}
	direct := tlsserver.New(t, http.NotFoundHandler(), tls.RequireAndVerifyClientCert) // on loopback: not over the proxy
	if _, err = ask(t, direct.URL, certificatesOf(t, direct, direct.Client)); err != nil {
		t.Errorf("without the proxy: %v", err)
	}
}

// TestProxyDown: if the proxy does not answer, or refuses the SOCKS5 password, the request fails after a few attempts.
func TestProxyDown(t *testing.T) {
	down := httptest.NewServer(nil)
	down.Close()
	socks, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socks.Close() })
	go func() {
		for {
			conn, err := socks.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 100)) // the methods that the client offers
			_, _ = conn.Write([]byte{5, 2})     // the proxy asks for a password
			_, _ = conn.Read(make([]byte, 100))
			_, _ = conn.Write([]byte{1, 1}) // the password is wrong
			_ = conn.Close()
		}
	}()
	for _, address := range []string{
		strings.Replace(down.URL, "://", "://me:canary@", 1), "socks5://me:canary@" + socks.Addr().String(),
		strings.Replace(down.URL, "http://", "socks5://me:canary@", 1),
	} {
		t.Setenv("HTTPS_PROXY", address)
		_, host, _ := strings.Cut(address, "@")
		waited, err := ask(t, "https://api.acme.test", nil)
		if err == nil || !strings.Contains(err.Error(), host) || strings.Contains(err.Error(), "canary") ||
			waited > time.Minute {
			t.Errorf("%s: %v after %s", address, err, waited)
		}
	}
}

// TestRealProxies: requests are sent over each kind of proxy, with the client certificate for the server.
func TestRealProxies(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	server := tlsserver.New(t, ok, tls.RequireAndVerifyClientCert)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "https://"))
	free, locked := proxies.Tinyproxy(t, "", "", port), proxies.Tinyproxy(t, "me", "canary", port)
	socks := proxies.Microsocks(t, "me", "canary")
	for value, tc := range map[string]struct {
		by   *proxies.Proxy
		says string // a part of the error; empty if the request must succeed
	}{
		"http://" + free.Address:                {free, ""},
		"http://me:canary@" + locked.Address:    {locked, ""},
		"http://" + locked.Address:              {locked, "407"},
		"http://me:canary2@" + locked.Address:   {locked, "401"},
		"socks5://me:canary@" + socks.Address:   {socks, ""},
		"socks5h://me:canary2@" + socks.Address: {socks, socks.Address},
	} {
		t.Setenv("HTTPS_PROXY", value)
		before := tc.by.Connections(proxies.Server + ":" + port)
		waited, err := ask(t, proxies.Through(server.URL), certificatesOf(t, server, server.Client))
		switch connected := tc.by.Connections(proxies.Server+":"+port) > before; {
		case tc.says == "" && (err != nil || !connected):
			t.Errorf("%s: connected over the proxy: %v, %v", value, connected, err)
		case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says) ||
			!strings.Contains(err.Error(), tc.by.Address) || strings.Contains(err.Error(), "canary") || waited > time.Minute):
			t.Errorf("%s: %v after %s", value, err, waited)
		}
	}
}
