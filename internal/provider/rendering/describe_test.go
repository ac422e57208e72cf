package rendering_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const renderingAddress = "kalypso_environment_rendering.this"

// unknownDescription is Terraform's output for a description that the plan does not know.
var unknownDescription = regexp.MustCompile(`(?m)^ *([+~] description +=.*|EOT ->) \(known after apply\)$`)

// descriptionOf applies the module, and returns the description and whether the plan knew it. Terraform itself checks
// that an apply returns the planned description. The test fails unless the next plan is empty.
func descriptionOf(r *acc.Root) (text string, known bool) {
	r.T.Helper()
	shown := r.Apply().Stdout
	r.ExpectEmptyPlan()
	return acc.As[string](r.State()[renderingAddress]["description"]), !unknownDescription.MatchString(shown)
}

// expectDescription applies the module. It fails the test unless the plan knew the description as expected, and the
// description contains all of the texts and no text that begins with "canary".
func expectDescription(r *acc.Root, known bool, texts ...string) {
	r.T.Helper()
	text, was := descriptionOf(r)
	if was != known {
		r.T.Errorf("the description was known in the plan: %t, want %t", was, known)
	}
	for _, want := range texts {
		if !strings.Contains(text, want) {
			r.T.Errorf("the description does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "canary") || strings.Contains(text, "unknown") {
		r.T.Errorf("the description contains a value:\n%s", text)
	}
}

// TestAccDescription: changes are described in the plan of an update and after a create, with keys, and with values
// only if describe is "values".
func TestAccDescription(t *testing.T) {
	t.Parallel()
	commits := []string{strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)}
	r := newRendering(t, gitserver.InitBare(t))
	r.Set("value", "canary")
	at := func(commit string) { // a control plane at a commit
		r.options("promoted_commit", commit, "manifests", map[string]string{
			"https://github.com/acme/base@" + commit +
				":configs.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, labels: {platform-config: 'true', " +
				"type: small}}\ndata: {commit: canary-" + commit + "}\n",
		})
	}
	r.options("create_branch", true, "guardrails", map[string]any{"max_removed": "100%"}, "delivery",
		map[string]any{"describe": "keys"})
	at(commits[0])
	const marker = `<!-- kalypso-rendering: {"environment":"dev","branch":"dev","path":"."} -->`
	expectDescription(r.Root, false, "Renders environment `dev` to branch `dev`.",
		"3 added, 0 removed, 0 changed on 2 cluster types",
		"- `large` (new): `app-a`, `app-b`\n",
		"**Promoted commit:** [`aaaaaaa`](<https://github.com/acme/base/commit/"+commits[0]+">)\n", marker)

	r.Set("value", "canary-2")
	expectDescription(r.Root, true, "0 added, 0 removed, 3 changed", "- `small`: `app-c`\n",
		"- `all` on 3 deployment targets of `large`, `small`: `value`\n",
		"- `large` places 2 targets on `large`\n", "  linkStyle 0,1,2 stroke:#d4a72c,stroke-width:2px\n")
	r.Set("values", map[string]string{"a": "canary-own"})
	expectDescription(r.Root, true, "- `of-a` (new) on 1 deployment target of `large`: `value` added\n",
		"### Changed\n\n- `large`: `app-a`\n")
	r.Set("targets", map[string]string{"a": "large", "b": "small"})
	at(commits[1])
	move := "[`aaaaaaa`](<https://github.com/acme/base/commit/" + commits[0] +
		">) → [`bbbbbbb`](<https://github.com/acme/base/commit/" + commits[1] +
		">), [compare](<https://github.com/acme/base/compare/" + commits[0] + "..." + commits[1] + ">)"
	expectDescription(r.Root, true, "### Removed\n\n- `large`: `app-b`\n- `small`: `app-c`\n",
		"- `app-b` from `large` to `small`\n",
		"**Promoted commit:** "+move,
		"- `https://github.com/acme/base`: "+move+" (`configs.yaml`)",
		"- `base` on 1 deployment target of `small`: `commit`\n")

	// Setting describe = "values" changes nothing by itself. From then on, previous values are stored.
	r.Set("value", "1")
	expectDescription(r.Root, true, ": `value`\n")
	r.options("delivery", map[string]any{"describe": "values"})
	before := r.Rendered()["description"]
	r.expectCommits(0)
	if diff := cmp.Diff(before, r.Rendered()["description"]); diff != "" {
		t.Errorf("the description is not kept (-before +after):\n%s", diff)
	}
	for _, describe := range []any{nil, "none"} {
		r.options("delivery", map[string]any{"describe": describe})
		r.expectCommits(0)
		if got := r.Rendered()["description"]; got != nil {
			t.Errorf("with describe = %v the description is %v", describe, got)
		}
		r.options("delivery", map[string]any{"describe": "values"}) // changes that are on the branch are no longer described
		r.expectCommits(0)
		if got := r.Rendered()["description"]; got != nil {
			t.Errorf("there is a description of changes that were written before: %v", got)
		}
	}
	r.Set("value", "2`2")
	expectDescription(r.Root, true, ": `value` `1` → ``2`2``\n")
	r.Set("value", "3")
	expectDescription(r.Root, true, ": `value` ``2`2`` → `3`\n")
	r.options("delivery", map[string]any{"describe": "keys"})
	r.Set("value", "canary-5")
	expectDescription(r.Root, true, ": `value`\n")
	r.options("delivery", map[string]any{"describe": "values"})
	r.Set("value", "6")
	expectDescription(r.Root, true, ": `value`, now `6`\n") // the previous value was not stored
	r.options("delivery", map[string]any{"describe": "keys"})

	// From then on, the fleet is stored, so the description of the next change shows its lines, also in the plan.
	r.options("delivery", map[string]any{"describe": "lines"})
	r.Set("value", "7")
	expectDescription(r.Root, true, "The files before this change are not known here for 1 folder, such as `small/app-b`.")
	r.Set("value", "8")
	expectDescription(r.Root, true, ": `value`\n", "#### `platform-config.yaml` in 1 folder\n\n`small/app-b`\n",
		"\n-# value: 7 in dev-small-app-b\n+# value: 8 in dev-small-app-b\n```\n")
	r.options("delivery", map[string]any{"describe": "keys"})

	// An import reads only the record, and the description says so. An apply that adopts a tree reads this tree.
	r.EmptyState()
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"?ref=dev")
	r.Set("value", "canary-6")
	at(commits[2])
	expectDescription(r.Root, true, "0 added, 0 removed, 1 changed",
		"/compare/"+commits[1]+"..."+commits[2]+">) (`configs.yaml`)",
		"Not compared: the configuration, whose previous version is not known here.\n")
	r.EmptyState()
	expectDescription(r.Root, false, "No deployment target changes.",
		"Not compared: the configuration, whose previous version is not known here.")
	r.Set("value", "canary-7")
	expectDescription(r.Root, true, ": `value`\n")
}

