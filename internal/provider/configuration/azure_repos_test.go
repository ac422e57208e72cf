package provider_test

import (
	"crypto/tls"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// azureRoot is a root module that renders to a branch of a repo on a server that behaves as Azure Repos.
type azureRoot struct {
	*root
	repo   string
	server *gitserver.AzureRepos
	git    *gitserver.Server // nil: over SSH
	vars   map[string]any
}

func newAzureRoot(t *testing.T) *azureRoot {
	t.Helper()
	r := &azureRoot{
		root: newRootFrom(t, "testdata/TestAccAzureRepos"), repo: gitserver.InitBare(t), vars: map[string]any{},
	}
	r.write("terraform.tf", terraformBlock)
	return r
}

func (r *azureRoot) set(name string, value any) {
	r.t.Helper()
	r.vars[name] = value
	r.write("terraform.tfvars.json", toJSON(r.t, r.vars))
}

// overHTTPS serves the repo as https://dev.azure.com/acme/My%20Project/_git/repo.git. All other hosts lead there too.
func (r *azureRoot) overHTTPS(authorities string, options ...gitserver.Option) {
	r.t.Helper()
	git, handler := gitserver.Handler(r.t, filepath.Dir(r.repo), append(options, gitserver.Azure())...)
	server := httptest.NewUnstartedServer(handler)
	certificate, authority := certificateFor(r.t, "dev.azure.com", "acme.visualstudio.com", "dev.azure.com.evil.io",
		"xvisualstudio.com")
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	r.t.Cleanup(server.Close)
	trusted := filepath.Join(r.t.TempDir(), "trusted.pem")
	if err := os.WriteFile(trusted, []byte(readFile(r.t, authority)+authorities), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.env = append(r.env, "SSL_CERT_FILE="+trusted,
		"HTTPS_PROXY=socks5://"+socks(r.t, server.Listener.Addr().String()))
	r.git, r.server = git, git.Azure
	r.set("repo", "https://dev.azure.com/acme/My%20Project/_git/"+filepath.Base(r.repo))
}

// overSSH serves the repo as git@ssh.dev.azure.com:v3/acme/My%20Project/repo.git.
func (r *azureRoot) overSSH() {
	r.t.Helper()
	ssh, _ := gitserver.ServeAzureSSH(r.t, r.repo)
	_, hostKey, _ := strings.Cut(ssh.KnownHosts, " ")
	r.env = append(r.env, "ALL_PROXY=socks5://"+socks(r.t, ssh.Host), "NO_PROXY=127.0.0.1")
	r.server = &ssh.AzureRepos
	r.set("git_credentials", []credential{{
		"url": "ssh://ssh.dev.azure.com", "private_key": ssh.PrivateKey, "known_hosts": "ssh.dev.azure.com " + hostKey,
	}})
	r.set("repo", "git@ssh.dev.azure.com:v3/acme/My%20Project/"+filepath.Base(r.repo))
}

// entra signs in with tokens of Entra.
func (r *azureRoot) entra(s *azurefake.Server, secret string) {
	r.t.Helper()
	r.set("entra", true)
	r.set("azure", map[string]any{
		"tenant_id": azurefake.Tenant, "client_id": azurefake.Client, "client_secret": secret,
		"disable_instance_discovery": true, "endpoint": map[string]any{"active_directory_authority_host": s.URL},
	})
}

// expectNoSecret fails the test if a canary is in the output, the log, or the state if there is one.
func (r *azureRoot) expectNoSecret() {
	r.t.Helper()
	state, err := os.ReadFile(filepath.Join(r.folder, "terraform.tfstate"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Error(err)
	}
	log := readFile(r.t, filepath.Join(r.folder, logName))
	if !strings.Contains(log, "PlanResourceChange") {
		r.t.Errorf("the log contains no request:\n%.1000s", log)
	}
	for name, text := range map[string]string{"output": r.printed.String(), "state": string(state), "log": log} {
		if strings.Contains(text, "canary") {
			r.t.Errorf("a secret is in the %s", name)
		}
	}
}

// TestAccAzureRepos runs the whole life of a rendering on Azure Repos, over each transport and with each credential: a
// first apply, a change, drift, a lost race, a protected branch, the observation of clusters, a destroy.
func TestAccAzureRepos(t *testing.T) {
	t.Parallel()
	needTerraform(t)
	const dev = "https://dev.azure.com"
	for name, start := range map[string]func(*azureRoot){
		"token": func(r *azureRoot) {
			r.overHTTPS("", gitserver.WithBasic("kalypso", "canary-token"))
			r.set("git_credentials", []credential{{"url": dev + "/Acme", "username": "kalypso", "password": "canary-token"}})
		},
		"bearer": func(r *azureRoot) {
			r.overHTTPS("", gitserver.WithBearer("canary-system"))
			r.set("git_credentials", []credential{{"url": dev, "bearer_token": "canary-system"}})
		},
		"entra": func(r *azureRoot) {
			s := azurefake.New(r.t)
			r.overHTTPS(readFile(r.t, s.CA), gitserver.WithBearerPrefix("canary-devops-token-"))
			r.entra(s, azurefake.Secret)
		},
		"ssh": (*azureRoot).overSSH,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newAzureRoot(t)
			start(r)
			r.ownProcess("TF_LOG=TRACE")
			r.apply()
			r.expectEmptyPlan()
			r.set("value", "2")
			r.apply()
			rendered := gitserver.Tree(t, r.repo, "dev:large")
			if !strings.Contains(rendered["hello-app/reconciler.yaml"], "# value: '2'") {
				t.Errorf("the branch has %q", rendered)
			}

			gitserver.Seed(t, r.repo, "dev", map[string]string{"large/hello-app/reconciler.yaml": "by hand\n"})
			r.expectError([]string{"Drift: rendered folders changed outside Terraform"}, "plan", "-no-color")
			r.set("on_drift", "overwrite")
			r.apply()

			r.server.BeforePush(func() { gitserver.Seed(t, r.repo, "dev", map[string]string{"theirs": "1\n"}) })
			r.set("value", "3")
			r.apply()
			r.expectEmptyPlan()
			if tree := gitserver.Tree(t, r.repo, "dev"); tree["theirs"] == "" ||
				!strings.Contains(tree["large/hello-app/reconciler.yaml"], "# value: '3'") {
				t.Errorf("after a lost race the branch has %q", tree)
			}
			head := gitserver.Rev(t, r.repo, "dev")

			r.server.Protect("dev")
			r.set("value", "4")
			r.expectError([]string{"The server refused the push", "TF402455", `delivery.strategy = "pull_request"`}, "apply",
				"-no-color", "-auto-approve")
			if now := gitserver.Rev(t, r.repo, "dev"); now != head {
				t.Errorf("the branch is at %s, not at %s", now, head)
			}

			r.set("value", "3")
			r.set("commit", head)
			r.apply()
			var verdict string
			if r.output("verdict", &verdict); verdict != "success" {
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
	needTerraform(t)
	r := newAzureRoot(t)
	gitserver.Seed(t, r.repo, "dev", map[string]string{"theirs": "1\n"})
	s := azurefake.New(t)
	r.overHTTPS(readFile(t, s.CA), gitserver.WithBearerPrefix("canary-devops-token-"))
	r.ownProcess("TF_LOG=TRACE")
	apply := []string{"apply", "-no-color", "-auto-approve"}
	refused := func(requests int, texts ...string) {
		t.Helper()
		r.git.ResetLog()
		r.expectError(append(texts, "Credentials refused"), apply...)
		if n := len(r.git.Requests()); n != requests {
			t.Errorf("%d requests, want %d: %+v", n, requests, r.git.Requests())
		}
	}
	refused(1, "web page", "no credential matches it")
	r.set("git_credentials", []credential{{"url": "https://dev.azure.com", "bearer_token": "canary-wrong"}})
	refused(1, "web page", "the credential for https://dev.azure.com was used")
	r.set("git_credentials", nil)
	r.entra(s, "canary-wrong-secret")
	refused(0, "AADSTS7000215", "azure_devops.entra of the provider was used")
	r.entra(s, azurefake.Secret)
	for _, url := range []string{
		"https://dev.azure.com.evil.io/acme/My%20Project/_git/", "https://xvisualstudio.com/acme/My%20Project/_git/",
	} {
		r.set("repo", url+filepath.Base(r.repo))
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
	r.set("repo", "https://acme@dev.azure.com/acme/My%20Project/_git/"+filepath.Base(r.repo))
	r.expectError([]string{"use https://dev.azure.com/acme/My%20Project/_git/"}, "plan", "-no-color")
	r.set("repo", "https://dev.azure.com/acme/My%20Project/_git/"+filepath.Base(r.repo))
	r.server.ReadOnly()
	r.expectError([]string{"Credentials refused", "TF401027"}, apply...)
	r.set("repo", "https://dev.azure.com/acme/My%20Project/_git/none")
	r.expectError([]string{"Repo not found", "TF401019"}, apply...)
	r.expectNoSecret()
}
