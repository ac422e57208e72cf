package artifacts_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestInput: each fault of the arguments is an error at its attribute in the plan, and no request reaches the registry.
func TestInput(t *testing.T) {
	t.Parallel()
	base := newRun(t)
	base.deliver(map[string]string{"large": "a: 1\n"})
	other := gitserver.Seed(t, base.repo, "other", map[string]string{"a": "b"})
	at := func(attribute string) string { return `AttributeName("` + attribute + `")` }
	host := base.server.Host
	private, public, sealed := signingKey(t, "right")
	signing := func(key, password any) any { return map[string]any{"key": key, "password": password} }
	keyAt, passwordAt := at("signing")+"."+at("key"), at("signing")+"."+at("password")
	for name, tt := range map[string]struct {
		argument string
		value    any
		says     []string // empty if the plan succeeds
	}{
		"valid tag":      {argument: "tags", value: []any{"v1.0-rc_1"}},
		"no tags":        {argument: "tags", value: nil},
		"unknown tags":   {argument: "tags", value: protocol.Unknown},
		"unknown commit": {argument: "commit", value: protocol.Unknown},
		"no commit yet":  {argument: "commit", value: nil},
		"unknown repo":   {argument: "gitops_repo", value: protocol.Unknown},
		"no scheme":      {argument: "repository", value: "fleet", says: []string{"begins with oci://", at("repository")}},
		"https":          {argument: "repository", value: "https://acme.io/a", says: []string{"begins with oci://"}},
		"plain http": {argument: "repository", value: "http://acme.io/a",
			says: []string{"plain http is allowed only for", at("repository")}},
		"host without a name": {argument: "repository", value: "oci://acme.io", says: []string{"does not name a repository"}},
		"trailing slash": {argument: "repository", value: "oci://acme.io/a/",
			says: []string{"does not name a repository"}},
		"upper case": {argument: "repository", value: "oci://acme.io/Fleet", says: []string{"lower case letters"}},
		"invalid port": {argument: "repository", value: "oci://acme.io:x/a",
			says: []string{"is not a repository", at("repository")}},
		"tag in the repository": {argument: "repository", value: "oci://acme.io/a:latest",
			says: []string{"remove it", at("repository")}},
		"digest in the repository": {argument: "repository", value: "oci://acme.io/a@sha256:0",
			says: []string{"remove it"}},
		"password in the repository": {argument: "repository", value: "oci://me:canary@acme.io/a",
			says: []string{"user or password"}},
		"long repository": {argument: "repository", value: "oci://" + host + "/" + strings.Repeat("a", 240),
			says: []string{"at most 255", at("repository")}},
		"tag with spaces":            {argument: "tags", value: []any{"a b"}, says: []string{"is not a tag", at("tags")}},
		"tag that begins with a dot": {argument: "tags", value: []any{".a"}, says: []string{"is not a tag", at("tags")}},
		"empty tag":                  {argument: "tags", value: []any{""}, says: []string{"is not a tag", at("tags")}},
		"long tag": {argument: "tags", value: []any{strings.Repeat("a", 129)},
			says: []string{"at most 128", at("tags")}},
		"tag like a tree hash": {argument: "tags", value: []any{strings.Repeat("a", 40)},
			says: []string{"hash of a tree", at("tags")}},
		"a short commit": {argument: "commit", value: "abcdef", says: []string{"full commit hash", at("commit")}},
		"a foreign commit": {argument: "commit", value: other,
			says: []string{"The branch does not contain the commit", at("commit")}},
		"no such commit": {argument: "commit", value: strings.Repeat("a", 40),
			says: []string{"The branch does not contain the commit", at("commit")}},
		"no branch": {argument: "gitops_repo", value: map[string]any{"repo": base.repo, "branch": "none"},
			says: []string{"Branch not found", at("gitops_repo")}},
		"no repo": {argument: "gitops_repo", value: map[string]any{"branch": "stage"},
			says: []string{"Missing repo", "Attribute: gitops_repo.repo"}},
		"another path": {argument: "gitops_repo", value: map[string]any{"repo": base.repo, "branch": "stage"},
			says: []string{"Nothing was delivered with the commit", at("commit")}},
		"on_destroy":           {argument: "on_destroy", value: "leave", says: []string{at("on_destroy")}},
		"key without password": {argument: "signing", value: signing(private, nil)},
		"encrypted key":        {argument: "signing", value: signing(sealed, "right")},
		"unknown key":          {argument: "signing", value: signing(protocol.Unknown, "canary")},
		"unknown password":     {argument: "signing", value: signing(sealed, protocol.Unknown)},
		"null key":             {argument: "signing", value: signing(nil, nil), says: []string{keyAt}},
		"not a key": {argument: "signing", value: signing("canary", nil),
			says: []string{"no private key in PEM", keyAt}},
		"public key":  {argument: "signing", value: signing(public, nil), says: []string{"is a public key", keyAt}},
		"no password": {argument: "signing", value: signing(sealed, nil), says: []string{"no password", passwordAt}},
		"wrong password": {argument: "signing", value: signing(sealed, "canary"),
			says: []string{"Wrong password", passwordAt}},
		"password of an unencrypted key": {argument: "signing", value: signing(private, "canary"),
			says: []string{"remove the password", passwordAt}},
	} {
		t.Run(name, func(t *testing.T) {
			run := acc.ProtocolRun{T: t, Resource: base.Resource}
			given := maps.Clone(base.given)
			given[tt.argument] = tt.value
			session := run.Start()
			session.WriteOnly = true
			made, ds := session.Plan(t.Context(), &run.Resource, given)
			text := strings.Join(strings.Fields(ds.String()), " ")
			if (made == nil) != (len(tt.says) > 0) {
				t.Error(text)
			}
			for _, want := range tt.says {
				if !strings.Contains(text, want) || strings.Contains(text, "canary") || strings.Contains(text, "PRIVATE") {
					t.Errorf("no %q in: %s", want, text)
				}
			}
		})
	}
	if sent := base.server.Requests(); len(sent) > 0 {
		t.Errorf("the registry got %v", sent)
	}
}

