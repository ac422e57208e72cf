package examples_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// exampleFolders returns the folders below examples that contain configuration.
func exampleFolders(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(acc.Examples, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		files, err := filepath.Glob(filepath.Join(path, "*.tf"))
		if len(files) > 0 {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return all
}

// Every example is valid.
func TestAccExamples(t *testing.T) {
	for _, folder := range exampleFolders(t) {
		name, err := filepath.Rel(acc.Examples, folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			r := acc.NewExample(t, folder)
			if usesOtherProviders(folder) {
				serveOtherProviders(r, &otherProvider{})
			}
			r.Succeed("validate", "-no-color")
		})
	}
}

// Every resource, data source and function has a usage example, and every resource an import example.
func TestAccExamplesAreComplete(t *testing.T) {
	schema, err := provider.NewServer("test").GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil || len(schema.ResourceSchemas) == 0 || len(schema.Functions) == 0 {
		t.Fatalf("no schema: %v", err)
	}
	check := func(file, want string) {
		t.Helper()
		text := strings.ReplaceAll(acc.ReadFile(t, filepath.Join(acc.Examples, file)), "'", "")
		if !strings.Contains(text, want) {
			t.Errorf("%s does not contain %s", file, want)
		}
	}
	notImported := []string{"kalypso_deployment_gate", "kalypso_deployment_record", "kalypso_oci_artifacts"}
	for name := range schema.ResourceSchemas {
		check("resources/"+name+"/resource.tf", `resource "`+name+`"`)
		if !slices.Contains(notImported, name) {
			check("resources/"+name+"/import.sh", "terraform import "+name)
		}
	}
	for name := range schema.DataSourceSchemas {
		check("data-sources/"+name+"/data-source.tf", `data "`+name+`"`)
	}
	for name := range schema.Functions {
		check("functions/"+name+"/function.tf", "provider::kalypso::"+name+"(")
	}
}

var importCommand = regexp.MustCompile(`(?m)^terraform import (\S+) (\S+)$`)

// The examples of the model resources can be applied, and the commands in them import the objects from their manifests.
// One apply imports all of them.
func TestAccExamplesImport(t *testing.T) {
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock})
	r.OwnProcess() // the IDs are paths in the working directory
	for _, resource := range acc.ModelResources {
		r.Write(resource+".tf", acc.ReadFile(t, filepath.Join(acc.Examples, "resources", resource, "resource.tf")))
	}
	r.Apply()
	applied := r.State()
	r.OutputManifests(slices.Sorted(maps.Keys(applied)))
	r.Apply()
	var manifests map[string]string
	r.Output("manifests", &manifests)
	var blocks strings.Builder
	imports := 0
	for _, resource := range acc.ModelResources {
		text := acc.ReadFile(t, filepath.Join(acc.Examples, "resources", resource, "import.sh"))
		for _, command := range importCommand.FindAllStringSubmatch(text, -1) {
			address, id := strings.Trim(command[1], "'"), strings.Trim(command[2], "'")
			file, name, several := strings.Cut(id, "#")
			text := manifests[address]
			if several {
				text += "---\n" + strings.ReplaceAll(text, "name: "+name, "name: another")
			}
			r.Write(file, text)
			fmt.Fprintf(&blocks, "import {\n  to = %s\n  id = %q\n}\n", address, id)
			imports++
		}
	}
	r.Write("import.tf", blocks.String())
	r.EmptyState()
	want := fmt.Sprintf("%d imported, %d added, 0 changed, 0 destroyed", imports, len(applied)-imports)
	if out := r.Apply().Text(); imports < len(acc.ModelResources) || !strings.Contains(out, want) {
		t.Errorf("not %s:\n%s", want, out)
	}
	if diff := cmp.Diff(applied, r.State()); diff != "" {
		t.Errorf("the import (-applied +imported):\n%s", diff)
	}
	r.ExpectEmptyPlan()
}

// The examples of the functions return the documented results.
func TestAccExamplesFunctions(t *testing.T) {
	for function, want := range map[string]string{
		"manifest":            "kind: ClusterType",
		"placement_decisions": `"name": "kiosk-7"`,
		"namespace":           `namespace = "dev-large-hello-world-functional-test"`,
		"render_template":     `team: "kaizen"`,
		"selector_matches":    "Apply complete!",
	} {
		t.Run(function, func(t *testing.T) {
			out := acc.NewExample(t, filepath.Join(acc.Examples, "functions", function)).Apply()
			if text := out.Text(); !strings.Contains(text, want) || strings.Contains(text, "Check block assertion failed") {
				t.Errorf("no %q in:\n%s", want, out.Stdout)
			}
		})
	}
}
