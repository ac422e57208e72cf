package artifacts_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// TestAccOCIArtifacts publishes the quickstart's rendering with the CLI: in the apply that delivers it, after a change
// of one cluster type, and into another repository.
func TestAccOCIArtifacts(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "quickstart"))
	server := registryserver.Start(t, registryserver.WithBasic("ann", "canary-password"))
	r.Write("artifacts.tf", `
variable "registry" {}
variable "repository" { default = "fleet" }

resource "kalypso_oci_artifacts" "this" {
  gitops_repo = kalypso_environment_rendering.this.gitops_repo
  commit      = kalypso_environment_rendering.this.commit_sha
  repository  = "oci://${var.registry}/${var.repository}"
  tags        = ["latest"]
  on_destroy  = "remove"
}
`)
	r.Write("provider_override.tf", `
provider "kalypso" {
  oci_credentials = [{ url = "http://${var.registry}", username = "ann", password = "canary-password" }]
}
`)
	r.Set("gitops_repo_url", gitserver.InitBare(t))
	r.Set("registry", server.Host)
	const address = "kalypso_oci_artifacts.this"
	artifacts := func() map[string]any { return acc.As[map[string]any](r.State()[address]["artifacts"]) }

	if c := r.Plan()[address]; c.Unknown["artifacts"] != true {
		t.Errorf("the first plan knows of the artifacts: %v", c.Unknown)
	}
	r.ApplyPlan()
	r.ExpectEmptyPlan()
	first := artifacts()
	folders := acc.As[map[string]any](r.Rendered()["assignments"])
	if got, want := slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(folders)); !slices.Equal(got, want) {
		t.Errorf("the artifacts are %v, want %v", got, want)
	}

	r.Write("configs.tf", strings.Replace(acc.ReadFile(t, filepath.Join(acc.Examples, "quickstart/configs.tf")),
		`CLUSTER_NAME = "Large"`, `CLUSTER_NAME = "Largest"`, 1))
	r.Apply()
	second := artifacts()
	for name, a := range second {
		was, is := acc.As[map[string]any](first[name]), acc.As[map[string]any](a)
		if same := was["digest"] == is["digest"]; same != (name != "large") {
			t.Errorf("%s was %v and is %v", name, was, is)
		}
	}
	r.ExpectEmptyPlan()

	r.Set("repository", "others")
	if c := r.Plan()[address]; !slices.Equal(c.Actions, []string{"update"}) || c.Unknown["artifacts"] == true {
		t.Errorf("another repository: %v, %v", c.Actions, c.Unknown)
	}
	r.ApplyPlan()
	r.ExpectEmptyPlan()
	for name, a := range artifacts() {
		if digest := acc.As[map[string]any](a)["digest"]; digest != acc.As[map[string]any](second[name])["digest"] {
			t.Errorf("%s has %v in another repository", name, digest)
		}
	}
	r.ExpectIdentity(address, map[string]any{"repository": "oci://" + server.Host + "/others"})
	r.Succeed("destroy", "-no-color", "-auto-approve", "-target="+address)
	if strings.Contains(r.Printed.String(), "canary") {
		t.Error("the output contains a password")
	}
}
