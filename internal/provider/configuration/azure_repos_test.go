package configuration_test

import (
	"crypto/tls"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// azureRoot is a root module that renders to a branch of a repo on a server that behaves as Azure Repos.
type azureRoot struct {
	*acc.Root
	repo   string
	server *gitserver.AzureRepos
	git    *gitserver.Server // nil over SSH
}

func newAzureRoot(t *testing.T) *azureRoot {
	t.Helper()
	r := &azureRoot{Root: acc.NewRootFrom(t, "testdata/TestAccAzureRepos"), repo: gitserver.InitBare(t)}
	return r
}

// overHTTPS serves the repo as https://dev.azure.com/acme/My%20Project/_git/repo.git. Requests to all other hosts reach
// the same server.
func (r *azureRoot) overHTTPS(authorities string, options ...gitserver.Option) {
	r.T.Helper()
	git, handler := gitserver.Handler(r.T, filepath.Dir(r.repo), append(options, gitserver.Azure())...)
	server := httptest.NewUnstartedServer(handler)
	certificate, authority := certificateFor(r.T, "dev.azure.com", "acme.visualstudio.com", "dev.azure.com.evil.io",
		"xvisualstudio.com")
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	r.T.Cleanup(server.Close)
	trusted := filepath.Join(r.T.TempDir(), "trusted.pem")
	if err := os.WriteFile(trusted, []byte(acc.ReadFile(r.T, authority)+authorities), 0o600); err != nil {
		r.T.Fatal(err)
	}
	r.Env = append(r.Env, "SSL_CERT_FILE="+trusted,
		"HTTPS_PROXY=socks5://"+socks(r.T, server.Listener.Addr().String()))
	r.git, r.server = git, git.Azure
	r.Set("repo", "https://dev.azure.com/acme/My%20Project/_git/"+filepath.Base(r.repo))
}

// overSSH serves the repo as git@ssh.dev.azure.com:v3/acme/My%20Project/repo.git.
func (r *azureRoot) overSSH() {
	r.T.Helper()
	ssh, _ := gitserver.ServeAzureSSH(r.T, r.repo)
	_, hostKey, _ := strings.Cut(ssh.KnownHosts, " ")
	r.Env = append(r.Env, "ALL_PROXY=socks5://"+socks(r.T, ssh.Host), "NO_PROXY=127.0.0.1")
	r.server = &ssh.AzureRepos
	r.Set("git_credentials", []credential{{
		"url": "ssh://ssh.dev.azure.com", "private_key": ssh.PrivateKey, "known_hosts": "ssh.dev.azure.com " + hostKey,
	}})
	r.Set("repo", "git@ssh.dev.azure.com:v3/acme/My%20Project/"+filepath.Base(r.repo))
}

// entra makes the provider sign in with tokens of Entra.
func (r *azureRoot) entra(s *azurefake.Server, secret string) {
	r.T.Helper()
	r.Set("entra", true)
	r.Set("azure", map[string]any{
		"tenant_id": azurefake.Tenant, "client_id": azurefake.Client, "client_secret": secret,
		"disable_instance_discovery": true, "endpoint": map[string]any{"active_directory_authority_host": s.URL},
	})
}

// expectNoSecret fails the test if the output, the log or the state contains a canary. The state may be missing.
func (r *azureRoot) expectNoSecret() {
	r.T.Helper()
	state, err := os.ReadFile(filepath.Join(r.Folder, "terraform.tfstate"))
	if err != nil && !os.IsNotExist(err) {
		r.T.Error(err)
	}
	log := acc.ReadFile(r.T, filepath.Join(r.Folder, acc.LogName))
	if !strings.Contains(log, "PlanResourceChange") {
		r.T.Errorf("the log contains no request:\n%.1000s", log)
	}
	for name, text := range map[string]string{"output": r.Printed.String(), "state": string(state), "log": log} {
		if strings.Contains(text, "canary") {
			r.T.Errorf("a secret is in the %s", name)
		}
	}
}

// TestAccAzureRepos runs the whole life of a rendering on Azure Repos, over each transport and with each credential: a
// first apply, a change, drift, a lost race, a protected branch, the observation of clusters, a destroy.
func TestAccAzureRepos(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	const dev = "https://dev.azure.com"
	for name, start := range map[string]func(*azureRoot){
		"token": func(r *azureRoot) {
			r.overHTTPS("", gitserver.WithBasic("kalypso", "canary-token"))
			r.Set("git_credentials", []credential{{"url": dev + "/Acme", "username": "kalypso", "password": "canary-token"}})
		},
		"bearer": func(r *azureRoot) {
			r.overHTTPS("", gitserver.WithBearer("canary-system"))
			r.Set("git_credentials", []credential{{"url": dev, "bearer_token": "canary-system"}})
		},
		"entra": func(r *azureRoot) {
			s := azurefake.New(r.T)
			r.overHTTPS(acc.ReadFile(r.T, s.CA), gitserver.WithBearerPrefix("canary-devops-token-"))
			r.entra(s, azurefake.Secret)
		},
		"ssh": (*azureRoot).overSSH,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newAzureRoot(t)
			start(r)
			r.OwnProcess("TF_LOG=TRACE")
			r.Apply()
			r.ExpectEmptyPlan()
			r.Set("value", "2")
			r.Apply()
			rendered := gitserver.Tree(t, r.repo, "dev:large")
			if !strings.Contains(rendered["hello-app/reconciler.yaml"], "# value: '2'") {
				t.Errorf("the branch has %q", rendered)
			}

			gitserver.Seed(t, r.repo, "dev", map[string]string{"large/hello-app/reconciler.yaml": "by hand\n"})
			r.ExpectError([]string{"Drift: rendered folders changed outside Terraform"}, "plan", "-no-color")
			r.Set("on_drift", "overwrite")
			r.Apply()

			r.server.BeforePush(func() { gitserver.Seed(t, r.repo, "dev", map[string]string{"theirs": "1\n"}) })
			r.Set("value", "3")
			r.Apply()
			r.ExpectEmptyPlan()
			if tree := gitserver.Tree(t, r.repo, "dev"); tree["theirs"] == "" ||
				!strings.Contains(tree["large/hello-app/reconciler.yaml"], "# value: '3'") {
				t.Errorf("after a lost race the branch has %q", tree)
			}
			head := gitserver.Rev(t, r.repo, "dev")

			r.server.Protect("dev")
			r.Set("value", "4")
			r.ExpectError([]string{"The server refused the push", "TF402455", `delivery.strategy = "pull_request"`}, "apply",
				"-no-color", "-auto-approve")
			if now := gitserver.Rev(t, r.repo, "dev"); now != head {
				t.Errorf("the branch is at %s, not at %s", now, head)
			}

			r.Set("value", "3")
			r.Set("commit", head)
			r.Apply()
			var verdict string
			r.Output("verdict", &verdict)
			if verdict != "success" {
				t.Errorf("the verdict is %q", verdict)
			}
			r.expectNoSecret()
			gitserver.Fsck(t, r.repo)
		})
	}
}

