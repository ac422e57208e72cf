package rendering_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccProtocol compares package protocol with Terraform: a rendering has the same plans and the same states when it
// is created, when it is changed, after drift, and with values that are unknown at plan.
func TestAccProtocol(t *testing.T) {
	t.Parallel()
	repo, other := gitserver.InitBare(t), gitserver.InitBare(t)
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock})
	p := acc.NewRenderingRun(t)
	step := func(name, value, planned string) {
		t.Helper()
		known := fleetArguments(repo, value)
		given := maps.Clone(known)
		unknown := fleetArguments(other, value)
		if planned != "" {
			given["promoted_commit"], known["promoted_commit"] = "${terraform_data.commit.output}", planned
			unknown["promoted_commit"] = protocol.Unknown
		}
		r.Write("main.tf.json", acc.ToJSON(t, map[string]any{"resource": map[string]any{
			"kalypso_environment_rendering": map[string]any{"this": given},
			"terraform_data":                map[string]any{"commit": map[string]any{"input": planned}},
		}}))
		after := fleetArguments(other, value)
		if planned != "" {
			after["promoted_commit"] = planned
		}
		c := r.Plan()[renderingAddress]
		r.ApplyPlan()
		state := r.State()[renderingAddress]
		wantPlan, wantState := map[string]string{}, map[string]string{}
		protocol.Flatten(wantPlan, "", c.After)
		flattenUnknown(wantPlan, "", c.Unknown)
		protocol.Flatten(wantState, "", state)
		gotPlan, gotState := p.Run(unknown, after)
		for _, lines := range []map[string]string{wantPlan, wantState, gotPlan, gotState} {
			for _, differs := range []string{"gitops_repo.repo", "commit_sha"} { // repos and times differ
				if lines[differs] != "(known after apply)" {
					delete(lines, differs)
				}
			}
		}
		if diff := cmp.Diff(wantPlan, gotPlan); diff != "" {
			t.Errorf("%s: the plan (-Terraform +protocol):\n%s", name, diff)
		}
		if diff := cmp.Diff(wantState, gotState); diff != "" {
			t.Errorf("%s: the state (-Terraform +protocol):\n%s", name, diff)
		}
		if diff := cmp.Diff(gitserver.Tree(t, repo, "dev"), gitserver.Tree(t, other, "dev")); diff != "" {
			t.Errorf("%s: the branch (-Terraform +protocol):\n%s", name, diff)
		}
	}
	step("create", "one", "")
	step("no change", "one", "")
	step("change", "two", "")
	for _, at := range []string{repo, other} {
		gitserver.Seed(t, at, "dev", map[string]string{"large/shop-web/r.yaml": "theirs\n"})
	}
	step("drift", "two", "")
	step("unknown value", "three", "a1b2")
}

// fleetArguments returns the arguments of a rendering with objects in typed maps and in YAML. value is a config value.
func fleetArguments(repo, value string) map[string]any {
	return map[string]any{
		"environment": "dev", "create_branch": true, "on_drift": "overwrite", "preview": "manifests",
		"gitops_repo": map[string]any{"repo": "file://" + repo, "branch": "dev"},
		"delivery":    map[string]any{"describe": "values"},
		"cluster_types": map[string]any{"large": map[string]any{
			"name": "large", "reconciler": "r", "namespace_service": "n", "config_type": "c",
		}},
		"templates": map[string]any{
			"r": map[string]any{"name": "r", "type": "reconciler", "manifests": []any{"# r: {{ .Namespace }}\n"}},
			"n": map[string]any{"name": "n", "type": "namespace", "manifests": []any{"# n: {{ .Namespace }}\n"}},
			"c": map[string]any{"name": "c", "type": "config", "manifests": []any{"# v: {{ .ConfigData.v }}\n"}},
		},
		"scheduling_policies": map[string]any{"all": map[string]any{
			"name": "all", "deployment_target_selector": map[string]any{"match_all": true},
			"cluster_type_selector": map[string]any{"match_all": true},
		}},
		"workloads": map[string]any{"shop": map[string]any{"name": "shop", "deployment_targets": []any{
			map[string]any{"name": "web", "environment": "dev"},
		}}},
		"manifests": map[string]any{"a.yaml": "kind: ConfigMap\napiVersion: v1\n" +
			"metadata: {name: a, labels: {platform-config: \"true\"}}\ndata: {v: " + value + "}\n"},
	}
}

// flattenUnknown adds the unknown values of a plan.
func flattenUnknown(all map[string]string, at string, v any) {
	switch v := v.(type) {
	case bool:
		if v {
			all[strings.TrimPrefix(at, ".")] = "(known after apply)"
		}
	case map[string]any:
		for key, part := range v {
			flattenUnknown(all, at+"."+key, part)
		}
	case []any:
		for i, part := range v {
			flattenUnknown(all, at+"["+strconv.Itoa(i)+"]", part)
		}
	}
}
