package source_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccLocalRegistrations checks that no registration, from any source, may name a repo on this machine unless the
// provider allows it. The control plane, its base and the GitOps repo may be local, because the configuration names
// them.
func TestAccLocalRegistrations(t *testing.T) {
	t.Parallel()
	app, base, plane, gitops := gitserver.InitBare(t), gitserver.InitBare(t), gitserver.InitBare(t), gitserver.InitBare(t)
	gitserver.Seed(t, app, "main", map[string]string{"w.yaml": acc.WorkloadDocument("shop", "test")})
	document := func(kind, name, spec string) string {
		return fmt.Sprintf("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n",
			kind, name, spec)
	}
	registration := func(name, repo string) string {
		return document("WorkloadRegistration", name, "{workload: {repo: \""+repo+"\", branch: main, path: .}}")
	}
	gitserver.Seed(t, base, "main", map[string]string{"r.yaml": registration("of-the-base", "file://"+app)})
	gitserver.Seed(t, plane, "dev", map[string]string{
		"base.yaml": document("BaseRepo", "base", "{repo: \"file://"+base+"\", branch: main, path: .}"),
	})
	gitserver.Seed(t, gitops, "main", map[string]string{"README.md": "hello\n"})

	acc.NeedTerraform(t)
	r := acc.NewRoot(t, map[string]string{
		"main.tf": acc.TerraformBlock + `
variable "allow" {
  type    = bool
  default = null
}
provider "kalypso" {
  allow_local_repos = var.allow
}
data "kalypso_workloads" "this" {
  registrations = {
    url  = { name = "by-url", workload = { repo = "file://` + app + `", branch = "main", path = "." } }
    path = { name = "by-path", workload = { repo = "` + app + `", branch = "main", path = "." } }
  }
}
data "kalypso_control_plane" "repo" {
  repo   = "` + plane + `"
  branch = "dev"
}
data "kalypso_control_plane" "folder" {
  directory = "${path.module}/folder"
}
resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  manifests   = data.kalypso_control_plane.repo.manifests
  gitops_repo = { repo = "` + gitops + `", branch = "main" }
  guardrails  = { allow_empty = true }
}
`,
		"folder/r.yaml": registration("of-the-folder", "FILE://localhost"+app),
	})
	r.OwnProcess() // the folder lies in the working directory
	read := []string{"by-url", "by-path", "of-the-base", "of-the-folder"}
	for _, arguments := range [][]string{{}, {"-var", "allow=false"}} {
		out := r.Terraform(append([]string{"plan", "-no-color"}, arguments...)...).Text()
		for _, name := range read {
			if !strings.Contains(out, "Registration: "+name) {
				t.Errorf("with %v, registration %s is not refused:\n%s", arguments, name, out)
			}
		}
		n := strings.Count(out, "Local repo in a registration")
		if n != len(read) || !strings.Contains(out, "allow_local_repos = true") {
			t.Errorf("with %v, %d registrations are refused:\n%s", arguments, n, out)
		}
	}

	// Two registrations of one Workload in a data source are another error, so only one of them remains.
	main := acc.ReadFile(t, filepath.Join(r.Folder, "main.tf"))
	r.Write("main.tf", strings.Replace(main, "    path = {", "    # path = {", 1))
	r.Apply("-var", "allow=true")
	r.ExpectEmptyPlan("-var", "allow=true")
}
