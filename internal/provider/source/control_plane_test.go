package source_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// If the provider's credentials are unknown, a folder is read, and everything that needs a repo is an error that says
// why.
func TestAccControlPlaneUnknownProvider(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{
		"main.tf": acc.TerraformBlock + `
resource "terraform_data" "later" {
  input = "canary"
}
provider "kalypso" {
  git_credentials = [{ url = "https://git.acme.test", bearer_token = terraform_data.later.output }]
}
data "kalypso_control_plane" "folder" {
  directory = "${path.module}/control-plane"
}
output "names" {
  value = data.kalypso_control_plane.folder.names
}
`,
		"control-plane/small.yaml": "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: " +
			"small}\nspec: {reconciler: r, namespaceService: ns}\n",
	})
	r.OwnProcess() // the folder lies in the working directory
	planned := r.Succeed("plan", "-no-color").Text()
	if !strings.Contains(planned, `+ ClusterType = [ + "small", ]`) {
		t.Errorf("the plan does not show what is in the folder:\n%s", planned)
	}
	r.Write("repo.tf", `
data "kalypso_control_plane" "repo" {
  repo   = "https://git.acme.test/cp"
  branch = "dev"
}
`)
	r.ExpectError([]string{"The provider configuration is not known yet", "Repo: https://git.acme.test/cp"}, "plan",
		"-no-color")
}

// An unknown argument defers the read until apply.
func TestAccControlPlaneUnknownArgument(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Commit("cp", "dev", map[string]string{
		"a.yaml": "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: small}\nspec: " +
			"{reconciler: r, namespaceService: ns}\n",
	})
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
provider "kalypso" {
  git_credentials = [{ url = "` + h.URL + `", username = "me", password = "` + acc.GitHostPassword + `" }]
}
resource "terraform_data" "later" {
  input = "dev"
}
data "kalypso_control_plane" "this" {
  repo   = "` + h.RepoURL("cp") + `"
  branch = terraform_data.later.output
}
output "names" {
  value = data.kalypso_control_plane.this.names
}
`})
	planned := r.Succeed("plan", "-no-color").Text()
	if !strings.Contains(planned, "(config refers to values not yet known)") {
		t.Errorf("the plan does not defer the read:\n%s", planned)
	}
	if out := r.Apply().Text(); !strings.Contains(out, `"ClusterType" = tolist([ "small", ])`) {
		t.Errorf("apply does not show what it read:\n%s", out)
	}
	r.ExpectEmptyPlan()
}
