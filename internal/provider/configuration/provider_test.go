package configuration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// If credentials are unknown at plan, everything that needs no server is planned, with a warning, and the apply works.
func TestAccProviderUnknown(t *testing.T) {
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
resource "terraform_data" "later" {
  input = "canary"
}
provider "kalypso" {
  git_credentials = [{ url = "https://git.acme.io", bearer_token = terraform_data.later.output }]
}
resource "kalypso_config" "test" {
  name = "c"
}
output "manifest" {
  value = provider::kalypso::manifest(kalypso_config.test)
}
`})
	planned := r.Succeed("plan", "-no-color").Text()
	for _, want := range []string{"Provider configuration not known yet", "Plan: 2 to add", "kind: ConfigMap"} {
		if !strings.Contains(planned, want) {
			t.Errorf("the plan does not say %q:\n%s", want, planned)
		}
	}
	r.Apply()
	r.ExpectEmptyPlan()
	if again := r.Succeed("plan", "-no-color").Text(); strings.Contains(again, "not known yet") {
		t.Errorf("the plan after apply warns:\n%s", again)
	}
}

// No output, state, plan or log contains a credential.
func TestAccProviderSecrets(t *testing.T) {
	const canary = "canary-0f2c"
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
variable "canary" {
  type      = string
  sensitive = true
}
provider "kalypso" {
  git_credentials = [
    { url = "https://git.acme.io", username = "x", password = var.canary },
    { url = "https://git.acme.io/b", bearer_token = var.canary },
  ]
  github = { token = var.canary }
}
resource "kalypso_config" "test" {
  name = "c"
}
`})
	r.StartProviders() // so that it has its own log and environment
	r.Env = append(r.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(r.Folder, "trace.log"), "TF_VAR_canary="+canary,
		"GITHUB_TOKEN="+canary+"-github")
	out := r.Succeed("plan", "-no-color", "-out=plan")
	applied := r.Apply()
	shown := r.Succeed("show", "-no-color", "-json", "plan")
	for name, text := range map[string]string{
		"plan":  out.Stdout + out.Stderr,
		"apply": applied.Stdout + applied.Stderr,
		"log":   acc.ReadFile(t, filepath.Join(r.Folder, "trace.log")),
		"state": acc.ReadFile(t, filepath.Join(r.Folder, "terraform.tfstate")),
		// Terraform itself keeps the variable in the plan.
		"shown plan": strings.ReplaceAll(shown.Stdout, `"canary":{"value":"`+canary+`"}`, ""),
	} {
		if strings.Contains(text, canary) {
			t.Errorf("a secret is in the %s", name)
		}
	}
	if _, err := os.Stat(filepath.Join(r.Folder, "trace.log")); err != nil {
		t.Error(err)
	}
}
