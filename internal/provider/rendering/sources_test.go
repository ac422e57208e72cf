package rendering_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const acmeBase = "https://github.com/acme/base"

// configDocument returns a config for the deployment target a of testdata/rendering.
func configDocument(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\n" +
		"metadata: {name: " + name + ", labels: {platform-config: 'true', deployment-target: app-a}}\n" +
		"data: {value: '" + value + "'}\n"
}

// TestAccSourcesKeptWithoutWrite: while nothing is written, plans keep the arguments sources and manifests, each as a
// whole, with the commits that the objects were first read at. Without other changes, the plan is empty.
func TestAccSourcesKeptWithoutWrite(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.Set("typed", true) // so that manifests contain no other object
	r.Set("value", "1")
	commit := func(digit string) string { return strings.Repeat(digit, 40) }
	read := func(digit string, manifests map[string]string) {
		r.options("sources", map[string]string{acmeBase + "@main:.": commit(digit)}, "manifests", manifests)
	}
	first := map[string]string{acmeBase + "@main:a.yaml": configDocument("of-a", "x")}
	r.options("create_branch", true)
	read("1", first)
	r.expectCommits(1)
	before := r.Rendered()

	read("2", first)
	r.ExpectNoChanges()
	read("2", map[string]string{acmeBase + "@main:moved/a.yaml": configDocument("of-a", "x") + "# noted\n"})
	r.ExpectNoChanges()
	if diff := cmp.Diff(before, r.Rendered()); diff != "" {
		t.Errorf("the state (-before +after):\n%s", diff)
	}

	// Any other change is an update that keeps sources and manifests.
	r.options("commit_message", "Another")
	r.expectUpdate(0)
	r.expectSame(before, "sources", "manifests", "tree_hash", "commit_sha", "description")

	// If an object moves from one argument to another, the kept arguments contain it twice or not at all.
	read("3", map[string]string{})
	r.Set("values", map[string]string{"a": "x"})
	r.expectUpdate(0)
	r.expectSame(before, "sources", "manifests", "tree_hash", "commit_sha")

	// Once a tree is written, the state has the current commits.
	r.Set("values", map[string]string{"a": "y"})
	r.expectCommits(1)
	if got := asMap(r.Rendered()["sources"])[acmeBase+"@main:."]; got != commit("3") {
		t.Errorf("sources name the commit %v", got)
	}
	read("4", first)
	r.Set("values", map[string]string{})
	r.expectCommits(1)
	record := gitserver.Tree(t, r.repo, "dev")[acc.RecordPath]
	for _, want := range []string{`"` + acmeBase + `@main:a.yaml"`, `"` + acmeBase + `@main:.": "` + commit("4") + `"`} {
		if !strings.Contains(record, want) {
			t.Errorf("the record does not name %s:\n%s", want, record)
		}
	}

	// After an import there is nothing to keep.
	r.EmptyState()
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"?ref=dev")
	read("5", first)
	r.expectCommits(0)
	if got := asMap(r.Rendered()["sources"])[acmeBase+"@main:."]; got != commit("5") {
		t.Errorf("after an import sources name the commit %v", got)
	}

	// The apply keeps values that were unknown at plan.
	r.Write("later.tf", `resource "terraform_data" "later" { input = "`+commit("6")+`" }`)
	r.Write("override.tf", `resource "kalypso_environment_rendering" "this" {
  sources = { "`+acmeBase+`@main:." = terraform_data.later.output }
}`)
	r.expectCommits(0)
	if got := asMap(r.Rendered()["sources"])[acmeBase+"@main:."]; got != commit("5") {
		t.Errorf("sources that were not known name the commit %v", got)
	}
	r.Write("override.tf", "")
	r.options("sources", nil)
	r.expectCommits(0)
	if got := r.Rendered()["sources"]; got != nil {
		t.Errorf("sources that were removed are %v", got)
	}
}

// TestAccSourcesKeptByEachRendering: several renderings that are planned at the same time keep their own arguments. No
// rendering is made from kept arguments, in which an object may occur twice.
func TestAccSourcesKeptByEachRendering(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
variable "moved" { type = bool }

resource "kalypso_environment_rendering" "this" {
  for_each = toset(["a", "b", "c", "d", "e", "f"])

  environment   = each.key
  cluster_types = merge(
    { large = { name = "large", reconciler = "r", namespace_service = "n" } },
    var.moved ? { small = { name = "small", reconciler = "r", namespace_service = "n" } } : {},
  )
  templates = {
    for name, type in { r = "reconciler", n = "namespace" } : name => { name = name, type = type, manifests = ["# x"] }
  }
  manifests = var.moved ? {} : { "` + acmeBase + `@main:small.yaml" = <<-EOT
    apiVersion: scheduler.kalypso.io/v1alpha1
    kind: ClusterType
    metadata: { name: small }
    spec: { reconciler: r, namespaceService: "n" }
  EOT
  }
  sources  = { "` + acmeBase + `@main:." = var.moved ? "2" : "1" }
  delivery = { strategy = "none" }
}
`})
	r.Write("terraform.tfvars", "moved = false")
	r.Apply()
	before := r.State()
	r.Write("terraform.tfvars", "moved = true")
	r.Apply()
	r.ExpectEmptyPlan()
	for address, was := range before {
		now := r.State()[address]
		for _, attribute := range []string{"sources", "manifests", "tree_hash", "assignments"} {
			if diff := cmp.Diff(was[attribute], now[attribute]); diff != "" {
				t.Errorf("%s: %s (-before +after):\n%s", address, attribute, diff)
			}
		}
	}
}

// TestAccSourcesInput: an invalid location or commit is an error on its element.
func TestAccSourcesInput(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options(
		"create_branch",
		true,
		"sources",
		map[string]string{"fleet": strings.Repeat("1", 40), acmeBase + "@main:.": ""},
		"verified",
		map[string]string{"main": "ann@acme.io"},
	)
	r.ExpectError([]string{`"fleet" does not name a folder in Git`, "<repo>@<branch>:<path>", "Invalid commit",
		`"main": `, "Usually verified is the output verified"}, "plan", "-no-color")
}
