package configuration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccMirrors reaches each repo only at a mirror: the control plane over HTTP, the Workload over SSH, the GitOps
// repo in a folder. Neither the state nor the branch contains a mirror's URL.
func TestAccMirrors(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	app, plane, gitops := gitserver.InitBare(t), gitserver.InitBare(t), gitserver.InitBare(t)
	gitserver.Seed(t, app, "main", map[string]string{"w.yaml": acc.WorkloadDocument("shop", "test")})
	gitserver.Seed(t, plane, "dev", map[string]string{"r.yaml": `apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata: {name: shop}
spec: {workload: {repo: "git@git.invalid:acme/` + filepath.Base(app) + `", branch: main, path: .}}
`})
	gitserver.Seed(t, gitops, "main", map[string]string{"README.md": "hello\n"})
	http, planeURL := gitserver.Serve(t, plane, gitserver.WithBasic("me", "canary-mirror"))
	ssh := gitserver.NewSSH(t)

	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
variable "git_mirrors" { type = map(string) }
variable "git_credentials" { type = any }
provider "kalypso" {
  git_mirrors     = var.git_mirrors
  git_credentials = var.git_credentials
}
data "kalypso_control_plane" "dev" {
  repo   = "https://git.invalid/acme/plane"
  branch = "dev"
}
resource "kalypso_environment_rendering" "dev" {
  environment         = "dev"
  manifests           = data.kalypso_control_plane.dev.manifests
  cluster_types       = { large = { name = "large", reconciler = "r", namespace_service = "n" } }
  templates = {
    r = { name = "r", type = "reconciler", manifests = ["# R"] }
    n = { name = "n", type = "namespace", manifests = ["# N"] }
  }
  scheduling_policies = { all = {
    name                       = "all"
    deployment_target_selector = { match_all = true }
    cluster_type_selector      = { match_all = true }
  } }
  gitops_repo         = { repo = "https://git.invalid/acme/gitops", branch = "main" }
  on_destroy          = "remove"
  deletion_protection = false
}
`})
	set := func(mirrors map[string]string) {
		r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{
			"git_mirrors": mirrors,
			"git_credentials": []map[string]string{
				{"url": http.URL, "username": "me", "password": "canary-mirror"},
				{"url": "ssh://" + ssh.Host, "private_key": ssh.PrivateKey, "known_hosts": ssh.KnownHosts},
				{"url": "https://git.invalid/acme", "username": "me", "password": "canary-original"},
			},
		}))
	}
	mirrors := map[string]string{
		"https://git.invalid/":            "https://none.invalid/",
		"https://git.invalid/acme/plane":  planeURL,
		"git@git.invalid:acme/":           ssh.URL(filepath.Dir(app)) + "/",
		"https://git.invalid/acme/gitops": "file://" + gitops,
	}
	set(mirrors)
	r.Apply()
	r.ExpectEmptyPlan()
	record := gitserver.Tree(t, gitops, "main")[".kalypso/rendering.json"]
	state := acc.ReadFile(t, filepath.Join(r.Folder, "terraform.tfstate"))
	for name, text := range map[string]string{"record": record, "state": state} {
		if !strings.Contains(text, "git.invalid/acme/plane@") {
			t.Errorf("the %s does not name the control plane:\n%s", name, text)
		}
		for _, mirror := range []string{http.URL, ssh.Host, gitops, "none.invalid"} {
			if strings.Contains(text, mirror) {
				t.Errorf("the %s names the mirror %s:\n%s", name, mirror, text)
			}
		}
	}
	for _, request := range http.Requests() {
		if strings.Contains(request.Authorization, "original") {
			t.Error("the mirror got the credential for the original URL")
		}
	}

	// A mirror in a folder serves a registration. A registration that names a folder itself is still refused.
	mirrors["git@git.invalid:acme/"] = filepath.Dir(app)
	set(mirrors)
	r.ExpectEmptyPlan()
	mirrors[app] = ssh.URL(app)
	set(mirrors)
	gitserver.Seed(t, plane, "dev", map[string]string{"r.yaml": `apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata: {name: shop}
spec: {workload: {repo: "` + app + `", branch: main, path: .}}
`})
	r.ExpectError([]string{"Local repo in a registration", "Registration: shop"}, "plan", "-no-color")

	// An error names the repo and its mirror. An invalid mirror is an error.
	mirrors["https://git.invalid/acme/plane"] = http.URL + "/none.git"
	set(mirrors)
	both := "https://git.invalid/acme/plane at its mirror " + http.URL + "/none.git"
	r.ExpectError([]string{"Repo not found", both}, "plan", "-no-color")
	set(map[string]string{"https://me:canary-key@git.invalid/": "https://none.invalid/", "https://git.invalid": "mirror"})
	r.ExpectError([]string{
		"Invalid mirror", "The mirror of https://git.invalid/ is not a URL of repos", "One of its keys is not a URL of repos",
	}, "plan", "-no-color")
	if strings.Contains(r.Printed.String(), "canary") {
		t.Error("a secret is in the output")
	}
}

// TestAccMirrorsOfLocalRepos checks that a mirror does not let a registration name local repos, even by a path that
// leaves the mirror.
func TestAccMirrorsOfLocalRepos(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	secret, mirrored := gitserver.InitBare(t), gitserver.InitBare(t)
	gitserver.Seed(t, secret, "main", map[string]string{"w.yaml": acc.WorkloadDocument("secret", "test")})
	if err := os.Symlink(secret, filepath.Join(filepath.Dir(filepath.Dir(mirrored)), "secret.git")); err != nil {
		t.Fatal(err)
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
provider "kalypso" {
  git_mirrors = { "http://127.0.0.1:1/" = "` + filepath.Dir(mirrored) + `/" }
}
data "kalypso_workloads" "this" {
  registrations = {
    up      = { name = "up", workload = { repo = "http://127.0.0.1:1/../secret.git", branch = "main", path = "." } }
    encoded = {
      name     = "encoded"
      workload = { repo = "http://127.0.0.1:1/%2e%2e/secret.git", branch = "main", path = "." }
    }
  }
}
`})
	r.ExpectError([]string{"Repo can't be reached", "Registration: up", "Registration: encoded"}, "plan", "-no-color")
}
