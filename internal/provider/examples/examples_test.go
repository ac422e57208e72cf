package provider_test

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
)

const examples = "../../examples"

// exampleFolders returns the folders below examples with configuration that are not modules of another one.
func exampleFolders(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(examples, func(path string, entry fs.DirEntry, err error) error {
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

// newExample creates a root module from an example. Examples for the documentation don't declare the provider's source.
func newExample(t *testing.T, folder string) *root {
	t.Helper()
	r := newRootFrom(t, folder)
	files, err := filepath.Glob(filepath.Join(folder, "*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	declared := false
	for _, file := range files {
		text := readFile(t, file)
		declared = declared || strings.Contains(text, "required_providers")
		if strings.Contains(text, "source = \"../") { // a module of another example
			at, err := filepath.Abs(folder)
			if err != nil {
				t.Fatal(err)
			}
			r.write(filepath.Base(file), strings.ReplaceAll(text, "source = \"../", "source = \""+at+"/../"))
			defer r.succeed("get")
		}
	}
	if !declared {
		r.write("terraform.tf", terraformBlock)
	}
	return r
}

// Every example is valid.
func TestAccExamples(t *testing.T) {
	for _, folder := range exampleFolders(t) {
		name, err := filepath.Rel(examples, folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			r := newExample(t, folder)
			if usesOtherProviders(folder) {
				r.serveOtherProviders(&otherProvider{})
			}
			r.succeed("validate", "-no-color")
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
		text := strings.ReplaceAll(readFile(t, filepath.Join(examples, file)), "'", "")
		if !strings.Contains(text, want) {
			t.Errorf("%s does not contain %s", file, want)
		}
	}
	for name := range schema.ResourceSchemas {
		check("resources/"+name+"/resource.tf", `resource "`+name+`"`)
		if name != "kalypso_deployment_gate" && name != "kalypso_deployment_record" { // they are not imported
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

// The examples of the model resources apply, and their commands import the objects from their manifests. One apply
// imports all of them.
func TestAccExamplesImport(t *testing.T) {
	r := newRoot(t, map[string]string{"terraform.tf": terraformBlock})
	r.ownProcess() // the IDs are paths in the working directory
	for _, resource := range modelResources {
		r.write(resource+".tf", readFile(t, filepath.Join(examples, "resources", resource, "resource.tf")))
	}
	r.apply()
	applied := r.state()
	r.outputManifests(slices.Sorted(maps.Keys(applied)))
	r.apply()
	manifests := r.manifests()
	var blocks strings.Builder
	imports := 0
	for _, resource := range modelResources {
		text := readFile(t, filepath.Join(examples, "resources", resource, "import.sh"))
		for _, command := range importCommand.FindAllStringSubmatch(text, -1) {
			address, id := strings.Trim(command[1], "'"), strings.Trim(command[2], "'")
			file, name, several := strings.Cut(id, "#")
			text := manifests[address]
			if several {
				text += "---\n" + strings.ReplaceAll(text, "name: "+name, "name: another")
			}
			r.write(file, text)
			fmt.Fprintf(&blocks, "import {\n  to = %s\n  id = %q\n}\n", address, id)
			imports++
		}
	}
	r.write("import.tf", blocks.String())
	r.emptyState()
	want := fmt.Sprintf("%d imported, %d added, 0 changed, 0 destroyed", imports, len(applied)-imports)
	if out := r.apply().text(); imports < len(modelResources) || !strings.Contains(out, want) {
		t.Errorf("not %s:\n%s", want, out)
	}
	if diff := cmp.Diff(applied, r.state()); diff != "" {
		t.Errorf("the import (-applied +imported):\n%s", diff)
	}
	r.expectEmptyPlan()
}

// The examples of the functions return the documented results.
func TestAccExamplesFunctions(t *testing.T) {
	for function, want := range map[string]string{
		"manifest":         "kind: ClusterType",
		"namespace":        `namespace = "dev-large-hello-world-functional-test"`,
		"render_template":  `team: "kaizen"`,
		"selector_matches": "Apply complete!",
	} {
		t.Run(function, func(t *testing.T) {
			out := newExample(t, filepath.Join(examples, "functions", function)).apply()
			if text := out.text(); !strings.Contains(text, want) || strings.Contains(text, "Check block assertion failed") {
				t.Errorf("no %q in:\n%s", want, out.stdout)
			}
		})
	}
}