// TestAccAzureReposRefused: a credential that Azure Repos does not accept is tried once, and no other server gets the
// token of Entra.
func TestAccAzureReposRefused(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	r := newAzureRoot(t)
	gitserver.Seed(t, r.repo, "dev", map[string]string{"theirs": "1\n"})
	s := azurefake.New(t)
	r.overHTTPS(acc.ReadFile(t, s.CA), gitserver.WithBearerPrefix("canary-devops-token-"))
	r.OwnProcess("TF_LOG=TRACE")
	apply := []string{"apply", "-no-color", "-auto-approve"}
	refused := func(requests int, texts ...string) {
		t.Helper()
		r.git.ResetLog()
		r.ExpectError(append(texts, "Credentials refused"), apply...)
		if n := len(r.git.Requests()); n != requests {
			t.Errorf("%d requests, want %d: %+v", n, requests, r.git.Requests())
		}
	}
	refused(1, "web page", "no credential matches it")
	r.Set("git_credentials", []credential{{"url": "https://dev.azure.com", "bearer_token": "canary-wrong"}})
	refused(1, "web page", "the credential for https://dev.azure.com was used")
	r.Set("git_credentials", nil)
	r.entra(s, "canary-wrong-secret")
	refused(0, "AADSTS7000215", "azure_devops.entra of the provider was used")
	r.entra(s, azurefake.Secret)
	for _, url := range []string{
		"https://dev.azure.com.evil.io/acme/My%20Project/_git/", "https://xvisualstudio.com/acme/My%20Project/_git/",
	} {
		r.Set("repo", url+filepath.Base(r.repo))
		refused(1, "no credential matches it")
		for _, request := range r.git.Requests() {
			if request.Authorization != "" {
				t.Errorf("%s got %q", url, request.Authorization)
			}
		}
	}
	if n := s.DevOpsTokens(); n != 0 {
		t.Errorf("%d tokens were asked for", n)
	}
	r.Set("repo", "https://acme@dev.azure.com/acme/My%20Project/_git/"+filepath.Base(r.repo))
	r.ExpectError([]string{"use https://dev.azure.com/acme/My%20Project/_git/"}, "plan", "-no-color")
	r.Set("repo", "https://dev.azure.com/acme/My%20Project/_git/"+filepath.Base(r.repo))
	r.server.ReadOnly.Store(true)
	r.ExpectError([]string{"Credentials refused", "TF401027"}, apply...)
	r.Set("repo", "https://dev.azure.com/acme/My%20Project/_git/none")
	r.ExpectError([]string{"Repo not found", "TF401019"}, apply...)
	r.expectNoSecret()
}
