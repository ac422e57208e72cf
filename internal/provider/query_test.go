package provider_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// needQuery skips the test unless the CLI is Terraform 1.14 or newer. OpenTofu has no queries.
func needQuery(t *testing.T) {
	t.Helper()
	needTerraform(t)
	if name, minor := versionOfCLI(t); name != "Terraform" || minor < 14 {
		programs.Program{
			Name: "Terraform 1.14 or newer, for terraform query", Add: "make testacc TERRAFORM=/path/to/terraform",
		}.SkipOlder(t)
	}
}

// queryResult is the beginning of a result: the address, the identity and the display name are three spaces apart.
var queryResult = regexp.MustCompile(`(?m)^list\.kalypso_\w+\.\w+ {3}`)

// provider returns the block of a provider that reads the host's repos.
func (h *gitHost) provider() string {
	return fmt.Sprintf(
		"provider \"kalypso\" {\n  git_credentials = [{ url = %q, username = \"me\", password = %q }]\n}\n",
		h.URL,
		gitHostPassword,
	)
}

// One query writes a whole control plane, with its base and every difficult value, as configuration with imports. The
// plan imports all of it and changes nothing.
func TestAccQueryControlPlane(t *testing.T) {
	t.Parallel()
	needQuery(t)
	h := newGitHost(t)
	h.sample()
	h.commit("everything", "dev", map[string]string{"all.yaml": readFile(t, filepath.Join("testdata",
		"TestAccImportGeneratesConfiguration", "control-plane.yaml"))})
	for _, repo := range []string{"kalypso-control-plane", "everything"} {
		r := newRoot(t, map[string]string{"terraform.tf": terraformBlock + h.provider()})
		var query strings.Builder
		for _, resource := range modelResources {
			fmt.Fprintf(&query, `
list %q "all" {
  provider = kalypso
  config {
    repo   = %q
    branch = "dev"
  }
}
`, resource, h.url(repo))
		}
		r.write("control-plane.tfquery.hcl", query.String())
		queried := r.succeed("query", "-no-color", "-generate-config-out=generated.tf").stdout
		imports := strings.Count(readFile(t, filepath.Join(r.folder, "generated.tf")), "\nimport {")
		if n := len(queryResult.FindAllString(queried, -1)); n != imports || n < 10 {
			t.Errorf("%d results and %d imports:\n%s", n, imports, queried)
		}
		planned := r.succeed("plan", "-no-color", "-out=plan")
		want := fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", imports)
		if !strings.Contains(planned.stdout, want) {
			t.Errorf("the plan is not %q:\n%s", want, planned.stdout)
		}
		r.succeed("apply", "-no-color", "plan")
		r.expectEmptyPlan()
	}
}

// A broken document does not end a query, but a limit does. A query of files generates an import for each.
func TestAccQueryManifests(t *testing.T) {
	t.Parallel()
	r := newRoot(t, map[string]string{
		"terraform.tf": terraformBlock,
		"query.tfquery.hcl": `
variable "most" {
  type    = number
  default = 100
}
list "kalypso_config" "all" {
  provider         = kalypso
  include_resource = true
  limit            = var.most
  config {
    manifests = { for f in fileset(path.root, "fleet/*.yaml") : f => file(f) }
  }
}
`,
		"fleet/a.yaml": configMap("a", "1"),
		"fleet/b.yaml": "kind: [\n",
		"fleet/c.yaml": configMap("c", "1") + "---\n" + configMap("d", "1"),
	})
	needQuery(t)
	r.ownProcess() // the import IDs are paths in the working directory
	out := r.succeed("query", "-no-color", "-generate-config-out=generated.tf").text()
	for _, text := range []string{"Warning: Invalid YAML", "file=fleet/a.yaml,name=a,repo=<null> a",
		"file=fleet/c.yaml,name=c,repo=<null> c", "file=fleet/c.yaml,name=d,repo=<null> d"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	out = r.succeed("plan", "-no-color").text()
	if !strings.Contains(out, "Plan: 3 to import, 0 to add, 0 to change, 0 to destroy.") {
		t.Errorf("the plan is\n%s", out)
	}
	// The manifests of a data source, which are not known when Terraform validates the query.
	r.write("generated.tf", "data \"kalypso_control_plane\" \"this\" {\n  directory = \"fleet\"\n}\n")
	r.write("fleet/b.yaml", configMap("b", "1"))
	query := readFile(t, filepath.Join(r.folder, "query.tfquery.hcl"))
	r.write("query.tfquery.hcl", regexp.MustCompile(`manifests = .*`).ReplaceAllString(query,
		"manifests = data.kalypso_control_plane.this.manifests"))
	out = r.succeed("query", "-no-color").text()
	if n := strings.Count(out, "file=fleet/"); n != 4 {
		t.Errorf("%d results:\n%s", n, out)
	}
	r.write("query.tfquery.hcl", query)
	out = r.succeed("query", "-no-color", "-var=most=1").text()
	if strings.Count(out, "name=") != 1 || !strings.Contains(out, "Warning: The list is truncated at its limit") {
		t.Errorf("with limit 1:\n%s", out)
	}
}

// A query finds the renderings and BaseRepos on branches. The generated imports import them.
func TestAccQueryBranches(t *testing.T) {
	t.Parallel()
	needQuery(t)
	h := newGitHost(t)
	h.sample()
	q := newRoot(t, map[string]string{
		"terraform.tf": terraformBlock + h.provider(),
		"query.tfquery.hcl": fmt.Sprintf(`
list "kalypso_environment_rendering" "all" {
  provider = kalypso
  config {
    repo     = %q
    branches = ["*"]
  }
}
list "kalypso_base_repo" "all" {
  provider = kalypso
  config {
    repo     = %q
    branches = ["*"]
  }
}
`, h.url("gitops"), h.url("kalypso-control-plane")),
	})
	renderExample(t, h.dir("gitops"), "dev", "dev", ".")
	gitserver.Seed(t, h.dir("gitops"), "empty", map[string]string{"README.md": "empty\n"})
	out := q.succeed("query", "-no-color", "-generate-config-out=generated.tf").text()
	for _, text := range []string{
		"branch=dev,environment=dev,path=<null>,repo=" + h.url("gitops") + " dev",
		"branch=dev,repo=" + h.url("kalypso-control-plane") + " dev",
		"branch=stage,repo=" + h.url("kalypso-control-plane") + " stage",
	} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	// The objects of a rendering are no part of its record: people add them before they apply.
	generated := readFile(t, filepath.Join(q.folder, "generated.tf"))
	if strings.Count(generated, "\n  manifests") != 1 {
		t.Errorf("the generated configuration:\n%s", generated)
	}
	q.write("generated.tf", regexp.MustCompile(`(?m)^  manifests .*$`).ReplaceAllString(generated,
		"  manifests = local.manifests"))
	q.write("manifests.tf", "locals {\n  manifests = jsondecode(<<-EOT\n"+toJSON(t, exampleFleet(t))+"\nEOT\n)\n}\n")
	planned := q.succeed("plan", "-no-color", "-out=plan").text()
	if !strings.Contains(planned, "Plan: 3 to import, 0 to add, 1 to change, 0 to destroy.") {
		t.Errorf("the plan is\n%s", planned)
	}
	q.succeed("apply", "-no-color", "plan")
	q.expectEmptyPlan()
	if commits := gitserver.Log(t, h.dir("gitops"), "dev"); len(commits) != 1 {
		t.Errorf("the import wrote to the branch: %v", commits)
	}
}
