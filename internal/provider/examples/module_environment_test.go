package examples_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

var environmentModule = filepath.Join(acc.Examples, "modules/environment")

// The module's own tests pass. They fail if the module passes on another value.
func TestAccModuleTerraformTest(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, environmentModule)
	if out := r.Succeed("test", "-no-color").Text(); !strings.Contains(out, "Success! 8 passed, 0 failed.") {
		t.Errorf("not all tests ran:\n%s", out)
	}
	main := acc.ReadFile(t, filepath.Join(r.Folder, "main.tf"))
	for was, is := range map[string]string{
		`lookup(var.overrides, "hold", null)`: "null", "dwell    = var.dwell": "dwell = null",
		"${var.environment} environment": "environment", "= var.on_move": "= null", "= var.on_error": "= null",
		"= var.accepted_changes": "= null",
		"= var.timeouts":         "= null", "= var.create_branch": "= null", "= var.deletion_protection": "= null",
	} {
		if !strings.Contains(main, was) {
			t.Fatalf("the module has no %s", was)
		}
		r.Write("main.tf", strings.Replace(main, was, is, 1))
		r.ExpectError([]string{"7 passed, 1 failed."}, "test", "-no-color")
	}
}

// moduleChain is a root module that calls the module for each environment of a chain.
type moduleChain struct {
	*acc.Root
	controlPlane, gitops *githubfake.Repo
}

// moduleCall returns a call of the module for an environment, which reads the clusters' reports from a file.
func (c *moduleChain) moduleCall(environment, arguments string) string {
	c.T.Helper()
	module, err := filepath.Abs(environmentModule)
	if err != nil {
		c.T.Fatal(err)
	}
	return fmt.Sprintf(`
module %[1]q {
  source        = %[2]q
  environment   = %[1]q
  control_plane = { repo = %[3]q }
  gitops_repo   = { repo = %[4]q }
  report        = { source = { reports = jsondecode(file("${path.root}/%[1]s.json")) } }
  preview       = "manifests"
  %[5]s
}

output %[1]q {
  value = module.%[1]s.commit
}
`, environment, module, c.controlPlane.URL, c.gitops.URL, arguments)
}

