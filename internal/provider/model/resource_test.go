package provider_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

var modelResources = []string{
	"kalypso_cluster_type",
	"kalypso_template",
	"kalypso_config",
	"kalypso_config_schema",
	"kalypso_secret",
	"kalypso_scheduling_policy",
	"kalypso_workload",
	"kalypso_workload_registration",
}

// Each kind is created, planned without changes, updated in place, imported from its own document, and destroyed. Its
// folder contains both configurations and the documents that the function manifest returns for them.
func TestAccModelResources(t *testing.T) {
	t.Parallel()
	r := newRoot(t, map[string]string{"terraform.tf": terraformBlock})
	addresses := make([]string, len(modelResources))
	for i, kind := range modelResources {
		addresses[i] = kind + ".test"
	}
	r.outputManifests(addresses)
	file := func(kind, name string) string { return filepath.Join("testdata", "TestAccModelResources", kind, name) }
	step := func(name, action string) {
		var all strings.Builder
		want := map[string]string{}
		for _, kind := range modelResources {
			all.WriteString(readFile(t, file(kind, name+".tf")))
			want[kind+".test"] = readFile(t, file(kind, name+".yaml"))
		}
		r.write("main.tf", all.String())
		for address, c := range r.plan() {
			if diff := cmp.Diff([]string{action}, c.Actions); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", name, address, diff)
			}
		}
		if diff := cmp.Diff(want, r.plannedManifests()); diff != "" {
			t.Errorf("%s as planned (-want +got):\n%s", name, diff)
		}
		r.applyPlan()
		if diff := cmp.Diff(want, r.manifests()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		r.expectEmptyPlan()
	}
	step("created", "create")
	step("updated", "update")

	was := r.state()
	var blocks strings.Builder
	for _, kind := range modelResources {
		fmt.Fprintf(&blocks, "import {\n  to = %s.test\n  id = %q\n}\n", kind, file(kind, "updated.yaml"))
	}
	r.write("import.tf", blocks.String())
	r.emptyState()
	if out := r.apply().text(); !strings.Contains(out, "8 imported, 0 added, 0 changed, 0 destroyed") {
		t.Errorf("the import: %s", out)
	}
	if diff := cmp.Diff(was, r.state()); diff != "" {
		t.Errorf("the import (-applied +imported):\n%s", diff)
	}
	r.succeed("destroy", "-no-color", "-auto-approve")
	if left := r.state(); len(left) > 0 {
		t.Errorf("destroy left %v", left)
	}
}

// The command terraform import imports the document of a resource too, without loss or addition. HashiCorp's test
// framework compares.
func TestAccModelImportCommand(t *testing.T) {
	t.Parallel()
	const kind = "kalypso_workload"
	file := func(name string) string { return filepath.Join("testdata", "TestAccModelResources", kind, name) }
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: factories, Steps: []resource.TestStep{
		{Config: readFile(t, file("updated.tf"))},
		{
			ResourceName:                         kind + ".test",
			ImportState:                          true,
			ImportStateId:                        file("updated.yaml"),
			ImportStateVerify:                    true,
			ImportStateVerifyIdentifierAttribute: "name",
		},
	}})
}
