package gitremote_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestNewClientErrors: all errors are returned together. Each names the index and the field of its credential, and none
// contains a secret.
func TestNewClientErrors(t *testing.T) {
	encrypted := encryptedKey(t, "right")
	credentials := []gitremote.Credential{
		{URL: "http://git.acme.io", Username: "u", Password: "canary-p"},
		{URL: "https://u:canary-in-url@git.acme.io"},
		{URL: "https://git.acme.io/a", Username: "u", Password: "canary-p", BearerToken: "canary-b"},
		{URL: "https://git.acme.io/b", PrivateKey: "canary-k", KnownHosts: "x", Password: "canary-p"},
		{URL: "ssh://git.acme.io/c", PrivateKey: "canary-k"},
		{URL: "ssh://git.acme.io/d", PrivateKey: encrypted},
		{URL: "ssh://git.acme.io/e", PrivateKey: encrypted, PrivateKeyPassphrase: "canary-wrong"},
		{URL: "ssh://git.acme.io/f", BearerToken: "canary-b", KnownHosts: "no known host"},
		{URL: "https://git.acme.io/g", CACertificate: "canary-no-pem"},
		{URL: "/srv/git", Password: "canary-p"},
		{URL: "https://git.acme.io/h"},
		{URL: "", BearerToken: "canary-b"},
		{URL: "https://git.acme.io/i", BearerToken: "canary-b"},
		{URL: "https://GIT.acme.io:443/i/", BearerToken: "canary-c"},
		{URL: "http://127.0.0.1:3000", Username: "u", Password: "canary-p"},
		{URL: "http://localhost", BearerToken: "canary-b"},
		{URL: "ssh://git.acme.io/j", PrivateKey: encrypted, PrivateKeyPassphrase: "right"},
		{URL: "https://git.acme.io/k", ClientKey: "canary-k"},
		{URL: "https://git.acme.io/l", ClientCertificate: "canary-c", ClientKey: "canary-k"},
		{URL: "ssh://git.acme.io/m", KnownHosts: "", Username: "u", ClientKey: "canary-k"},
		{URL: "http://localhost/n", CACertificate: "canary-c", ClientKey: "canary-k"},
	}
	_, err := gitremote.NewClient(credentials)
	var all gitremote.CredentialErrors
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprintf("%d %s", e.Index, e.Field))
	}
	want := []string{
		"0 url", "1 url", "2 bearer_token", "3 private_key", "3 known_hosts", "3 username", "4 private_key",
		"5 private_key_passphrase", "6 private_key_passphrase", "7 bearer_token", "7 known_hosts", "8 ca_certificate",
		"9 url", "10 url", "11 url", "13 url", "17 client_certificate", "17 client_key", "18 client_certificate",
		"18 client_key", "19 client_key", "20 ca_certificate", "20 client_key",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%v", diff, err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error contains a secret: %v", err)
	}
}

func TestWrongCredentials(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, url := gitserver.Serve(t, repo, gitserver.WithBasic("u", "right"))
	for name, credentials := range map[string][]gitremote.Credential{
		"no credential":               nil,
		"wrong password":              {{URL: server.URL, Username: "u", Password: "canary-wrong"}},
		"token instead of a password": {{URL: server.URL, BearerToken: "canary-wrong"}},
		"credential for another repo": {{URL: server.URL + "/repo.git-other", Username: "u", Password: "right"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, url, credentials).Ref(t.Context(), main)
			is(t, err, gitremote.ErrUnauthorized)
		})
	}
	ssh, other := gitserver.NewSSH(t), gitserver.NewSSH(t)
	_, err := open(t, ssh.URL(repo), []gitremote.Credential{
		{URL: "ssh://" + ssh.Host, PrivateKey: other.PrivateKey, KnownHosts: ssh.KnownHosts},
	}).Ref(t.Context(), main)
	is(t, err, gitremote.ErrUnauthorized)
}

// TestPushDenied: the credential may read the repo, but not push to it.
func TestPushDenied(t *testing.T) {
	repo := gitserver.InitBare(t)
	_, url := gitserver.Serve(t, repo, gitserver.WithPushDenied())
	err := pushTo(t.Context(), open(t, url, nil), gitremote.PushRequest{Branch: main, Pack: strings.NewReader("")})
	is(t, err, gitremote.ErrUnauthorized)
	if !strings.Contains(err.Error(), "this token may not write") {
		t.Errorf("the error does not contain the server's message: %v", err)
	}
}

// TestRedirect: a redirect to another host, port or path does not carry the credential along.
func TestRedirect(t *testing.T) {
	repo := gitserver.InitBare(t)
	target, _ := gitserver.Serve(t, repo)
	origin, url := gitserver.Serve(t, repo, gitserver.WithRedirect(target.URL))
	for name, credential := range map[string]gitremote.Credential{
		"basic":  {URL: origin.URL, Username: "u", Password: "canary-p"},
		"bearer": {URL: origin.URL, BearerToken: "canary-b"},
	} {
		t.Run(name, func(t *testing.T) {
			target.ResetLog()
			origin.ResetLog()
			if _, err := open(t, url, []gitremote.Credential{credential}).Ref(t.Context(), main); err != nil {
				t.Fatal(err)
			}
			if got := origin.Requests(); len(got) != 1 || got[0].Authorization == "" {
				t.Errorf("the origin got %+v", got)
			}
			if len(target.Requests()) != 2 {
				t.Errorf("the target got %+v", target.Requests())
			}
			for _, r := range target.Requests() {
				if r.Authorization != "" {
					t.Errorf("the target got a credential with %s %s", r.Method, r.Path)
				}
			}
		})
	}
}
