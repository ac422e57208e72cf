package provider_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// Every argument that names a branch or a path in a repo, of all resources, data sources and lists, is checked before
// anything is contacted, and the error points to it.
func TestBranchAndPathArguments(t *testing.T) {
	server := provider.NewServer("test")
	schemas := protocol.ReadSchemas(t, server)
	session, ds := schemas.Start(t, server, nil)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	validate := map[string]func(name string, config map[string]any) protocol.Diagnostics{
		"resource": func(name string, config map[string]any) protocol.Diagnostics { // some are only checked by the plan
			_, ds := session.Plan(t.Context(), &protocol.Resource{Type: name}, config)
			return ds
		},
		"data": func(name string, config map[string]any) protocol.Diagnostics {
			return session.ValidateData(t.Context(), name, config)
		},
		"list": func(name string, config map[string]any) protocol.Diagnostics {
			return session.ValidateList(t.Context(), protocol.ListRequest{Type: name, Config: config})
		},
	}
	long := strings.Repeat("a", 255)
	bad := map[string][]string{
		"branch": {"dev.lock", "a b", "a..b", "-dev", "refs/heads/dev", "HEAD", "a\tb"},
		"path": {
			"a\tb", "a/b\nc", "\x7f", "a/\u0085", long + "a", "a/" + long + "a/b", strings.Repeat("ä", 128),
			strings.Repeat("abcdefg/", 400) + "a", "../a",
		},
	}
	good := map[string][]string{
		"branch": {"dev", "env/eu.west", "a.lock2"},
		"path":   {"a", "a/b", long, "a/" + strings.Repeat("ä", 127), "日本", "a b"},
	}
	required := map[string]map[string]any{ // the plan is only reached with them
		"kalypso_environment_rendering": {"environment": "dev"},
		"kalypso_oci_artifacts":         {"repository": "registry.acme.io/gitops"},
	}
	found := map[string]int{}
	for _, block := range allBlocks(schemas) {
		for _, at := range locationArguments(block.schema.Block.Attributes, nil) {
			argument := at[len(at)-1]
			switch at[0] {
			case "promotion", "rollout": // the results of data sources that check them
				continue
			case "registrations": // a registration that can't be read is reported with its name, or is passed over
				continue
			}
			found[argument]++
			refused := func(value string) (refused []string) {
				config := at.config(value)
				maps.Copy(config, required[block.name])
				for _, d := range validate[block.kind](block.name, config) {
					text := d.Attribute.String() + " " + d.Summary + " " + d.Detail
					if d.Severity == tfprotov6.DiagnosticSeverityError && strings.Contains(d.Summary, "Invalid "+argument) {
						refused = append(refused, text)
					}
				}
				return refused
			}
			for _, value := range bad[argument] {
				if got := refused(value); len(got) != 1 || !strings.Contains(got[0], argument) {
					t.Errorf("%s %s, %s = %.20q: %.200q", block.kind, block.name, strings.Join(at, "."), value, got)
				}
			}
			for _, value := range good[argument] {
				if got := refused(value); len(got) != 0 {
					t.Errorf("%s %s, %s = %.20q: %.200q", block.kind, block.name, strings.Join(at, "."), value, got)
				}
			}
		}
	}
	if found["branch"] < 20 || found["path"] < 10 {
		t.Errorf("the schemas have %v", found)
	}
}

// block is the schema of a resource, a data source or a list.
type block struct {
	kind, name string
	schema     *tfprotov6.Schema
}

// allBlocks returns the blocks of a provider, sorted.
func allBlocks(schemas *protocol.Schemas) (all []block) {
	for kind, of := range map[string]map[string]*tfprotov6.Schema{
		"resource": schemas.ResourceSchemas, "data": schemas.DataSourceSchemas, "list": schemas.ListResourceSchemas,
	} {
		for name, s := range of {
			all = append(all, block{kind, name, s})
		}
	}
	slices.SortFunc(all, func(a, b block) int { return strings.Compare(a.kind+a.name, b.kind+b.name) })
	return all
}

// argumentPath is the path of an argument. "[]" is an element of a list or a set, "{}" one of a map.
type argumentPath []string

// locationArguments returns the arguments branch and path of the objects that also have the argument repo.
func locationArguments(attributes []*tfprotov6.SchemaAttribute, at argumentPath) (all []argumentPath) {
	given := map[string]bool{}
	for _, a := range attributes {
		given[a.Name] = a.Optional || a.Required
	}
	for _, a := range attributes {
		if !given[a.Name] {
			continue
		}
		below := append(slices.Clone(at), a.Name)
		if given["repo"] && (a.Name == "branch" || a.Name == "path") {
			all = append(all, below)
		}
		if a.NestedType == nil {
			continue
		}
		switch a.NestedType.Nesting {
		case tfprotov6.SchemaObjectNestingModeList, tfprotov6.SchemaObjectNestingModeSet:
			below = append(below, "[]")
		case tfprotov6.SchemaObjectNestingModeMap:
			below = append(below, "{}")
		}
		all = append(all, locationArguments(a.NestedType.Attributes, below)...)
	}
	return all
}

// config returns a configuration that sets the argument, in a location that is valid otherwise.
func (at argumentPath) config(value string) map[string]any {
	location := map[string]any{"repo": "https://git.acme.io/platform/gitops"}
	if last := at[len(at)-1]; last != "branch" {
		location["branch"] = "dev"
	}
	location[at[len(at)-1]] = value
	var config any = location
	for _, step := range slices.Backward(at[:len(at)-1]) {
		switch step {
		case "[]":
			config = []any{config}
		case "{}":
			config = map[string]any{"x": config}
		default:
			config = map[string]any{step: config}
		}
	}
	object, _ := config.(map[string]any)
	return object
}
