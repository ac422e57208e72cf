package provider_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// registry is the URL at which the Terraform Registry shows docs/. Templates and descriptions link to this URL, and
// make docs makes the links relative.
const registry = "https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs"

// The pages of lists show their schemas and examples, in the form of tfplugindocs. tfplugindocs can't write these pages
// with a Terraform older than 1.14, which has no lists, so it copies them from templates/. With -update, this test
// writes them.
func TestListPages(t *testing.T) {
	schemas, err := provider.NewServer("test").GetProviderSchema(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range slices.Sorted(maps.Keys(schemas.ListResourceSchemas)) {
		page := listPage(t, resource, schemas.ListResourceSchemas[resource])
		name := filepath.Join("list-resources", strings.TrimPrefix(resource, "kalypso_")+".md")
		template := filepath.Join("../../templates", name)
		if *acc.Update {
			if err := os.MkdirAll(filepath.Dir(template), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(template, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		relative := strings.Replace(page, registry+"/guides/bring-what-exists", "../guides/bring-what-exists.md", 1)
		for file, want := range map[string]string{template: page, filepath.Join("../../docs", name): relative} {
			if text, err := os.ReadFile(file); err != nil || string(text) != want {
				t.Errorf("%s is not up to date (%v): run go test ./internal/provider -run TestListPages -update, and make docs",
					file, err)
			}
		}
	}
}

// listPage returns the page of a list.
func listPage(t *testing.T, resource string, schema *tfprotov6.Schema) string {
	t.Helper()
	example := acc.ReadFile(t, filepath.Join(acc.Examples, "list-resources", resource, "list-resource.tfquery.hcl"))
	summary, _, _ := strings.Cut(schema.Block.Description, ". ")
	var b strings.Builder
	fmt.Fprintf(&b, "---\npage_title: \"%s List Resource - Kalypso\"\nsubcategory: \"\"\ndescription: |-\n  %s.\n---\n\n",
		resource, strings.TrimSuffix(summary, "."))
	fmt.Fprintf(&b, "# %s (List Resource)\n\n%s\n\n", resource, schema.Block.Description)
	fmt.Fprintf(&b, "`terraform query` of Terraform 1.14 or newer reads it from a file `*.tfquery.hcl`. It stops at 100 "+
		"results, with a warning, unless the list block sets `limit`. The guide [Import existing objects](%s/guides/"+
		"bring-what-exists) shows how.\n\n", registry)
	fmt.Fprintf(&b, "## Example Usage\n\n```terraform\n%s\n```\n\n## Schema\n", strings.TrimRight(example, "\n"))
	for _, group := range []string{"Required", "Optional"} {
		var lines []string
		for _, a := range schema.Block.Attributes {
			if a.Required == (group == "Required") {
				lines = append(lines, fmt.Sprintf("- `%s` (%s) %s\n", a.Name, typeName(t, a.Type), a.Description))
			}
		}
		slices.SortFunc(lines, cmp.Compare)
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n%s", group, strings.Join(lines, ""))
		}
	}
	return b.String()
}

// typeName returns the name of an attribute's type in documentation.
func typeName(t *testing.T, of tftypes.Type) string {
	t.Helper()
	switch {
	case of.Is(tftypes.String):
		return "String"
	case of.Is(tftypes.List{ElementType: tftypes.String}):
		return "List of String"
	case of.Is(tftypes.Map{ElementType: tftypes.String}):
		return "Map of String"
	}
	t.Fatalf("no name for %s", of)
	return ""
}
