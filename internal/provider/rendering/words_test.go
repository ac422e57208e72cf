package rendering_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingEmptyFirstDelivery: a fleet may begin without workloads on an empty branch. If the branch contains
// folders, an empty first delivery needs guardrails.allow_empty, unless nothing is written.
func TestAccRenderingEmptyFirstDelivery(t *testing.T) {
	t.Parallel()
	for _, begins := range []map[string]string{nil, {"README.md": "# GitOps\n", "other/fleet/large/x.yaml": "a: 1\n"}} {
		r := newRendering(t, gitserver.InitBare(t))
		if begins != nil {
			gitserver.Seed(t, r.repo, "dev", begins)
			r.setDestination("path", "clusters")
		}
		r.options("create_branch", true)
		r.Set("targets", map[string]string{})
		r.expectCommits(1)
		r.Set("targets", map[string]string{"a": "large"})
		r.expectCommits(1)
	}
	r := newRendering(t, gitserver.InitBare(t))
	gitserver.Seed(t, r.repo, "dev", map[string]string{"theirs/x.yaml": "a: 1\n"})
	r.Set("targets", map[string]string{})
	refused := []string{"Change exceeds guardrails", "The tree would be empty", "guardrails.allow_empty = true"}
	r.expectRefused(refused, "plan")
	r.Set("targets", map[string]string{"a": "large"})
	r.Set("value", "''")
	r.expectRefused(refused, "plan")
	r.Set("targets", map[string]string{})
	r.options("delivery", map[string]any{"strategy": "none"})
	r.Succeed("plan", "-no-color")
	r.options("delivery", nil, "guardrails", map[string]any{"allow_empty": true})
	r.expectCommits(1)
	r.options("guardrails", nil)
	r.expectCommits(0)
}

// TestAccRenderingReportsMissingNamesOnce: an environment that no workload names, and a missing template, are each
// reported once, with the names as the objects write them.
func TestAccRenderingReportsMissingNamesOnce(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
variable "environment" {
  type = string
}

resource "kalypso_environment_rendering" "this" {
  environment = var.environment
  manifests   = { "fleet.yaml" = file("fleet.yaml") }
  delivery    = { strategy = "none" }
}
`, "fleet.yaml": `
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: large, labels: {size: large}}
spec: {reconciler: flux, namespaceService: flux, configType: config}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: small}
spec: {reconciler: flux, namespaceService: flux, configType: config}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: flux}
spec: {type: reconciler, manifests: ["# a: b"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: app}
spec: {deploymentTargets: [{name: a, environment: dev}, {name: b, environment: stage}]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: large}
spec: {deploymentTargetSelector: {}, clusterTypeSelector: {labelSelector: {matchLabels: {size: large}}}}
`})
	missing := []string{
		"Missing template",
		`The template "config" does not exist. These cluster types name it: large: configType small: configType`,
		`Object: ClusterType "large" from fleet.yaml, document 1, line 1 Field: spec.configType`,
	}
	out := r.Succeed("plan", "-no-color", "-var", "environment=dve").Text()
	for _, said := range append(missing, "Environment that no workload names",
		`No workload has a deployment target for environment "dve". Workloads name these environments: dev stage`,
		"Nothing is assigned to these cluster types") {
		if !strings.Contains(out, said) {
			t.Errorf("the plan does not say %q:\n%s", said, out)
		}
	}
	if n := strings.Count(out, "Missing template"); n != 1 {
		t.Errorf("the missing template is reported %d times", n)
	}
	r.ExpectError(append(missing, "Error: Missing template"), "plan", "-no-color", "-var", "environment=dev")
}
