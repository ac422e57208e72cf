package configuration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccCredentials checks each kind of credential for a private repo of the platform. If a team's server redirects to
// this repo, the provider neither reads nor pushes it with the credential. If GitHub's API redirects to the team's
// server, the provider does not follow.
func TestAccCredentials(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	apply := []string{"apply", "-no-color", "-auto-approve"}
	for name, start := range map[string]func(*testing.T) *private{
		"basic": func(t *testing.T) *private {
			s, url := gitserver.Serve(t, privateRepo(t), gitserver.WithBasic("me", "canary-basic"))
			credentials := []credential{{"url": s.URL, "username": "me", "password": "canary-basic"}}
			return &private{url: url, git: s, vars: map[string]any{"git_credentials": credentials}}
		},
		"bearer": func(t *testing.T) *private {
			s, url := gitserver.Serve(t, privateRepo(t), gitserver.WithBearer("canary-bearer"))
			credentials := []credential{{"url": s.URL, "bearer_token": "canary-bearer"}}
			return &private{url: url, git: s, vars: map[string]any{"git_credentials": credentials}}
		},
		"SSH key": func(t *testing.T) *private {
			s := gitserver.NewSSH(t)
			credentials := []credential{{"url": "ssh://" + s.Host, "private_key": s.PrivateKey, "known_hosts": s.KnownHosts}}
			return &private{url: s.URL(privateRepo(t)), vars: map[string]any{"git_credentials": credentials}}
		},
		"GITHUB_TOKEN": gitHubDotCom,
		"github.token": func(t *testing.T) *private {
			p := onGitHub(t)
			p.vars = map[string]any{"github": map[string]any{"base_url": p.fake.URL, "token": p.fake.Token}}
			return p
		},
		"github.app": func(t *testing.T) *private {
			p := onGitHub(t)
			app := p.fake.AddApp(t)
			p.vars = map[string]any{"github": map[string]any{"base_url": p.fake.URL, "app": map[string]string{
				"id": app.ID, "installation_id": app.InstallationID, "private_key": app.PrivateKey,
			}}}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			team := newTeamServer(t, p.url)
			r := acc.NewRootFrom(t, "testdata/TestAccCredentials")
			if p.env != nil {
				r.Env = append(r.Env, p.env...)
				r.OwnProcess()
			}
			set := func(name string, value any) {
				vars := map[string]any{name: value}
				for name, value := range p.vars {
					vars[name] = value
				}
				r.Write("terraform.tfvars.json", acc.ToJSON(t, vars))
				p.forget()
			}
			set("registered", p.url)
			r.Succeed("plan", "-no-color")
			if p.git != nil && p.credentials() == 0 {
				t.Error("the private repo was read without a credential")
			}

			set("registered", team.URL+"/read/repo.git")
			r.ExpectError([]string{"redirect", "Registration: team"}, "plan", "-no-color")
			set("gitops_repo", team.URL+"/push/repo.git")
			r.ExpectError([]string{"Redirect refused", "redirect refused: the server redirects"}, apply...)
			if n := p.credentials(); n > 0 {
				t.Errorf("the private repo got %d requests with a credential", n)
			}
			if p.fake != nil {
				commit := gitserver.Rev(t, filepath.Join(p.git.Root, "acme", "private.git"), "main")
				set("status", map[string]string{"repo": p.url, "commit": commit})
				p.fake.Fail("POST", "/statuses/", -1, hostfake.Failure{
					Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": team.URL + "/api/v3/"},
				})
				r.ExpectError([]string{"the server redirects to an address outside its API"}, apply...)
			}
			for _, got := range team.shown() {
				t.Errorf("the team's server got %q", got)
			}
			if strings.Contains(r.Printed.String(), "canary") {
				t.Error("a secret is in the output")
			}
		})
	}
}

// private is a private repo of the platform, with its credential.
type private struct {
	url  string
	git  *gitserver.Server // the server of the repo, nil over SSH
	fake *githubfake.Server
	vars map[string]any
	env  []string
}

func privateRepo(t *testing.T) string {
	t.Helper()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"w.yaml": acc.WorkloadDocument("secret", "test")})
	return repo
}

func onGitHub(t *testing.T) *private {
	t.Helper()
	fake := githubfake.New(t)
	repo := fake.AddRepo(t, "acme/private")
	gitserver.Seed(t, repo.Path, "main", map[string]string{"w.yaml": acc.WorkloadDocument("secret", "test")})
	return &private{url: repo.URL, git: fake.Git, fake: fake}
}

// gitHubDotCom creates a repo on a local server that is reachable as https://github.com.
func gitHubDotCom(t *testing.T) *private {
	t.Helper()
	repo := privateRepo(t)
	git, handler := gitserver.Handler(t, filepath.Dir(repo), gitserver.WithBasic("x-access-token", "canary-environment"))
	server := httptest.NewUnstartedServer(handler)
	certificate, authority := certificateFor(t, "github.com")
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return &private{url: "https://github.com/" + filepath.Base(repo), git: git, vars: map[string]any{}, env: []string{
		"GITHUB_TOKEN=canary-environment", "SSL_CERT_FILE=" + authority,
		"HTTPS_PROXY=socks5://" + socks(t, server.Listener.Addr().String()),
	}}
}

// certificateFor returns a certificate for hosts, and the file of the authority that signed it.
func certificateFor(t *testing.T, hosts ...string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// credentials counts the requests with a credential.
func (p *private) credentials() (n int) {
	if p.git == nil {
		return 0
	}
	for _, r := range p.git.Requests() {
		if r.Authorization != "" {
			n++
		}
	}
	return n
}

func (p *private) forget() {
	if p.git != nil {
		p.git.ResetLog()
	}
}

// teamServer redirects all requests to /read, and the pushes to /push, to a private repo. It answers reads of /push
// itself.
type teamServer struct {
	*httptest.Server
	mu  sync.Mutex
	got []string // the credentials in its requests, and the requests to its API
}

func newTeamServer(t *testing.T, to string) *teamServer {
	t.Helper()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"README.md": "hello\n"})
	_, git := gitserver.Handler(t, filepath.Dir(repo))
	s := &teamServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if authorization := r.Header.Get("Authorization"); authorization != "" || strings.HasPrefix(r.URL.Path, "/api/") {
			s.mu.Lock()
			s.got = append(s.got, r.URL.Path+" "+authorization)
			s.mu.Unlock()
		}
		push := strings.Contains(r.RequestURI, "git-receive-pack")
		if rest, ok := strings.CutPrefix(r.RequestURI, "/read/repo.git"); ok {
			redirect(w, to+rest)
		} else if rest, ok := strings.CutPrefix(r.RequestURI, "/push/repo.git"); ok && push {
			redirect(w, to+rest)
		} else {
			http.StripPrefix("/push", git).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

func (s *teamServer) shown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}
