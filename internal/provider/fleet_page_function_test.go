package provider_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// The example reads three branches and the reports of their clusters. The page shows their content.
func TestAccFleetPageExample(t *testing.T) {
	t.Parallel()
	r := newExample(t, filepath.Join(examples, "functions", "fleet_page"))
	r.ownProcess() // the reports are in the working directory
	gitops := gitserver.InitBare(t)
	for i, env := range []string{"dev", "stage", "prod"} {
		record := map[string]any{"version": 1, "environment": env, "cluster_types": []string{"large"},
			"promoted_commit": strings.Repeat(string(rune('a'+i)), 40)}
		head := gitserver.Seed(t, gitops, env, map[string]string{
			"large/shop-web/namespace.yaml": env, recordPath: toJSON(t, record)})
		state := map[string]any{"cluster": "edge-" + env, "folder": "large", "revision": head, "state": "current",
			"time": "2999-01-01T00:00:00Z"}
		if env == "prod" {
			state["state"], state["message"] = "failed", "<script>no disk</script>"
		}
		r.write(env+".json", toJSON(t, []any{state}))
	}
	r.write("terraform.tfvars.json", toJSON(t, map[string]any{
		"gitops_url": "file://" + gitops, "since": "2023-11-01T00:00:00Z",
	}))
	r.apply()
	var html string
	r.output("page", &html)
	text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")), " ")
	for _, want := range []string{
		"Name dev stage prod", "aaaaaaa", "bbbbbbb", "ccccccc", "shop-web", "large", "edge-prod",
		"&lt;script&gt;no disk&lt;/script&gt;", "2023-11-14 22:13Z",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page:\n%s", want, text)
		}
	}
	if strings.Contains(html, "<script>no disk") || strings.Contains(html, gitops) {
		t.Error("the page has a script of a cluster, or the path of the repo")
	}
}

// The function takes lists, maps and single objects, and attributes of later versions. Errors name the object.
func TestAccFleetPageFunction(t *testing.T) {
	t.Parallel()
	const history = `{ environment = "prod", gitops_repo = { repo = "https://acme.io/gitops", branch = "b", path = null }
		since = null, until = null, complete = true, metrics = { deployments = 0 }, deployments = []`
	const state = `{ gitops_repo = { repo = "https://acme.io/gitops", branch = "b", path = null }, verdict = "success"
		problems = [], folders = { large = { total = 2, current = 2, tree_hash = null } } }`
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
		{has("[], {}", "Nothing in the data is wrong."), true},
		{call(`["prod"]`), says("histories[0] has no attribute deployments")},
		{call(`{ a = ` + state + ` }`), says(`histories["a"] has no attribute deployments`)},
		{call(`[` + history + ` }], [` + history + ` }]`), says("states[0] has no attribute folders")},
		{call(`"prod"`), says("histories is neither a list nor a map of objects")},
		{call(`[null]`), says("histories[0] has no attribute deployments")},
		{call(`[` + history + ` }, ` + history + ` }]`), says(`two histories are of the environment "prod"`)},
		{call(`[` + history + `, truncated = "many" }]`), says("histories[0].truncated: a string is not possible here")},
		{call(`[` + history + ` }], [], []`), says("at most one list of states")},
	})
}

// A page of data that is read during apply is known after apply.
func TestAccFleetPageUnknown(t *testing.T) {
	t.Parallel()
	r := newRoot(t, map[string]string{"terraform.tf": terraformBlock, "main.tf": `
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
	if plan := r.succeed("plan", "-no-color").text(); !strings.Contains(plan, "+ page = (known after apply)") {
		t.Errorf("the plan: %s", plan)
	}
	r.apply()
	var html string
	if r.output("page", &html); !strings.Contains(html, `<th scope="col">main</th>`) {
		t.Errorf("the page: %s", html)
	}
}
