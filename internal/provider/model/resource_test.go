package model_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// Each kind is created, planned without changes, updated in place, imported from its own document, and destroyed. The
// folder of a kind contains both configurations, and the documents that the function manifest returns for them.
func TestAccModelResources(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock})
	addresses := make([]string, len(acc.ModelResources))
	for i, kind := range acc.ModelResources {
		addresses[i] = kind + ".test"
	}
	r.OutputManifests(addresses)
	file := func(kind, name string) string { return filepath.Join("testdata", "TestAccModelResources", kind, name) }
	step := func(name, action string) {
		var all strings.Builder
		want := map[string]string{}
		for _, kind := range acc.ModelResources {
			all.WriteString(acc.ReadFile(t, file(kind, name+".tf")))
			want[kind+".test"] = acc.ReadFile(t, file(kind, name+".yaml"))
		}
		r.Write("main.tf", all.String())
		for address, c := range r.Plan() {
			if diff := cmp.Diff([]string{action}, c.Actions); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", name, address, diff)
			}
		}
		if diff := cmp.Diff(want, plannedManifests(r)); diff != "" {
			t.Errorf("%s as planned (-want +got):\n%s", name, diff)
		}
		r.ApplyPlan()
		if diff := cmp.Diff(want, manifestsOf(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		r.ExpectEmptyPlan()
	}
	step("created", "create")
	step("updated", "update")

	was := r.State()
	var blocks strings.Builder
	for _, kind := range acc.ModelResources {
		fmt.Fprintf(&blocks, "import {\n  to = %s.test\n  id = %q\n}\n", kind, file(kind, "updated.yaml"))
	}
	r.Write("import.tf", blocks.String())
	r.EmptyState()
	if out := r.Apply().Text(); !strings.Contains(out, "8 imported, 0 added, 0 changed, 0 destroyed") {
		t.Errorf("the import: %s", out)
	}
	if diff := cmp.Diff(was, r.State()); diff != "" {
		t.Errorf("the import (-applied +imported):\n%s", diff)
	}
	r.Succeed("destroy", "-no-color", "-auto-approve")
	if left := r.State(); len(left) > 0 {
		t.Errorf("destroy left %v", left)
	}
}

// The command terraform import also imports the document of a resource, and the imported state equals the applied one.
func TestAccModelImportCommand(t *testing.T) {
	t.Parallel()
	const kind = "kalypso_workload"
	file := func(name string) string { return filepath.Join("testdata", "TestAccModelResources", kind, name) }
	r := acc.NewRoot(t, map[string]string{
		"terraform.tf": acc.TerraformBlock, "main.tf": acc.ReadFile(t, file("updated.tf")),
	})
	r.Apply()
	applied := r.State()
	r.EmptyState()
	r.Succeed("import", "-no-color", kind+".test", file("updated.yaml"))
	if diff := cmp.Diff(applied, r.State()); diff != "" {
		t.Errorf("the import (-applied +imported):\n%s", diff)
	}
	r.ExpectEmptyPlan()
}
