package provider_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// lists reads lists of a configured provider through the protocol, as terraform query does.
type lists struct {
	t       *testing.T
	session *protocol.Session
}

func newLists(t *testing.T, config map[string]any) *lists {
	t.Helper()
	return &lists{t, (&acc.ProtocolRun{T: t, Config: config}).Start()}
}

// try reads a list with whole resources.
func (l *lists) try(of string, limit int64, config map[string]any) ([]protocol.ListResult, protocol.Diagnostics) {
	l.t.Helper()
	return l.session.List(l.t.Context(), protocol.ListRequest{
		Type: of, Config: config, Limit: limit, IncludeResource: true,
	})
}

// read reads a list, and expects no diagnostics.
func (l *lists) read(of string, config map[string]any) []protocol.ListResult {
	l.t.Helper()
	results, ds := l.try(of, 100, config)
	if len(ds) > 0 {
		l.t.Errorf("%s: %s", of, ds)
	}
	return results
}

// namesOf returns the display names of results.
func namesOf(results []protocol.ListResult) []string {
	names := []string{}
	for _, r := range results {
		names = append(names, r.DisplayName)
	}
	return names
}

// expectImports fails the test unless an import of each result by its identity has the state that the list shows.
func (l *lists) expectImports(of string, results []protocol.ListResult) {
	l.t.Helper()
	for _, r := range results {
		imported, ds := l.session.ImportIdentity(l.t.Context(), of, r.Identity)
		if imported == nil || len(ds) > 0 {
			l.t.Errorf("%s %s: %s", of, r.DisplayName, ds)
			continue
		}
		if diff := cmp.Diff(protocol.Lines(r.Resource), protocol.Lines(imported.State)); diff != "" {
			l.t.Errorf("%s %s (-list +import):\n%s", of, r.DisplayName, diff)
		}
	}
}

// importedResources evaluates the resources in the text of import_blocks. It returns type → name → leaves, in the form
// of [protocol.Lines].
func importedResources(t *testing.T, text string) map[string]map[string]map[string]string {
	t.Helper()
	file, problems := hclsyntax.ParseConfig([]byte(text), "model.tf", hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	body, _ := file.Body.(*hclsyntax.Body)
	functions := map[string]function.Function{"chomp": stdlib.ChompFunc, "jsonencode": stdlib.JSONEncodeFunc}
	templates := map[string]cty.Value{}
	for _, b := range body.Blocks {
		if b.Type == "resource" && b.Labels[0] == "kalypso_template" {
			name, problems := b.Body.Attributes["name"].Expr.Value(nil)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			templates[b.Labels[1]] = cty.ObjectVal(map[string]cty.Value{"name": name})
		}
	}
	variables := map[string]cty.Value{"kalypso_template": cty.ObjectVal(templates)}
	all := map[string]map[string]map[string]string{}
	for _, b := range body.Blocks {
		if b.Type != "resource" {
			continue
		}
		lines := map[string]string{}
		for name, attribute := range b.Body.Attributes {
			v, problems := attribute.Expr.Value(&hcl.EvalContext{Functions: functions, Variables: variables})
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			encoded, err := ctyjson.Marshal(v, v.Type())
			if err != nil {
				t.Fatal(err)
			}
			var decoded any
			acc.FromJSON(t, string(encoded), &decoded)
			protocol.Flatten(lines, "."+name, decoded)
		}
		if all[b.Labels[0]] == nil {
			all[b.Labels[0]] = map[string]map[string]string{}
		}
		all[b.Labels[0]][b.Labels[1]] = lines
	}
	return all
}

// The lists of a control plane have the same names and bodies as import_blocks, also for the objects of its base. An
// import by identity reads the listed commit, even if the branch has moved.
func TestListControlPlane(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Sample()
	everything := acc.ReadFile(t, "model/testdata/TestAccImportGeneratesConfiguration/control-plane.yaml")
	h.Commit("everything", "dev", map[string]string{
		"all.yaml":         everything,
		"names/same.yaml":  configMap("Same", "a"),
		"names/again.yaml": configMap("same", "b"),
	})
	for repo, kinds := range map[string]int{"kalypso-control-plane": 5, "everything": 8} {
		t.Run(repo, func(t *testing.T) {
			l := newLists(t, h.Access())
			at := map[string]any{"repo": h.RepoURL(repo), "branch": "dev"}
			with := maps.Clone(at)
			with["follow_registrations"] = false
			read, ds := l.session.ReadData(t.Context(), "kalypso_control_plane", with)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			var attributes map[string]tftypes.Value
			var text string
			if err := read.As(&attributes); err != nil {
				t.Fatal(err)
			}
			if err := attributes["import_blocks"].As(&text); err != nil {
				t.Fatal(err)
			}
			blocks := importedResources(t, text)
			if len(blocks) != kinds {
				t.Errorf("import_blocks has %d kinds, want %d", len(blocks), kinds)
			}
			found := map[string][]protocol.ListResult{}
			for _, resource := range acc.ModelResources {
				results := l.read(resource, at)
				got := map[string]map[string]string{}
				for _, r := range results {
					got[r.DisplayName] = protocol.Lines(r.Resource)
				}
				want := map[string]map[string]string{}
				for name, lines := range blocks[resource] {
					// protocol.Lines has no lines for an object of nulls
					maps.DeleteFunc(lines, func(_, value string) bool { return value == "{}" })
					want[name] = lines
				}
				if diff := cmp.Diff(want, got); diff != "" || len(results) != len(got) {
					t.Errorf("%s (-import_blocks +list):\n%s", resource, diff)
				}
				found[resource] = results
			}
			h.Commit(repo, "dev", map[string]string{"configs/dev.yaml": "broken: [", "all.yaml": "broken: ["})
			l = newLists(t, h.Access()) // a new provider, which has cached nothing yet
			for resource, results := range found {
				l.expectImports(resource, results)
			}
		})
	}
}

func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {platform-config: \"true\"}}\n"+
		"data: {v: %q}\n", name, value)
}

