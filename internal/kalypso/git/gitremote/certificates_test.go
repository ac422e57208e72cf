package gitremote_test

import (
	"crypto/tls"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// serveTLS starts a server for a repo that asks for client certificates, and returns it with the repo's URL.
func serveTLS(
	t *testing.T, repo string, wanted tls.ClientAuthType, options ...gitserver.Option,
) (server *tlsserver.Server, url string) {
	t.Helper()
	_, handler := gitserver.Handler(t, filepath.Dir(repo), options...)
	server = tlsserver.New(t, handler, wanted)
	return server, server.URL + "/" + filepath.Base(repo)
}

// withClient returns a credential with the CA and the client certificate of a server.
func withClient(url string, of *tlsserver.Server) gitremote.Credential {
	return gitremote.Credential{
		URL: url, CACertificate: of.CA, ClientCertificate: of.Client.Certificate, ClientKey: of.Client.Key,
	}
}

// TestClientCertificate: a server that requires a client certificate gets the certificate of the credential. If no
// credential matches, it gets the certificate for its host.
func TestClientCertificate(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "b"})
	server, url := serveTLS(t, repo, tls.RequireAndVerifyClientCert)
	stranger := tlsserver.NewPair(t)
	trusted := gitremote.Credential{URL: server.URL, CACertificate: server.CA}
	certificates := func(of string) *servertls.Config {
		if !strings.HasPrefix(of, server.URL) {
			return nil
		}
		return servertls.Certificates{
			Authorities: server.CA, Client: server.Client.Certificate, ClientKey: server.Client.Key,
		}.Parse(true, func(field, reason string) { t.Errorf("%s %s", field, reason) })
	}
	forHost := func(s *gitremote.Settings) { s.TLS = certificates }
	unknown := trusted
	unknown.ClientCertificate, unknown.ClientKey = stranger.Certificate, stranger.Key
	const missing = "client_certificate and client_key"
	for name, tc := range map[string]struct {
		credentials []gitremote.Credential
		options     []gitremote.Option
		says        string // a part of the error; empty if the request must succeed
	}{
		"certificate of the credential": {credentials: []gitremote.Credential{withClient(server.URL, server)}},
		"certificate for the host":      {options: []gitremote.Option{forHost}},
		"certificate for the host, password of the credential": {options: []gitremote.Option{forHost},
			credentials: []gitremote.Credential{{URL: server.URL, Username: "me", Password: "canary"}}},
		"no certificate":                      {credentials: []gitremote.Credential{trusted}, says: missing},
		"certificate of an unknown authority": {credentials: []gitremote.Credential{unknown}, says: missing},
		"no credential":                       {says: "set ca_certificate"},
		"credential without a certificate, certificate for the host": {
			credentials: []gitremote.Credential{trusted}, options: []gitremote.Option{forHost}, says: missing},
		"credential for another path": {credentials: []gitremote.Credential{withClient(server.URL+"/other", server)},
			says: "set ca_certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, url, tc.credentials, tc.options...).Ref(t.Context(), main)
			if tc.says == "" {
				if presented := server.Presented(); err != nil || len(presented) < 2 || slices.Contains(presented, "") {
					t.Errorf("%v, presented: %q", err, presented)
				}
				return
			}
			is(t, err, gitremote.ErrUnreachable)
			if !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "attempts") {
				t.Error(err)
			}
		})
	}
}

// TestRedirectedClientCertificate: the target of a redirect gets no client certificate, neither for the requested
// server nor for the target itself. Otherwise a team could redirect us to a server that only the platform may read.
func TestRedirectedClientCertificate(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "b"})
	target, to := serveTLS(t, repo, tls.RequestClientCert)
	for name, there := range map[string]gitremote.Credential{
		"no certificate for the target": {URL: target.URL, CACertificate: target.CA},
		"certificate for the target":    withClient(target.URL, target),
	} {
		t.Run(name, func(t *testing.T) {
			asked, url := serveTLS(t, repo, tls.RequireAndVerifyClientCert, gitserver.WithRedirect(target.URL))
			credentials := []gitremote.Credential{withClient(asked.URL, asked), there}
			if _, err := open(t, url, credentials).Ref(t.Context(), main); err != nil {
				t.Fatal(err)
			}
			if got := target.Presented(); len(got) < 2 || !slices.Equal(got, make([]string, len(got))) {
				t.Errorf("the target got %q", got)
			}
			if got := asked.Presented(); !slices.Equal(got, []string{"client"}) {
				t.Errorf("the requested server got %q", got)
			}
		})
	}
	if _, err := open(t, to, []gitremote.Credential{withClient(target.URL, target)}).Ref(t.Context(), main); err != nil ||
		!slices.Contains(target.Presented(), "client") {
		t.Errorf("without a redirect: %v", err)
	}
}
