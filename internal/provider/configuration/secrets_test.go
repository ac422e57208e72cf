package configuration_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// No message about a repo contains a secret, whether the repo's server rejects the credential, redirects, cannot be
// reached or repeats it.
func TestAccSecretsInErrors(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "testdata/TestAccTransports")
	repo := gitserver.InitBare(t)
	wrong, wrongURL := gitserver.Serve(t, repo, gitserver.WithBasic("me", "another"))
	wrongBearer, wrongBearerURL := gitserver.Serve(t, repo, gitserver.WithBearer("another"))
	target, _ := gitserver.Serve(t, repo, gitserver.WithBasic("me", "canary-redirected"))
	elsewhere := gitserver.New(t, target.Root, gitserver.WithRedirect(target.URL))
	denied, deniedURL := gitserver.Serve(t, repo, gitserver.WithBasic("me", "canary-denied"), gitserver.WithPushDenied())
	hooked := gitserver.InitBare(t)
	repeating, repeatingURL := gitserver.Serve(t, hooked, gitserver.WithBasic("me", "canary-repeated"))
	gitserver.Hook(t, hooked, "pre-receive", "the password canary-repeated may not push", 1)
	s.credentials(t,
		credential{"url": wrong.URL, "username": "me", "password": "canary-wrong"},
		credential{"url": wrongBearer.URL, "bearer_token": "canary-wrong-bearer"},
		credential{"url": elsewhere.URL, "username": "me", "password": "canary-redirected"},
		credential{"url": "http://127.0.0.1:9", "username": "me", "password": "canary-unreachable"},
		credential{"url": denied.URL, "username": "me", "password": "canary-denied"},
		credential{"url": repeating.URL, "username": "me", "password": "canary-repeated"},
	)
	s.repos(t, map[string]string{
		"wrong": wrongURL, "wrong_bearer": wrongBearerURL, "redirected": elsewhere.URL + "/" + filepath.Base(repo),
		"unreachable": "http://127.0.0.1:9/gitops",
	})
	s.ExpectError([]string{"Credentials refused", "after a redirect to", "GitOps repo can't be reached"}, "apply",
		"-no-color", "-auto-approve")
	s.repos(t, map[string]string{"denied": deniedURL, "repeating": repeatingURL})
	s.ExpectError([]string{"this token may not write", "the password (secret) may not push"}, "apply", "-no-color",
		"-auto-approve")

	for _, request := range target.Requests() {
		if request.Authorization != "" {
			t.Errorf("the target of the redirect got %q", request.Authorization)
		}
	}
	s.expectNone(t, []*gitserver.Server{wrong, wrongBearer, elsewhere, target, denied, repeating}, repo, hooked)
}

// Errors in the provider's configuration contain none of its secrets.
func TestAccSecretsInConfigurationErrors(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "testdata/TestAccTransports")
	s.credentials(t,
		credential{"url": "https://me:canary-in-url@example.com", "username": "me", "password": "canary-a"},
		credential{"url": "https://example.com/a", "password": "canary-b", "bearer_token": "canary-c"},
		credential{"url": "http://example.com", "bearer_token": "canary-plain"},
		credential{"url": "ssh://git@example.com",
			"private_key": "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary-key\n-----END OPENSSH PRIVATE KEY-----"},
		credential{"url": "ssh://git@example.com/b", "private_key": encrypted(t, gitserver.NewSSH(t).PrivateKey, "another"),
			"private_key_passphrase": "canary-passphrase"},
	)
	s.repos(t, map[string]string{"a": "https://example.com/a"})
	s.ExpectError([]string{"contains a user name or password", "cannot be used together", "plain http",
		"is not a private key", "does not decrypt private_key"}, "plan", "-no-color")
	s.expectNone(t, nil)
}

// secrets is a root module whose credentials are in a file in another folder, with all logs of Terraform and the
// provider.
type secrets struct {
	*acc.Root
	file     string // contains the credentials
	canaries []string
}

// credential is an element of git_credentials.
type credential map[string]string

func newSecrets(t *testing.T, folder string) *secrets {
	t.Helper()
	s := &secrets{Root: acc.NewRootFrom(t, folder), file: filepath.Join(t.TempDir(), "credentials")}
	s.StartProviders() // for its log
	s.Env = append(s.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(s.Folder, acc.LogName),
		"GITHUB_TOKEN=canary-environment", "TF_VAR_credentials="+s.file)
	s.canaries = append(s.canaries, "canary")
	if err := os.WriteFile(s.file+".github", []byte("canary-github"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *secrets) credentials(t *testing.T, all ...credential) {
	t.Helper()
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, field := range []string{"password", "bearer_token", "private_key_passphrase"} {
			if c[field] != "" {
				s.canaries = append(s.canaries, c[field], base64.StdEncoding.EncodeToString([]byte(c["username"]+":"+c[field])))
			}
		}
		if block, _ := pem.Decode([]byte(c["private_key"])); block != nil {
			lines := strings.Split(c["private_key"], "\n")
			s.canaries = append(s.canaries, lines[len(lines)/2])
		}
	}
}

func (s *secrets) repos(t *testing.T, urls map[string]string) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"repos": urls})
	if err != nil {
		t.Fatal(err)
	}
	s.Write("terraform.tfvars.json", string(data))
}

// expectNone fails the test if a secret is in the output, in a file of the module (such as the state, the plan or the
// log), in a requested URL, or in a commit.
func (s *secrets) expectNone(t *testing.T, servers []*gitserver.Server, repos ...string) {
	t.Helper()
	places := map[string][]byte{"the output": []byte(s.Printed.String())}
	maps.Copy(places, acc.FilesBelow(t, s.Folder))
	for _, server := range servers {
		if len(server.Requests()) == 0 {
			t.Errorf("%s got no request", server.URL)
		}
		for _, request := range server.Requests() {
			places["the requests to "+server.URL] = append(places["the requests to "+server.URL],
				request.Method+" "+request.Path+"\n"...)
		}
	}
	for _, repo := range repos {
		places[repo] = []byte(gitserver.Git(t, repo, "log", "--all", "--patch", "--format=fuller"))
	}
	if !bytes.Contains(places[acc.LogName], []byte("provider.terraform-provider-kalypso")) {
		t.Error("the provider logged nothing")
	}
	for place, data := range places {
		for _, canary := range s.canaries {
			if i := bytes.Index(data, []byte(canary)); i >= 0 {
				t.Errorf("%s contains %q: …%q…", place, canary, data[max(0, i-200):min(len(data), i+100)])
			}
		}
	}
}

// encrypted returns a private key, encrypted with a passphrase.
func encrypted(t *testing.T, key, passphrase string) string {
	t.Helper()
	raw, err := ssh.ParseRawPrivateKey([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(raw, "", []byte(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}
