package rendering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A reconciler that is not Kubernetes, such as Ansible in Microsoft's sample, needs one line in its templates, and no
// guardrail that is turned down for the whole rendering.
func TestAccPlaybooks(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "dev", map[string]string{"README.md": "GitOps\n"})
	configuration := func(contentType string) string {
		return acc.TerraformBlock + fmt.Sprintf(`
resource "kalypso_template" "playbook" {
  name         = "playbook"
  type         = "reconciler"%[2]s
  manifests    = ["- hosts: localhost\n  tasks:\n  - command: ansible-pull -C {{ .Manifests.branch }} site.yml\n"]
}

resource "kalypso_template" "user" {
  name         = "user"
  type         = "namespace"%[2]s
  manifests    = ["- hosts: localhost\n  tasks:\n  - user: {name: '{{ .DeploymentTargetName }}'}\n"]
}

resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  gitops_repo         = { repo = "file://%[1]s", branch = "dev" }
  templates           = { playbook = kalypso_template.playbook, user = kalypso_template.user }
  cluster_types       = { edge = { name = "edge", reconciler = "playbook", namespace_service = "user" } }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads = { app = { name = "app", deployment_targets = [
    { name = "web", environment = "dev", manifests = { branch = "main" } },
    { name = "api", environment = "dev", manifests = { branch = "main" } },
  ] } }
}
`, repo, contentType)
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": configuration("")})
	r.ExpectError([]string{"Rendered file is invalid"}, "plan", "-no-color")
	r.Write("main.tf", configuration("\n  content_type = \"text\""))
	const first = "Warning: Guardrails of the new rendering" // which each first plan shows
	if out := r.Apply().Text(); strings.Contains(strings.ReplaceAll(out, first, ""), "Warning: ") {
		t.Errorf("the apply warns:\n%s", out)
	}
	const want = "- hosts: localhost\n  tasks:\n  - command: ansible-pull -C main site.yml\n"
	if got := gitserver.Tree(t, repo, "dev")["edge/app-web/reconciler.yaml"]; got != want {
		t.Errorf("the playbook is %q, want %q", got, want)
	}
	r.ExpectEmptyPlan()
}
