package functions_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The example reads three branches, the reports of their clusters and the repo of the applications, and records which
// versions run. The page has all parts that the guide shows. Neither plan nor apply prints the page.
func TestAccFleetPageExample(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "functions", "fleet_page"))
	r.OwnProcess() // the reports are in the working directory
	r.Write("provider.tf", "provider \"kalypso\" {\n  allow_local_repos = true\n}\n")
	gitops, base, apps := gitserver.InitBare(t), gitserver.InitBare(t), gitserver.InitBare(t)
	promoted := gitserver.Seed(t, base, "main", map[string]string{"fleet.yaml": ""})
	descriptor := func(workload, workspace, version string) string {
		return fmt.Sprintf(`apiVersion: hub.kalypso.io/v1alpha1
kind: DeploymentDescriptor
metadata: {name: %s}
spec:
  workload: {name: %[1]s, application: {name: shop, workspace: {name: %s}}}
  deploymentTarget: {name: web}
  workloadVersion: {version: %q}
`, workload, workspace, version)
	}
	app := gitserver.Seed(t, apps, "main", map[string]string{
		"shop/app.yaml": descriptor("shop", "storefront", "1.4.2"),
		"till/app.yaml": descriptor("till", "backoffice", "2.0.0"),
	})
	application := func(path string) string {
		return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: argocd}
spec: {source: {repoURL: "file://%s", path: %[1]s, targetRevision: main}}
`, path, apps)
	}
	now := time.Now().UTC().Format(time.RFC3339)
	for _, env := range []string{"dev", "stage", "prod"} {
		record := map[string]any{"version": 1, "environment": env, "cluster_types": []string{"large"},
			"promoted_commit": promoted}
		head := gitserver.Seed(t, gitops, env, map[string]string{
			"large/shop-web/app.yaml": application("shop"), "large/till-web/app.yaml": application("till"),
			"large/namespace.yaml": env, acc.RecordPath: acc.ToJSON(t, record)})
		shop := map[string]any{"name": "shop-web", "revision": app, "state": "current"}
		if env == "prod" {
			shop["state"], shop["message"] = "failed", "<script>no disk</script>"
		}
		r.Write(env+".json", acc.ToJSON(t, []any{map[string]any{
			"cluster": "edge-" + env, "folder": "large", "revision": head, "state": "current", "time": now,
			"targets": []any{shop, map[string]any{"name": "till-web", "revision": app, "state": "current"}},
		}}))
	}
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{
		"gitops_url": "file://" + gitops, "control_plane_url": "file://" + base, "since": "2023-11-01T00:00:00Z",
	}))
	if printed := r.Succeed("plan", "-no-color").Text() + r.Apply().Text(); strings.Contains(printed, "<!doctype html>") ||
		!strings.Contains(printed, "page = <sensitive>") {
		t.Errorf("plan and apply print:\n%s", printed)
	}
	changes := r.Plan() // the page itself shows when it was made
	if len(changes) != 3 {
		t.Errorf("the plan has %d resources, want the 3 records", len(changes))
	}
	for address, c := range changes {
		if !slices.Equal(c.Actions, []string{"no-op"}) {
			t.Errorf("the plan after the apply has changes of %s: %v", address, c.Actions)
		}
	}
	html := r.Succeed("output", "-raw", "page").Stdout
	text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")), " ")
	for _, want := range []string{
		"Name dev stage prod", promoted[:7], "shop-web", "1.4.2", "till-web", "2.0.0", "large", "edge-prod",
		"Workspace all backoffice storefront", "Workload all shop till", "Deployments 1", "2023-11-14 22:13Z",
		"failed prod shop-web version 1.4.2: unhealthy for longer than 1h: &lt;script&gt;no disk&lt;/script&gt; edge-prod",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page:\n%s", want, text)
		}
	}
	if strings.Contains(html, "<script>no disk") || strings.Contains(html, gitops) {
		t.Error("the page contains a script from a cluster, or the path of the repo")
	}
}

// A real root passes all five arguments, with promotions and comparisons that are empty. The page shows which target is
// not placed, and why.
func TestAccFleetPageOfAssignments(t *testing.T) {
	t.Parallel()
	fleet := `
    environment   = "prod"
    cluster_types = { large = { name = "large", reconciler = "r", namespace_service = "n" } }
    templates = {
      r = { name = "r", type = "reconciler", manifests = [] }
      n = { name = "n", type = "namespace", manifests = [] }
    }
    workloads = { shop = { name = "shop", deployment_targets = [
      { name = "web", environment = "prod", labels = { tier = "webb" } },
    ] } }
    scheduling_policies = { web = {
      name                       = "web"
      deployment_target_selector = { match_labels = { tier = "web" } }
      cluster_type_selector      = { match_all = true }
    } }
`
	gitops := gitserver.InitBare(t)
	gitserver.Seed(t, gitops, "prod", map[string]string{"README.md": "GitOps\n"})
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": `
data "kalypso_assignments" "prod" {` + fleet + `}

data "kalypso_deployment_history" "prod" {
  gitops_repo = { repo = "file://` + gitops + `", branch = "prod" }
  since       = "720h"
}

output "list" {
  value = provider::kalypso::fleet_page(
    [data.kalypso_deployment_history.prod], [], [], [], [data.kalypso_assignments.prod],
  )
}