// Two calls of the module form a chain. dev renders each commit. Once the clusters of dev report it, stage renders the
// commit that dev runs.
func TestAccModuleEnvironment(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	fake := githubfake.New(t, hostfake.WithClock(func() time.Time { return now }))
	c := &moduleChain{
		controlPlane: fake.AddRepo(t, "acme/control-plane"), gitops: fake.AddRepo(t, "acme/gitops"),
	}
	c.Root = acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + fmt.Sprintf("provider \"kalypso\" {\n"+
		"  github = { base_url = %[1]q, token = %[2]q }\n"+
		"  git_credentials = [{ url = %[1]q, username = \"x\", password = %[2]q }]\n}\n", fake.URL, fake.Token)})
	own, base := map[string]string{}, map[string]string{}
	for name, text := range acc.ExampleFleet(t) {
		into := own
		if strings.HasPrefix(name, "main/") {
			into = base
		}
		into[filepath.Base(name)], _ = text.(string)
	}
	for name, arguments := range map[string]string{
		"dev":   "",
		"stage": `after = { dev = {} }`,
	} {
		c.Write(name+".tf", c.moduleCall(name, arguments))
		c.Write(name+".json", "[]")
		gitserver.Seed(t, c.controlPlane.Path, name, own)
		gitserver.Seed(t, c.gitops.Path, name, map[string]string{"README.md": "GitOps\n"})
	}
	c.Succeed("get")
	run := func(dev, stage string) {
		t.Helper()
		now = now.Add(time.Minute)
		c.Apply()
		var got [2]string
		for i, name := range []string{"dev", "stage"} {
			if _, promoted := c.StateFile().Outputs[name]; promoted {
				c.Output(name, &got[i])
			}
		}
		if diff := cmp.Diff([2]string{dev, stage}, got); diff != "" {
			t.Errorf("the commits (-want +got):\n%s", diff)
		}
	}
	first := gitserver.Seed(t, c.controlPlane.Path, "main", base)
	run(first, "")
	report, err := json.Marshal([]map[string]string{{
		"cluster": "drone-1", "folder": "drone", "state": "current", "time": now.Format(time.RFC3339),
		"revision": "dev@sha1:" + gitserver.Rev(t, c.gitops.Path, "dev"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.Write("dev.json", string(report))
	run(first, "") // this run sets the status, and the next run reads it
	if s, _ := c.controlPlane.Status(first, "dev environment"); s.State != "success" {
		t.Errorf("the status of dev is %q", s.State)
	}
	run(first, first)
	run(first, first) // this run reads the branch of stage, which the last run created
	c.ExpectEmptyPlan()
	for _, name := range []string{"dev", "stage"} {
		tree := gitserver.Tree(t, c.gitops.Path, name)
		if len(tree["drone/shop-web/namespace.yaml"]) == 0 {
			t.Errorf("the branch %s has %v", name, slices.Sorted(maps.Keys(tree)))
		}
		buildFolders(t, acc.RenderedFiles(t, c.gitops.Path, name))
	}
}

// The example deployed promotes a commit from dev to prod without a Git host: each environment renders the commit that
// the clusters of the environment before it run. The first delivery creates its branch. The workspace default is
// refused.
func TestAccModuleDeployed(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "environments", "deployed"))
	controlPlane, gitops := gitserver.InitBare(t), gitserver.InitBare(t)
	base := map[string]string{}
	for name, text := range acc.ExampleFleet(t) {
		content, _ := text.(string)
		if file, common := strings.CutPrefix(name, "main/"); common {
			base[file] = content
			continue
		}
		for _, environment := range []string{"dev", "stage", "prod"} {
			gitserver.Seed(t, controlPlane, environment, map[string]string{"fleet.yaml": content})
		}
	}
	gitserver.Seed(t, gitops, "main", map[string]string{"README.md": "GitOps\n"})
	reports := t.TempDir()
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{
		"control_plane_url": "file://" + controlPlane, "gitops_url": "file://" + gitops, "reports": reports,
	}))
	commit := gitserver.Seed(t, controlPlane, "main", base)
	r.ExpectError([]string{`No environment has the name "default"`, "terraform workspace select -or-create"},
		"plan", "-no-color")

	// run runs the commands of an environment's pipeline, and returns the commit that the environment renders.
	run := func(environment string) string {
		t.Helper()
		r.Succeed("workspace", "select", "-or-create", environment)
		r.Apply()
		var outputs struct{ Commit struct{ Value string } }
		if err := json.Unmarshal([]byte(r.Succeed("output", "-json").Stdout), &outputs); err != nil {
			t.Fatal(err)
		}
		return outputs.Commit.Value
	}
	report := func(environment string) {
		t.Helper()
		text := acc.ToJSON(t, []any{map[string]string{
			"cluster": environment + "-1", "folder": "drone", "state": "current", "time": time.Now().UTC().Format(time.RFC3339),
			"revision": environment + "@sha1:" + gitserver.Rev(t, gitops, environment),
		}})
		if err := os.WriteFile(filepath.Join(reports, environment+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := run("dev"); got != commit {
		t.Errorf("dev renders %q, want %q", got, commit)
	}
	before := "dev"
	for _, environment := range []string{"stage", "prod"} {
		if got := run(environment); got != "" || gitserver.Rev(t, gitops, environment) != "" {
			t.Errorf("%s renders %q before %s runs it", environment, got, before)
		}
		report(before)
		if got := run(environment); got != commit {
			t.Errorf("%s renders %q, want %q", environment, got, commit)
		}
		before = environment
	}
	r.ExpectEmptyPlan()
	for _, environment := range []string{"dev", "stage", "prod"} {
		buildFolders(t, acc.RenderedFiles(t, gitops, environment))
	}
}

// docs is the folder of the documentation, seen from the module.
const docs = "../../../docs"

const (
	beginDocs = "<!-- BEGIN_TF_DOCS -->\n"
	endDocs   = "<!-- END_TF_DOCS -->\n"
)

// The module's README has the tables of terraform-docs (markdown table), with links into this repo. With -update, the
// test writes them.
func TestModuleReadme(t *testing.T) {
	file := filepath.Join(environmentModule, "README.md")
	text := acc.ReadFile(t, file)
	before, rest, found := strings.Cut(text, beginDocs)
	_, after, ended := strings.Cut(rest, endDocs)
	if !found || !ended {
		t.Fatalf("%s has no part between %s and %s", file, beginDocs, endDocs)
	}
	want := before + beginDocs + moduleTables(t, environmentModule) + endDocs + after
	if *acc.Update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("run go test ./internal/provider/examples -run TestModuleReadme -update (-want +got):\n%s", diff)
	}
}

// moduleTables returns the tables of a module in the form of terraform-docs.
func moduleTables(t *testing.T, folder string) string {
	t.Helper()
	var resources, inputs, outputs []string
	version := "n/a"
	for _, file := range acc.Glob(t, filepath.Join(folder, "*.tf")) {
		source := []byte(acc.ReadFile(t, file))
		parsed, problems := hclsyntax.ParseConfig(source, file, hcl.InitialPos)
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		body, _ := parsed.Body.(*hclsyntax.Body)
		text := func(b *hclsyntax.Block, name string) string {
			a := b.Body.Attributes[name]
			if a == nil {
				return ""
			}
			return string(a.Expr.Range().SliceBytes(source))
		}
		description := func(b *hclsyntax.Block) string {
			v, problems := b.Body.Attributes["description"].Expr.Value(nil)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			return v.AsString()
		}
		for _, b := range body.Blocks {
			switch b.Type {
			case "terraform":
				version = strings.Trim(text(b, "required_version"), `"`)
			case "resource", "data":
				kind, page := "resource", "resources"
				if b.Type == "data" {
					kind, page = "data source", "data-sources"
				}
				resources = append(
					resources,
					fmt.Sprintf("| [%s.%s](%s/%s/%s.md) | %s |\n", b.Labels[0], b.Labels[1], docs, page,
						strings.TrimPrefix(b.Labels[0], "kalypso_"), kind),
				)
			case "variable":
				value, required := text(b, "default"), "no"
				if value == "" {
					value, required = "n/a", "yes"
				} else {
					value = "`" + value + "`"
				}
				inputs = append(inputs, fmt.Sprintf("| %s | %s | %s | %s | %s |\n", named("input", b.Labels[0]), description(b),
					typeText(text(b, "type")), value, required))
			case "output":
				outputs = append(outputs, fmt.Sprintf("| %s | %s |\n", named("output", b.Labels[0]), description(b)))
			}
		}
	}
	for _, rows := range [][]string{resources, inputs, outputs} {
		slices.Sort(rows)
	}
	return "## Requirements\n\n| Name | Version |\n|------|---------|\n" +
		"| " + named("requirement", "terraform") + " | " + version + " |\n" +
		"| " + named("requirement", "kalypso") + " | n/a |\n\n" +
		"## Providers\n\n| Name | Version |\n|------|---------|\n| " + named("provider", "kalypso") + " | n/a |\n\n" +
		"## Modules\n\nNo modules.\n\n" +
		"## Resources\n\n| Name | Type |\n|------|------|\n" + strings.Join(resources, "") + "\n" +
		"## Inputs\n\n| Name | Description | Type | Default | Required |\n" +
		"|------|-------------|------|---------|:--------:|\n" +
		strings.Join(inputs, "") + "\n" +
		"## Outputs\n\n| Name | Description |\n|------|-------------|\n" + strings.Join(outputs, "")
}

// named returns a name as a link to itself, with the anchor.
func named(kind, name string) string {
	escaped := strings.ReplaceAll(name, "_", `\_`)
	return fmt.Sprintf(`<a name="%s_%s"></a> [%s](#%s\_%s)`, kind, name, escaped, kind, escaped)
}

// typeText returns a type, on several lines if the module writes it so.
func typeText(of string) string {
	if !strings.Contains(of, "\n") {
		return "`" + of + "`"
	}
	return "<pre>" + strings.ReplaceAll(of, "\n", "<br/>") + "</pre>"
}
