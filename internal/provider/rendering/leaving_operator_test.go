package rendering_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The guide "Leaving the operator" moves objects from YAML to HCL one by one: each object is imported and passed to the
// rendering, and its file is deleted. The tree and the branch do not change. With the manifest of its resource, an
// object moves back to YAML.
func TestAccMoveFromYAMLToHCL(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var imports strings.Builder
	add := func(resource, file, document string) {
		files[file] = document
		fmt.Fprintf(&imports, "import {\n  to = kalypso_%s.%s\n  id = \"fleet/%s\"\n}\n", resource,
			strings.TrimSuffix(file, ".yaml"), file)
	}
	kalypso := func(kind, name, labels, spec string) string {
		return fmt.Sprintf(
			"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %s, labels: {%s}}\nspec: "+
				"%s\n",
			kind,
			name,
			labels,
			spec,
		)
	}
	add("cluster_type", "large.yaml", kalypso("ClusterType", "large", "region: west",
		"{reconciler: flux, namespaceService: ns}"))
	add("template", "flux.yaml", kalypso("Template", "flux", "",
		`{type: reconciler, manifests: ["# path: {{ .Manifests.path }}\n"]}`))
	add(
		"template",
		"ns.yaml",
		kalypso("Template", "ns", "", `{type: namespace, manifests: ["# name: {{ .Namespace }}\n"]}`),
	)
	add("scheduling_policy", "team.yaml", kalypso("SchedulingPolicy", "team", "",
		"{deploymentTargetSelector: {workspace: team, labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}"))
	add("workload", "app.yaml", kalypso("Workload", "app", "workspace: team",
		"{deploymentTargets: [{name: test, environment: dev, manifests: {path: ./test}}]}"))
	add(
		"config",
		"west.yaml",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: west, labels: {platform-config: \"true\", region: west}}\ndata: "+
			"{REGION: West, PORTS: \"[80, 443]\"}\n",
	)

	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock})
	r.OwnProcess() // the import IDs are paths in the working directory
	for file, document := range files {
		r.Write(filepath.Join("fleet", file), document)
	}
	repo := gitserver.InitBare(t)
	render := func(handed map[string]string, manifests string) {
		t.Helper()
		text := "resource \"kalypso_environment_rendering\" \"dev\" {\n  environment = \"dev\"\n  gitops_repo = { repo = " +
			"\"file://" + repo + "\", branch = \"dev\" }\n  create_branch = true\n  preview = \"manifests\"\n"
		for attribute, objects := range handed {
			text += "  " + attribute + " = {" + objects + "}\n"
		}
		r.Write("main.tf", text+"  manifests = merge({ for f in fileset(path.module, \"fleet/*.yaml\") : f => file(f) }, "+
			"{"+manifests+"})\n}\n")
	}
	render(nil, "")
	r.Apply()
	before := r.State()["kalypso_environment_rendering.dev"]
	if got := fmt.Sprint(placed(before["assignments"])); got != "map[large:[app-test]]" {
		t.Fatalf("assignments: %s", got)
	}
	expectSame := func(step string) {
		t.Helper()
		r.Apply()
		r.ExpectEmptyPlan()
		after := r.State()["kalypso_environment_rendering.dev"]
		if after["tree_hash"] != before["tree_hash"] || after["commit_sha"] != before["commit_sha"] {
			t.Errorf("%s: the tree was %v and is %v", step, before["tree_hash"], after["tree_hash"])
		}
		if commits := gitserver.Log(t, repo, "dev"); len(commits) != 1 {
			t.Errorf("%s: %d commits", step, len(commits))
		}
	}

	r.Write("imports.tf", imports.String())
	r.Succeed("plan", "-no-color", "-generate-config-out=generated.tf")
	expectSame("import")

	handed := map[string]string{"cluster_types": "large = kalypso_cluster_type.large"}
	render(handed, "")
	r.ExpectError([]string{"Duplicate object", `cluster_types["large"]`, "fleet/large.yaml"}, "plan", "-no-color")
	for _, step := range []struct{ attribute, objects, files string }{
		{"cluster_types", "large = kalypso_cluster_type.large", "large"},
		{"templates", "flux = kalypso_template.flux", "flux"},
		{"workloads", "app = kalypso_workload.app", "app"},
		{"templates", "flux = kalypso_template.flux, ns = kalypso_template.ns", "ns"},
		{"configs", "west = kalypso_config.west", "west"},
		{"scheduling_policies", "team = kalypso_scheduling_policy.team", "team"},
	} {
		handed[step.attribute] = step.objects
		if err := os.Remove(filepath.Join(r.Folder, "fleet", step.files+".yaml")); err != nil {
			t.Fatal(err)
		}
		render(handed, "")
		if after := r.Plan()["kalypso_environment_rendering.dev"].After["tree_hash"]; after != before["tree_hash"] {
			t.Errorf("%s: the plan's tree is %v", step.files, after)
		}
		if slices.Contains([]string{"large", "west"}, step.files) {
			expectSame(step.files)
		}
	}
	expectSame("all")
	delete(handed, "cluster_types")
	render(handed, `"large.yaml" = provider::kalypso::manifest(kalypso_cluster_type.large)`)
	expectSame("back")
}