output "single" {
  value = provider::kalypso::fleet_page(
    { prod = data.kalypso_deployment_history.prod }, {}, {}, {}, data.kalypso_assignments.prod,
  )
}
`})
	r.Apply()
	for _, output := range []string{"list", "single"} {
		var html string
		r.Output(output, &html)
		text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")), " ")
		for _, want := range []string{"Not placed 1 ", "shop-web prod The deployment target is not selected: " +
			"label &#34;tier&#34; is &#34;webb&#34; and must be &#34;web&#34;"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page %s has no %q:\n%s", output, want, text)
			}
		}
		if strings.Contains(html, "0000-") {
			t.Errorf("the page %s shows a time that its data does not have:\n%s", output, text)
		}
	}
	r.ExpectEmptyPlan()
}

// The function accepts a list, a map, or a single object, also with attributes of later versions. Errors name the
// object.
func TestAccFleetPageFunction(t *testing.T) {
	t.Parallel()
	const history = `{ environment = "prod", gitops_repo = { repo = "https://acme.io/gitops", branch = "b", path = null }
		since = null, until = null, complete = true, metrics = { deployments = 0 }, deployments = []`
	const state = `{ gitops_repo = { repo = "https://acme.io/gitops", branch = "b", path = null }, verdict = "success"
		problems = [], folders = { large = { total = 2, current = 2, tree_hash = null } } }`
	const promotion = `{ environment = "prod", gitops_repo = { repo = "https://acme.io/gitops", branch = "b", path = null }
		waiting = [{ commit = "c0ffee", gate = "window", reason = "waits until 2027-01-04T00:00:00Z: holidays" }] }`
	const comparison = `{ left = { repo = "https://acme.io/gitops", branch = "stage", path = null }
		right = { repo = "https://acme.io/gitops", branch = "prod", path = null }, equal = false, files = {}
		promoted = { left = null, right = null, commits = null }, targets = { left = [], right = [] }, placements = {}
		configs = { web = { large = { REGION = { left = "west", right = "east" } } } } }`
	call := func(arguments string) string { return "provider::kalypso::fleet_page(" + arguments + ")" }
	has := func(arguments, text string) string { return `strcontains(` + call(arguments) + `, "` + text + `")` }
	testFunction(t, []functionCall{
		{has(history+" }", `<th scope=\"col\">prod</th>`), true},
		{has("["+history+" }]", `<th scope=\"col\">prod</th>`), true},
		{has("{ production = "+history+" } }", `<th scope=\"col\">production</th>`), true},
		{has("["+history+" }], "+state, `<span>2</span>`), true},
		{has("["+history+" }], "+state, `<th scope=\"col\">b</th>`), false},
		{has("["+history+` , versions = [{ deployment_target = "web", version = "1.2", state = "failed", clusters = 3 }]
			runs = null, truncated = null, recorded_until = "2026-01-01T00:00:00Z" }]`, `<b>1.2</b>`), true},
		{has("[], {}", "No problems in this data."), true},
		{call(`["prod"]`), says("histories[0] has no attribute deployments")},
		{call(`{ a = ` + state + ` }`), says(`histories["a"] has no attribute deployments`)},
		{call(`[` + history + ` }], [` + history + ` }]`), says("states[0] has no attribute folders")},
		{call(`"prod"`), says("histories is neither a list nor a map of objects")},
		{call(`[null]`), says("histories[0] has no attribute deployments")},
		{call(`[` + history + ` }, ` + history + ` }]`), says(`two histories belong to the environment "prod"`)},
		{call(`[` + history + `, truncated = "many" }]`), says("histories[0].truncated: a string is not possible here")},
		{has("["+history+" }], [], "+promotion, `window: waits until 2027-01-04T00:00:00Z: holidays`), true},
		{has("{ dev = "+history+" } }, {}, { dev = "+promotion+" }", `window: waits until`), true},
		{has("{ dev = "+history+" } }, {}, { prod = "+promotion+" }", `window: waits until`), false},
		{call(`[` + history + ` }], [], [` + history + ` }]`), says("promotions[0] has no attribute waiting")},
		{has("[], [], [], "+comparison, `<td class=\"wide\">west</td>`), true},
		{has("[], [], [], { pair = "+comparison+" }", `<h3>pair</h3>`), true},
		{has("[], [], [], []", "What differs"), false},
		{call(`[], [], [], [` + history + ` }]`), says("comparisons[0] has no attribute placements")},
		{call(`[], [], [], [], [], []`),
			says("at most one list of states, one of promotions, one of comparisons, and one of assignments")},
	})
}

// If Terraform reads the data of a page during apply, the page is known after apply.
func TestAccFleetPageUnknown(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": `
resource "terraform_data" "branch" {
  input = "main"
}

output "page" {
  value = provider::kalypso::fleet_page([{
    gitops_repo = { repo = "https://acme.io/gitops", branch = terraform_data.branch.output }
    deployments = []
  }])
}
`})
	if plan := r.Succeed("plan", "-no-color").Text(); !strings.Contains(plan, "+ page = (known after apply)") {
		t.Errorf("the plan: %s", plan)
	}
	r.Apply()
	var html string
	r.Output("page", &html)
	if !strings.Contains(html, `<th scope="col">main</th>`) {
		t.Errorf("the page: %s", html)
	}
}
