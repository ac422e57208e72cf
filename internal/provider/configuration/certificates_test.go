package configuration_test

import (
	"crypto/tls"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// TestHostCertificates: the provider uses the certificates in a host's block with the API and with Git on the server of
// that block. No other server gets them, not even after a redirect.
func TestHostCertificates(t *testing.T) {
	t.Parallel()
	for block, of := range map[string]struct{ folder, repo string }{
		"github": {"", "/acme/gitops"}, "gitlab": {"", "/acme/sub/gitops"}, "gitea": {"", "/acme/gitops"},
		"azure_devops": {"/tfs/Main", "/tfs/Main/p/_git/gitops"},
	} {
		t.Run(block, func(t *testing.T) {
			t.Parallel()
			var git, api atomic.Int32
			var to atomic.Pointer[string]
			own := tlsserver.New(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if strings.HasSuffix(req.URL.Path, "/info/refs") {
					git.Add(1)
				} else {
					api.Add(1)
				}
				if to := to.Load(); to != nil {
					http.Redirect(w, req, *to+req.URL.RequestURI(), http.StatusTemporaryRedirect)
					return
				}
				w.WriteHeader(http.StatusNotFound)
			}), tls.RequireAndVerifyClientCert)
			other := tlsserver.New(t, http.NotFoundHandler(), tls.RequestClientCert)
			use := func(server *tlsserver.Server, more map[string]any) string {
				t.Helper()
				given := map[string]any{"base_url": own.URL + of.folder, "token": "canary-token", "ca_certificate": own.CA,
					"client_certificate": own.Client.Certificate, "client_key": own.Client.Key}
				maps.Copy(given, more)
				p := &acc.ProtocolRun{T: t, Config: map[string]any{block: given},
					Resource: protocol.Resource{Type: "kalypso_commit_status"}}
				_, status := p.TryRun(map[string]any{"repo": own.URL + of.repo, "commit": strings.Repeat("ab", 20),
					"context": "dev", "state": "success"})
				_, read := p.Start().ReadData(t.Context(), "kalypso_control_plane", map[string]any{
					"repo": server.URL + of.repo, "branch": "main",
				})
				said := status.String() + read.String()
				if strings.Contains(said, "canary") || strings.Contains(said, strings.Split(own.Client.Key, "\n")[1]) {
					t.Errorf("a secret is shown:\n%s", said)
				}
				return said
			}
			use(own, nil)
			if git.Load() == 0 || api.Load() == 0 || slices.Contains(own.Presented(), "") {
				t.Errorf("%d requests of Git and %d to the API", git.Load(), api.Load())
			}
			to.Store(&other.URL)
			use(own, map[string]any{"ca_certificate": own.CA + other.CA})
			use(other, map[string]any{"ca_certificate": own.CA + other.CA})
			if got := other.Presented(); len(got) > 0 {
				t.Errorf("another server got requests, with the certificates %q", got)
			}
			for what, tc := range map[string]struct {
				given map[string]any
				says  []string
			}{
				"no authority": {map[string]any{"ca_certificate": nil},
					[]string{"can't be reached", "set ca_certificate in " + block, "set ca_certificate"}},
				"no client certificate": {map[string]any{"client_certificate": nil, "client_key": nil},
					[]string{"can't be reached", "client_certificate and client_key in " + block, "check client_certificate"}},
			} {
				said := use(own, tc.given)
				for _, text := range tc.says {
					if !strings.Contains(said, text) {
						t.Errorf("%s: %q is not in\n%s", what, text, said)
					}
				}
			}
		})
	}
}

// TestInvalidCertificates: certificates and keys that can't be used are errors at their arguments, without the key. An
// unknown value causes no error.
func TestInvalidCertificates(t *testing.T) {
	t.Parallel()
	own := tlsserver.New(t, http.NotFoundHandler(), tls.NoClientCert)
	stranger := tlsserver.NewPair(t)
	server := provider.NewServer("test")
	schemas := protocol.ReadSchemas(t, server)
	for _, block := range []string{"github", "gitlab", "gitea", "azure_devops", "git_credentials"} {
		for what, tc := range map[string]struct {
			given map[string]any
			says  []string // arguments with texts
		}{
			"valid":   {},
			"unknown": {given: map[string]any{"client_key": tftypes.UnknownValue, "ca_certificate": tftypes.UnknownValue}},
			"no key":  {map[string]any{"client_key": nil}, []string{"client_key is required with client_certificate"}},
			"no certificate": {map[string]any{"client_certificate": nil, "ca_certificate": "canary"}, []string{
				"client_certificate is required with client_key",
				`ca_certificate contains no certificate in PEM format ("-----BEGIN CERTIFICATE-----")`}},
			"a key in place of a certificate": {map[string]any{"client_certificate": own.Client.Key}, []string{
				"client_certificate contains a private key, which belongs in client_key; keep only the certificates"}},
			"invalid key": {map[string]any{"client_key": "canary"}, []string{
				`client_key is not a private key in PEM format ("-----BEGIN PRIVATE KEY-----")`}},
			"key of another certificate": {map[string]any{"client_key": stranger.Key}, []string{
				"client_key is not the private key of the first certificate in client_certificate"}},
			"plain http": {map[string]any{"http": true}, []string{"ca_certificate has no effect over plain http",
				"client_certificate has no effect over plain http", "client_key has no effect over plain http"}},
		} {
			given := map[string]any{"ca_certificate": own.CA, "client_certificate": own.Client.Certificate,
				"client_key": own.Client.Key}
			maps.Copy(given, tc.given)
			url, argument := "https://127.0.0.1:1/tfs/Main", "base_url"
			delete(given, "http")
			if what == "plain http" {
				url = "http://127.0.0.1:1/tfs/Main"
			}
			var config any = given
			if block == "git_credentials" {
				config, argument = []any{given}, "url"
			}
			given[argument] = url
			_, ds := schemas.Start(t, server, map[string]any{block: config})
			said := ds.String()
			for _, text := range tc.says {
				argument, _, _ := strings.Cut(text, " ")
				if block == "git_credentials" {
					argument, text = "[0]."+argument, strings.Replace(text, " ", ": ", 1)
				} else {
					argument = "." + argument
				}
				if !strings.Contains(said, text) || !strings.Contains(said, "Attribute: "+block+argument) {
					t.Errorf("%s: %s: %q is not in\n%s", block, what, text, said)
				}
			}
			if strings.Count(said, "ERROR") != len(tc.says) || strings.Contains(said, "canary") ||
				strings.Contains(said, strings.Split(own.Client.Key, "\n")[1]) {
				t.Errorf("%s: %s:\n%s", block, what, said)
			}
		}
	}
}