// TestCredentialInput: each fault of oci_credentials is an error at its attribute, without the values.
func TestCredentialInput(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		given map[string]any
		says  string
	}{
		"https":               {map[string]any{"url": "https://acme.io", "username": "me", "password": "canary"}, ""},
		"URL of a repository": {map[string]any{"url": "oci://acme.io/a", "username": "me", "password": "canary"}, ""},
		"plain http on this machine": {map[string]any{"url": "http://localhost:5000", "username": "me", "password": "canary"},
			""},
		"unknown password": {map[string]any{"url": "https://acme.io", "username": "me", "password": protocol.Unknown}, ""},
		"no url":           {map[string]any{"username": "me", "password": "canary"}, "oci_credentials[0].url"},
		"plain http": {map[string]any{"url": "http://acme.io", "username": "me", "password": "canary"},
			"unencrypted"},
		"ssh": {map[string]any{"url": "ssh://acme.io", "username": "me", "password": "canary"},
			"URL of a registry"},
		"credential in the URL": {map[string]any{"url": "https://me:canary@acme.io"}, "move them to username and password"},
		"no password":           {map[string]any{"url": "https://acme.io", "username": "me"}, "oci_credentials[0].password"},
		"no user": {map[string]any{"url": "https://acme.io", "password": "canary"},
			"oci_credentials[0].username"},
		"only a URL":        {map[string]any{"url": "https://acme.io"}, "has no credential"},
		"colon in the user": {map[string]any{"url": "https://acme.io", "username": "m:e", "password": "canary"}, "colon"},
		"invalid certificate": {map[string]any{"url": "https://acme.io", "ca_certificate": "x"},
			"oci_credentials[0].ca_certificate"},
		"certificate for plain http": {map[string]any{"url": "http://localhost", "ca_certificate": "x"},
			"no effect over plain http"},
	} {
		t.Run(name, func(t *testing.T) {
			server := provider.NewServer("test")
			_, ds := protocol.ReadSchemas(t, server).Start(t, server, map[string]any{"oci_credentials": []any{tt.given}})
			text := strings.Join(strings.Fields(ds.String()), " ")
			if ds.HasErrors() != (tt.says != "") || !strings.Contains(text, tt.says) ||
				strings.Contains(text, "canary") {
				t.Error(text)
			}
		})
	}
}

// signingKey returns a private key, its public key, and the key as cosign encrypts it.
func signingKey(t *testing.T, password string) (private, public, sealed string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	box, err := encrypted.Encrypt(der, []byte(password))
	if err != nil {
		t.Fatal(err)
	}
	of, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, content []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
	}
	return block("PRIVATE KEY", der), block("PUBLIC KEY", of), block("ENCRYPTED SIGSTORE PRIVATE KEY", box)
}