// A list of the YAML in manifests identifies each object by the file that an import reads. A file that can't be read or
// imported causes a warning, and the objects of the other files are listed.
func TestListManifests(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	commit := h.Commit("base", "main", map[string]string{"c.yaml": configMap("in-git", "1"),
		"several.yaml": configMap("one", "1") + "---\n" + configMap("two", "2")})
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	texts := map[string]string{
		file("a.yaml"):      configMap("a", "1"),
		file("odd#.yaml"):   configMap("odd", "1"),
		file("broken.yaml"): configMap("good", "1") + "---\nkind: [\n",
		file("other.yaml"):  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"other\\e[2J\"}\ndata: {a: b}\n",
		file("twice.yaml"):  configMap("twice", "1") + "---\n" + configMap("twice", "2"),
		file("type.yaml"): "kind: ClusterType\napiVersion: scheduler.kalypso.io/v1alpha1\nmetadata: {name: large}\n" +
			"spec: {}\n",
		file("several.yaml"):         configMap("one", "1") + "---\n" + configMap("two", "2"),
		h.RepoURL("base") + "@main:": "", // no origin
	}
	manifests := map[string]any{
		h.RepoURL("base") + "@" + commit + ":c.yaml#in-git":       configMap("in-git", "1"),
		h.RepoURL("base") + "@main:several.yaml#ConfigMap/two":    configMap("two", "2"),
		h.RepoURL("base") + "@main~shop:several.yaml#ConfigMap/x": configMap("x", "2"),
	}
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil && strings.HasPrefix(name, folder) {
			t.Fatal(err)
		}
		manifests[name] = text
	}
	l := newLists(t, h.Access())
	results, ds := l.try("kalypso_config", 100, map[string]any{"manifests": manifests})
	got := map[string]string{}
	for _, r := range results {
		var lines []string
		for name, value := range protocol.Lines(r.Identity) {
			lines = append(
				lines,
				name+"="+strings.NewReplacer(folder+"/", "", h.URL+"/", "", commit, "COMMIT").Replace(value),
			)
		}
		slices.Sort(lines)
		got[r.DisplayName] = strings.Join(lines, " ")
	}
	want := map[string]string{
		"a": `file="a.yaml" name="a"`, "odd": `file="odd#.yaml" name="odd"`, "good": `file="broken.yaml" name="good"`,
		"twice": `file="twice.yaml" name="twice"`, "one": `file="several.yaml" name="one"`,
		"two":    `file="several.yaml" name="two"`,
		"in_git": `commit="COMMIT" file="c.yaml" name="in-git" repo="base"`,
		"two_2":  `branch="main" file="several.yaml" name="two" repo="base"`,
		"x":      `branch="main" file="several.yaml" name="x" repo="base"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if ds.HasErrors() || len(ds) != 3 {
		t.Errorf("%d diagnostics, want 3 warnings:\n%s", len(ds), ds)
	}
	if strings.Contains(ds.String(), "\x1b") {
		t.Errorf("a control character reaches the terminal:\n%q", ds)
	}
	for _, text := range []string{"Invalid YAML", "broken.yaml", "Duplicate object", "twice.yaml",
		"The object can only be written in YAML", `has no label platform-config: "true"`, "other.yaml"} {
		if !strings.Contains(ds.String(), text) {
			t.Errorf("no %q in:\n%s", text, ds)
		}
	}
	importable := slices.DeleteFunc(results, func(r protocol.ListResult) bool {
		return r.DisplayName == "x" || r.DisplayName == "twice" // x is of another commit, and twice is ambiguous
	})
	l.expectImports("kalypso_config", importable)
	none := map[string]any{"manifests": map[string]any{"a": "", "b": "x: y"}}
	if names := namesOf(l.read("kalypso_template", none)); len(names) > 0 {
		t.Errorf("templates %v", names)
	}
}

// A list ends at its limit, with a warning if it leaves out objects. It does not parse the files that follow.
func TestListLimit(t *testing.T) {
	t.Parallel()
	l := newLists(t, nil)
	manifests := map[string]any{"z.yaml": "kind: [\n"} // broken
	for _, name := range []string{"a", "b", "c", "d"} {
		manifests[name+".yaml"] = configMap(name, "1")
	}
	for limit, want := range map[int64]string{
		0: " 0", 1: "a 1 The list is truncated at its limit", 3: "a b c 1 The list is truncated at its limit",
		4:   "a b c d 1 Invalid YAML",
		100: "a b c d 1 Invalid YAML",
	} {
		results, ds := l.try("kalypso_config", limit, map[string]any{"manifests": manifests})
		got := fmt.Sprintf("%s %d", strings.Join(namesOf(results), " "), len(ds))
		if len(ds) == 1 {
			got += " " + ds[0].Summary
		}
		if got != want || ds.HasErrors() {
			t.Errorf("limit %d: %s, want %s\n%s", limit, got, want, ds)
		}
	}
}

// A list that finds nothing because of an error fails with that error.
func TestListErrors(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Commit("control-plane", "dev", map[string]string{"a.yaml": "kind: [\n"})
	h.Commit("half", "dev", map[string]string{"a.yaml": "kind: [\n", "b.yaml": configMap("b", "1"),
		"base-repo.yaml": "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {name: base}\nspec: {repo: " +
			h.RepoURL(
				"gone",
			) + ", branch: main, path: .}\n"})
	l := newLists(t, h.Access())
	at := func(repo, branch string) map[string]any {
		return map[string]any{"repo": h.RepoURL(repo), "branch": branch}
	}
	over := func(repo string, globs ...any) map[string]any {
		return map[string]any{"repo": h.RepoURL(repo), "branches": globs}
	}
	yaml := map[string]any{"a.yaml": ""}
	both := map[string]any{"repo": "https://a.io/b", "branch": "c", "manifests": yaml}
	branchOfFile := map[string]any{"branch": "c", "manifests": yaml}
	noURL := map[string]any{"repo": "a b", "branches": []any{"*"}}
	for name, c := range map[string]struct {
		of     string
		config map[string]any
		want   []string
	}{
		"no arguments":       {"kalypso_config", nil, []string{"Missing control plane"}},
		"repo and manifests": {"kalypso_config", both, []string{"Two control planes"}},
		"no branch": {"kalypso_config", map[string]any{"repo": "https://a.io/b"},
			[]string{"Missing branch"}},
		"branch and manifests": {"kalypso_config", branchOfFile, []string{"Conflicting arguments"}},
		"only a broken file":   {"kalypso_config", at("control-plane", "dev"), []string{"Invalid YAML", "a.yaml"}},
		"no such branch":       {"kalypso_config", at("control-plane", "prod"), []string{"Branch not found"}},
		"no such repo":         {"kalypso_config", at("none", "dev"), []string{"not found", h.RepoURL("none")}},
		"renderings in no such repo": {"kalypso_environment_rendering", over("none", "*"),
			[]string{"not found", h.RepoURL("none")}},
		"BaseRepos in no such repo": {"kalypso_base_repo", over("none", "*"), []string{"not found", h.RepoURL("none")}},
		"invalid glob":              {"kalypso_base_repo", over("control-plane", "["), []string{"Invalid branch glob"}},
		"invalid URL":               {"kalypso_environment_rendering", noURL, []string{"Invalid repo URL"}},
	} {
		results, ds := l.try(c.of, 100, c.config)
		if len(results) > 0 || !ds.HasErrors() {
			t.Errorf("%s: %v, %s", name, namesOf(results), ds)
		}
		for _, text := range c.want {
			if !strings.Contains(ds.String(), text) {
				t.Errorf("%s: no %q in\n%s", name, text, ds)
			}
		}
	}
	for _, config := range []map[string]any{
		{"manifests": protocol.Unknown}, {"repo": protocol.Unknown, "branch": protocol.Unknown},
		{"manifests": protocol.Unknown, "branch": "c"}, {"repo": "https://a.io/b", "branch": protocol.Unknown},
		{"manifests": protocol.Unknown, "repo": "https://a.io/b", "branch": "c"},
	} {
		ds := l.session.ValidateList(t.Context(), protocol.ListRequest{Type: "kalypso_config", Config: config})
		if len(ds) > 0 {
			t.Errorf("an unknown value is an error: %v: %s", config, ds)
		}
	}
	results, ds := l.try("kalypso_config", 100, at("half", "dev"))
	if diff := cmp.Diff([]string{"b"}, namesOf(results)); diff != "" || ds.HasErrors() || len(ds) != 2 {
		t.Errorf("a base that can't be read: %s\n%s", diff, ds)
	}
}

// An import by an identity that names no existing file is an error that says what is missing.
func TestImportIdentityErrors(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Commit("control-plane", "dev", map[string]string{"c/a.yaml": configMap("a", "1") + "---\n" + configMap("b", "1"),
		".sourceignore": "ignored.yaml\n", "ignored.yaml": configMap("a", "1"),
		"large.yaml": "# " + strings.Repeat("x", 10<<20) + "\n"})
	l := newLists(t, h.Access())
	all := []string{"name", "file", "repo", "branch", "commit"}
	types := map[string]tftypes.Type{}
	for _, name := range all {
		types[name] = tftypes.String
	}
	for want, parts := range map[string][]string{
		"there is no file":                    {"a", "none.yaml", "", "", ""},
		"neither a branch nor a commit":       {"a", "c/a.yaml", "control-plane", "", ""},
		"File not found":                      {"a", "c/b.yaml", "control-plane", "dev", ""},
		"or .sourceignore excludes it":        {"a", "ignored.yaml", "control-plane", "dev", ""},
		"File too large":                      {"a", "large.yaml", "control-plane", "dev", ""},
		"Branch not found":                    {"a", "c/a.yaml", "control-plane", "prod", ""},
		"Folder not found":                    {"a", "x/y.yaml", "control-plane", "dev", ""},
		"Invalid commit":                      {"a", "c/a.yaml", "control-plane", "dev", "123"},
		`contains no ConfigMap named "x"`:     {"x", "c/a.yaml", "control-plane", "dev", ""},
		"contains several objects of the kin": {"", "c/a.yaml", "control-plane", "dev", ""},
	} {
		values := map[string]tftypes.Value{}
		for i, name := range all {
			values[name] = tftypes.NewValue(tftypes.String, nil)
			if parts[i] != "" {
				values[name] = tftypes.NewValue(tftypes.String, parts[i])
			}
		}
		if parts[2] != "" {
			values["repo"] = tftypes.NewValue(tftypes.String, h.RepoURL(parts[2]))
		}
		imported, ds := l.session.ImportIdentity(t.Context(), "kalypso_config",
			tftypes.NewValue(tftypes.Object{AttributeTypes: types}, values))
		if imported != nil || !strings.Contains(ds.String(), want) {
			t.Errorf("%v: no %q: %s", parts, want, ds)
		}
	}
}

// The lists of branches find each record and each BaseRepo that a glob matches. A branch that can't be read causes a
// warning, and the other branches are listed. An import by identity has the listed state.
func TestListBranches(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Sample()
	gitops := h.Dir("gitops")
	render := func(environment, branch, path string) { renderExample(t, gitops, environment, branch, path) }
	render("dev", "dev", ".")
	render("prod", "prod", "clusters/west")
	render("stage", "prod", "clusters/east")
	gitserver.Seed(t, gitops, "prod", map[string]string{"broken/" + record.File: "{"})
	gitserver.Seed(t, gitops, "main", map[string]string{"README.md": "empty\n"})

	l := newLists(t, h.Access())
	over := func(repo string, globs ...any) map[string]any {
		return map[string]any{"repo": h.RepoURL(repo), "branches": globs}
	}
	const rendering, baseRepo = "kalypso_environment_rendering", "kalypso_base_repo"
	results, ds := l.try(rendering, 100, over("gitops", "d*", "main", "p???", "stage"))
	want := []string{"dev", "stage in clusters/east", "prod in clusters/west"}
	if diff := cmp.Diff(want, namesOf(results)); diff != "" || ds.HasErrors() || len(ds) != 2 ||
		!strings.Contains(ds.String(), "Record can't be used") || !strings.Contains(ds.String(), `matches "stage"`) {
		t.Errorf("-want +got:\n%s%s", diff, ds)
	}
	l.expectImports(rendering, results)
	wanted := map[string]string{"environment": `"stage"`, "repo": `"` + h.RepoURL("gitops") + `"`, "branch": `"prod"`,
		"path": `"clusters/east"`}
	if diff := cmp.Diff(wanted, protocol.Lines(results[1].Identity)); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	if results, ds := l.try(rendering, 1, over("gitops", "*")); len(results) != 1 ||
		!strings.Contains(ds.String(), "The list is truncated at its limit") {
		t.Errorf("limit 1: %v, %s", namesOf(results), ds)
	}

	h.Commit("kalypso-control-plane", "broken", map[string]string{"base-repo.yaml": "kind: [\n"})
	results, ds = l.try(baseRepo, 100, over("kalypso-control-plane", "*"))
	if diff := cmp.Diff([]string{"dev", "stage"}, namesOf(results)); diff != "" || ds.HasErrors() || len(ds) != 1 {
		t.Errorf("-want +got:\n%s%s", diff, ds)
	}
	l.expectImports(baseRepo, results)
}

// renderExample renders the fleet of the example to a path on a branch of a repo.
func renderExample(t *testing.T, repo, environment, branch, path string) {
	t.Helper()
	p := acc.NewRenderingRun(t)
	config := map[string]any{
		"environment": environment, "create_branch": true, "preview": "none", "manifests": acc.ExampleFleet(t),
		"gitops_repo": map[string]any{"repo": "file://" + repo, "branch": branch, "path": path},
	}
	p.Run(config, config)
}

// Every resource whose object may exist before Terraform manages it has a list, with an example and a page.
func TestListsAreComplete(t *testing.T) {
	want := append([]string{"kalypso_environment_rendering", "kalypso_base_repo"}, acc.ModelResources...)
	slices.Sort(want)
	schemas, err := provider.NewServer("test").GetProviderSchema(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(schemas.ListResourceSchemas))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, name := range want {
		example := acc.ReadFile(t, filepath.Join(acc.Examples, "list-resources", name, "list-resource.tfquery.hcl"))
		if !regexp.MustCompile(`(?m)^list "` + name + `" `).MatchString(example) {
			t.Errorf("the example has no list %q", name)
		}
	}
}