// TestAccDescriptionPullRequest: the pull request has the attribute's text, and describes the effect of a merge.
func TestAccDescriptionPullRequest(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("describe", "keys")
	commit := func(digit string) string { return strings.Repeat(digit, 40) }
	at := func(digit, value string) {
		r.Set("value", value)
		r.options("manifests", map[string]string{r.on.URL + "@" + commit(digit) + ":a.yaml": document("Workload", "none",
			"{deploymentTargets: []}")})
	}
	expect := func(known bool, texts ...string) {
		t.Helper()
		expectDescription(r.Root, known, texts...)
		if diff := cmp.Diff(strings.TrimSpace(acc.As[string](r.Rendered()["description"])),
			strings.TrimSpace(r.last().Body)); diff != "" {
			t.Errorf("the pull request (-attribute +body):\n%s", diff)
		}
	}
	page := r.fake.URL + "/acme/gitops"
	gitserver.Seed(t, r.on.Path, "dev",
		map[string]string{"large/README.md": "This folder contains deployment targets scheduled on the cluster type",
			"large/app-a/reconciler.yaml": "of the operator\n"})
	r.options("adopt", true)
	at("1", "1")
	expect(false, "2 added, 0 removed, 1 changed",
		"Not compared: the configuration and the sources, whose previous version is not known here.")
	r.options("commit_message", "Another") // an apply that writes nothing
	r.Apply()
	at("2", "2")
	expect(
		true,
		"2 added, 0 removed, 1 changed",
		"Not compared: the configuration and the sources, whose previous version is not known here.",
	)
	r.on.Merge(t, r.last().Number, "squash")
	at("3", "3")
	expect(true, "0 added, 0 removed, 3 changed", page+"/compare/"+commit("2")+"..."+commit("3"),
		"`all` on 3 deployment targets of `large`, `small`: `value`\n")
	if body := r.last().Body; !regexp.MustCompile("(?m)^\\*\\*Tree:\\*\\* `[0-9a-f]{40}` → `" +
		acc.As[string](r.Rendered()["tree_hash"]) + "`$").MatchString(body) {
		t.Errorf("the pull request is described as\n%s", body)
	}
	r.options("commit_message", "And another")
	r.Apply()
	at("4", "4")
	expect(true, "0 added, 0 removed, 3 changed", page+"/compare/"+commit("2")+"..."+commit("4"),
		"`all` on 3 deployment targets of `large`, `small`: `value`\n")

	// A pull request lists the keys with any value of describe; the attribute lists them only if describe is set.
	r.delivery()
	at("5", "5")
	r.Apply()
	if got := r.Rendered()["description"]; got != nil {
		t.Errorf("unexpected description %v", got)
	}
	if body := r.last().Body; !strings.Contains(body, "`all` on 3 deployment targets of `large`, `small`: `value`\n") ||
		!strings.Contains(body, "```mermaid\n") {
		t.Errorf("the pull request is\n%s", body)
	}
}

