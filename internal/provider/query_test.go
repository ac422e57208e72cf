package provider_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// queryResult matches the beginning of a result in the output: its address, and the three spaces before its identity.
var queryResult = regexp.MustCompile(`(?m)^list\.kalypso_\w+\.\w+ {3}`)

// providerBlock returns the block of a provider that reads the host's repos.
func providerBlock(h *acc.GitHost) string {
	return fmt.Sprintf(
		"provider \"kalypso\" {\n  git_credentials = [{ url = %q, username = \"me\", password = %q }]\n}\n",
		h.URL,
		acc.GitHostPassword,
	)
}

// One query writes a whole control plane, with its base and every difficult value, as configuration with imports. The
// plan imports all of it and changes nothing.
func TestAccQueryControlPlane(t *testing.T) {
	t.Parallel()
	acc.NeedQuery(t)
	h := acc.NewGitHost(t)
	h.Sample()
	h.Commit("everything", "dev", map[string]string{"all.yaml": acc.ReadFile(t,
		"model/testdata/TestAccImportGeneratesConfiguration/control-plane.yaml")})
	for _, repo := range []string{"kalypso-control-plane", "everything"} {
		r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock + providerBlock(h)})
		var query strings.Builder
		for _, resource := range acc.ModelResources {
			fmt.Fprintf(&query, `
list %q "all" {
  provider = kalypso
  config {
    repo   = %q
    branch = "dev"
  }
}
`, resource, h.RepoURL(repo))
		}
		r.Write("control-plane.tfquery.hcl", query.String())
		queried := r.Succeed("query", "-no-color", "-generate-config-out=generated.tf").Stdout
		imports := strings.Count(acc.ReadFile(t, filepath.Join(r.Folder, "generated.tf")), "\nimport {")
		if n := len(queryResult.FindAllString(queried, -1)); n != imports || n < 10 {
			t.Errorf("%d results and %d imports:\n%s", n, imports, queried)
		}
		planned := r.Succeed("plan", "-no-color", "-out=plan")
		want := fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", imports)
		if !strings.Contains(planned.Stdout, want) {
			t.Errorf("the plan is not %q:\n%s", want, planned.Stdout)
		}
		r.Succeed("apply", "-no-color", "plan")
		r.ExpectEmptyPlan()
	}
}

// A broken document does not end a query, but a limit does. A query of files generates an import for each.
func TestAccQueryManifests(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{
		"terraform.tf": acc.TerraformBlock,
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
	acc.NeedQuery(t)
	r.OwnProcess() // the import IDs are paths in the working directory
	out := r.Succeed("query", "-no-color", "-generate-config-out=generated.tf").Text()
	for _, text := range []string{"Warning: Invalid YAML", "file=fleet/a.yaml,name=a,repo=<null> a",
		"file=fleet/c.yaml,name=c,repo=<null> c", "file=fleet/c.yaml,name=d,repo=<null> d"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	out = r.Succeed("plan", "-no-color").Text()
	if !strings.Contains(out, "Plan: 3 to import, 0 to add, 0 to change, 0 to destroy.") {
		t.Errorf("the plan is\n%s", out)
	}
	// These manifests come from a data source, so they are not known when Terraform validates the query.
	r.Write("generated.tf", "data \"kalypso_control_plane\" \"this\" {\n  directory = \"fleet\"\n}\n")
	r.Write("fleet/b.yaml", configMap("b", "1"))
	query := acc.ReadFile(t, filepath.Join(r.Folder, "query.tfquery.hcl"))
	r.Write("query.tfquery.hcl", regexp.MustCompile(`manifests = .*`).ReplaceAllString(query,
		"manifests = data.kalypso_control_plane.this.manifests"))
	out = r.Succeed("query", "-no-color").Text()
	if n := strings.Count(out, "file=fleet/"); n != 4 {
		t.Errorf("%d results:\n%s", n, out)
	}
	r.Write("query.tfquery.hcl", query)
	out = r.Succeed("query", "-no-color", "-var=most=1").Text()
	if strings.Count(out, "name=") != 1 || !strings.Contains(out, "Warning: The list is truncated at its limit") {
		t.Errorf("with limit 1:\n%s", out)
	}
}

// A query finds the renderings and BaseRepos on branches. The generated imports import them.
func TestAccQueryBranches(t *testing.T) {
	t.Parallel()
	acc.NeedQuery(t)
	h := acc.NewGitHost(t)
	h.Sample()
	q := acc.NewRoot(t, map[string]string{
		"terraform.tf": acc.TerraformBlock + providerBlock(h),
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
`, h.RepoURL("gitops"), h.RepoURL("kalypso-control-plane")),
	})
	renderExample(t, h.Dir("gitops"), "dev", "dev", ".")
	gitserver.Seed(t, h.Dir("gitops"), "empty", map[string]string{"README.md": "empty\n"})
	out := q.Succeed("query", "-no-color", "-generate-config-out=generated.tf").Text()
	for _, text := range []string{
		"branch=dev,environment=dev,path=<null>,repo=" + h.RepoURL("gitops") + " dev",
		"branch=dev,repo=" + h.RepoURL("kalypso-control-plane") + " dev",
		"branch=stage,repo=" + h.RepoURL("kalypso-control-plane") + " stage",
	} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	// A record does not contain the objects of its rendering, so people add them to the generated configuration before
	// they apply.
	generated := acc.ReadFile(t, filepath.Join(q.Folder, "generated.tf"))
	if strings.Count(generated, "\n  manifests") != 1 {
		t.Errorf("the generated configuration:\n%s", generated)
	}
	q.Write("generated.tf", regexp.MustCompile(`(?m)^  manifests .*$`).ReplaceAllString(generated,
		"  manifests = local.manifests"))
	q.Write("manifests.tf",
		"locals {\n  manifests = jsondecode(<<-EOT\n"+acc.ToJSON(t, acc.ExampleFleet(t))+"\nEOT\n)\n}\n")
	planned := q.Succeed("plan", "-no-color", "-out=plan").Text()
	if !strings.Contains(planned, "Plan: 3 to import, 0 to add, 1 to change, 0 to destroy.") {
		t.Errorf("the plan is\n%s", planned)
	}
	q.Succeed("apply", "-no-color", "plan")
	q.ExpectEmptyPlan()
	if commits := gitserver.Log(t, h.Dir("gitops"), "dev"); len(commits) != 1 {
		t.Errorf("the import wrote to the branch: %v", commits)
	}
}