// TestAccDescriptionIsDeterministic: the same change gives the same text in any order of the input, with links to the
// configured host. The text is unknown only if an input is unknown.
func TestAccDescriptionIsDeterministic(t *testing.T) {
	t.Parallel()
	const module = `
variable "manifests" { type = map(string) }
variable "base_url" { type = string }
variable "idle" { type = string }

resource "terraform_data" "base_url" { input = var.base_url }
resource "terraform_data" "idle" { input = var.idle }

provider "kalypso" {
  github = { base_url = terraform_data.base_url.output }
}

resource "kalypso_environment_rendering" "this" {
  environment     = "dev"
  configs = {
    idle = { name = "idle", labels = { region = "nowhere" }, data = { A = terraform_data.idle.output } }
  }
  manifests       = var.manifests
  promoted_commit = "v1"
  delivery        = { strategy = "none", describe = "keys" }
}
`
	const ours = "https://github.acme.io/acme/one"
	var first string
	for i := range 2 {
		r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + module})
		set := func(value, baseURL, idle string, commit int) {
			documents := manyDocuments(value, 8-commit)
			if i > 0 {
				slices.Reverse(documents)
			}
			half := len(documents)/2 + i
			manifests := map[string]string{"a": strings.Join(documents[:half], "---\n"),
				"b": strings.Join(documents[half:], "---\n")}
			for n, repo := range []string{ours + ".git", "git@github.acme.io:acme/two", "https://github.com/acme/three"} {
				manifests[fmt.Sprintf("%s@%040d:a.yaml", repo, commit)] = document("Workload", fmt.Sprint("none-", n),
					"{deploymentTargets: []}")
			}
			r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"manifests": manifests, "base_url": baseURL,
				"idle": idle}))
		}
		set("one", "https://github.acme.io/", "1", 1)
		expectDescription(r, false, "Renders environment `dev`.", "70 added", "[`0000000`](<"+ours+"/commit/")
		set("two", "https://github.acme.io/", "1", 2)
		text, known := descriptionOf(r)
		if !known {
			t.Error("the description is not known in the plan")
		}
		for _, want := range []string{
			"0 added, 10 removed, 60 changed", "[compare](<" + ours + "/compare/", "(<https://github.acme.io/acme/two/commit/",
			"- `https://github.com/acme/three`: `0000000` → `0000000` (`a.yaml`)\n",
			"- `config-4` on 60 deployment targets of `type-0`, `type-1`, `type-2`, `type-3`, `type-4`: `A`, `Bone` removed, " +
				"`Btwo` added\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the description does not say %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, "`idle`") {
			t.Errorf("a config that does not change is described:\n%s", text)
		}
		if i == 0 {
			first = text
			continue
		}
		if diff := cmp.Diff(first, text); diff != "" {
			t.Errorf("the description of the same change in another order (-first +this):\n%s", diff)
		}
		set("two", "https://github.acme.io/", "2", 3)
		expectDescription(r, false, "10 removed", "- `idle`, which applies to no deployment target: `A`\n")
		set("two", "https://github.com/", "2", 4)
		expectDescription(r, false, "10 removed", "- `"+ours+".git`: `0000000` → `0000000` (`a.yaml`)\n",
			"(<https://github.com/acme/three/commit/")
	}
}

func document(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n", kind,
		name, spec)
}

// manyDocuments returns a fleet that places two targets of each workload on each of five cluster types, with configs
// that contain a value.
func manyDocuments(value string, workloads int) []string {
	all := []string{
		document("Template", "file", `{type: reconciler, manifests: ["# {{ toJson .ConfigData }}"]}`),
		document("Template", "ns", `{type: namespace, manifests: [""]}`),
		document("SchedulingPolicy", "all", `{deploymentTargetSelector: {}, clusterTypeSelector: {}}`),
	}
	for i := range 5 {
		all = append(all, document("ClusterType", fmt.Sprint("type-", i), `{reconciler: file, namespaceService: ns}`),
			fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config-%d, labels: {platform-config: "+
				"'true'}}\ndata: {A: %s, B%s: '%d'}\n", i, value, value, i))
	}
	for i := range workloads {
		all = append(all, document("Workload", fmt.Sprint("w-", i),
			`{deploymentTargets: [{name: a, environment: dev}, {name: b, environment: dev}]}`))
	}
	return all
}
