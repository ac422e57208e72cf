package rendering_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingAdopt adopts a branch of the operator, and leaves foreign files on it.
func TestAccRenderingAdopt(t *testing.T) {
	t.Parallel()
	const name = "sample-dev-existing"
	operators := golden.Named(t, name)
	r := &rendering{Root: acc.NewRootFrom(t, "testdata/TestAccGoldenFleets"), repo: gitserver.InitBare(t)}
	r.Env = append(r.Env, "TF_VAR_repo="+r.repo)
	fleet := acc.AddGolden(operators, r.Root)
	fleet.Preview = "assignments"
	// In this module, the key of a fleet is the name of its branch.
	if err := os.Rename(filepath.Join(r.Folder, "fleets", name), filepath.Join(r.Folder, "fleets", "dev")); err != nil {
		t.Fatal(err)
	}

	gitserver.Seed(t, r.repo, "dev", operators.Existing)
	gitserver.Seed(t, r.repo, "dev", map[string]string{
		"legacy/README.md":                   "This folder contains deployment targets scheduled on the cluster type",
		"legacy/app-old/reconciler.yaml":     "of the operator\n",
		"large/notes.txt":                    "in a folder that is taken over\n",
		".github/workflows/check-promote.md": "theirs\n",
	})
	others := r.others()

	fleet.Existing = false // without adopt
	r.Write("fleets.json", acc.ToJSON(t, map[string]acc.GoldenFleet{"dev": fleet}))
	r.expectRefused([]string{"Folders are not owned by this rendering", "command-center, drone, large, small",
		"adopt = true"}, "plan")
	fleet.Existing = true
	r.Write("fleets.json", acc.ToJSON(t, map[string]acc.GoldenFleet{"dev": fleet}))
	acc.ExpectText(
		t,
		"testdata/TestAccRenderingAdopt/plan.txt",
		acc.Diagnostics(t, strings.ReplaceAll(r.Succeed("plan", "-json").Stdout, r.repo, "/gitops.git")),
	)
	if told := reviewOf(r.Root, "../../../templates/guides/reading-a-plan.md"); !strings.Contains(told,
		"What the apply changes there, by cluster type") {
		t.Errorf("the recipe of a review prints:\n%s", told)
	}
	out := r.Succeed("plan", "-no-color")
	for _, said := range []string{
		"Existing folders will be adopted", "These belong to no cluster type and are removed: legacy",
	} {
		if !strings.Contains(out.Text(), said) {
			t.Errorf("the plan does not say %q:\n%s", said, out.Stdout)
		}
	}
	r.expectCommits(1)

	want := operators.Tree
	got := acc.RenderedFiles(t, r.repo, "dev")
	maps.DeleteFunc(got, func(path, _ string) bool {
		_, ok := others[path]
		return ok || path == ".github/workflows/check-promote.md"
	})
	for path, content := range operators.Existing {
		if strings.HasPrefix(path, ".github/workflows/") {
			want[path] = content
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the branch (-want +got):\n%s", diff)
	}
	r.expectOthers(others)
	gitserver.Fsck(t, r.repo)
}

// TestAccRenderingForeignFolder: adding a cluster type whose folder is foreign fails without adopt.
func TestAccRenderingForeignFolder(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.Apply()
	others := r.others()
	r.Set("types", []string{"large", "small", "team"})
	r.expectRefused([]string{"Folders are not owned by this rendering", "team"}, "plan")
	r.Set("types", []string{"large", "small", "link"})
	r.expectRefused([]string{"these exist but are not directories", "link"}, "plan")
	r.Set("types", []string{"large", "small", "team"})
	r.options("adopt", true)
	if out := r.expectCommits(1); !strings.Contains(out.Text(), "Existing folders will be adopted") {
		t.Errorf("the apply does not list the folders that it adopts:\n%s", out.Stdout)
	}
	maps.DeleteFunc(others, func(path, _ string) bool { return strings.HasPrefix(path, "team/") })
	r.expectOthers(others)
	r.expectFiles("dev", append(append(defaultPaths(""), "team/README.md"), slices.Collect(maps.Keys(others))...)...)
}

// TestAccRenderingStateLost: without the state, the record identifies the owner of the tree. A destroy with on_destroy
// = "keep" leaves the tree on the branch.
func TestAccRenderingStateLost(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "deletion_protection", false, "on_destroy", "keep")
	r.setDestination("path", "clusters/dev")
	r.expectCommits(1)
	before := r.Rendered()
	for _, adopt := range []any{nil, true} {
		r.options("adopt", adopt)
		r.EmptyState()
		r.expectCommits(0)
		r.expectSame(before, "tree_hash", "folders", "commit_sha", "assignments")
	}
	r.expectCommits(0, "-replace=kalypso_environment_rendering.this")
	head := r.head()
	r.Succeed("destroy", "-auto-approve")
	if r.head() != head {
		t.Error("on_destroy = keep moved the branch")
	}
	// If the fleet has changed after the delivery, the tree is adopted only with adopt = true, by this root module or
	// another one. Then the apply is an update like any other: the guardrails count the folders that the record lists.
	r.options("adopt", nil)
	r.Set("targets", map[string]string{"a": "large", "c": "small"})
	refused := []string{
		"The branch contains a rendering of this environment: import it, or adopt", `rendering of environment "dev"`,
		"large: +0 -1 ~0", "dev@file://" + r.repo + "//clusters/dev?ref=dev", "adopt = true",
	}
	r.expectRefused(refused, "plan")
	r.expectRefused(refused, "apply", "-auto-approve")
	for _, preview := range []string{"none", "summary"} { // else the plan after the import is not empty
		r.options("preview", preview)
		r.expectRefused([]string{"?ref=dev&preview=" + preview + " "}, "plan")
	}
	r.options("preview", nil, "adopt", true)
	r.Set("targets", map[string]string{"c": "small"})
	r.expectRefused([]string{"removes 2 of 3"}, "plan")
	r.Set("targets", map[string]string{"a": "large", "c": "small"})
	said := "The branch contains folders of this rendering"
	if out := r.expectCommits(1).Text(); !strings.Contains(out, said) ||
		!strings.Contains(out, "large: 0 added, 1 removed, 0 changed removed: app-b") {
		t.Errorf("the apply does not list its changes:\n%s", out)
	}
}

// expectSame compares attributes in the state with earlier ones.
func (r *rendering) expectSame(before map[string]any, names ...string) {
	r.T.Helper()
	now := r.Rendered()
	for _, name := range names {
		if diff := cmp.Diff(before[name], now[name]); diff != "" {
			r.T.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}

// TestAccRenderingsWithOverlappingPaths: equal and nested paths on one branch are refused, within one configuration and
// against the records on the branch.
func TestAccRenderingsWithOverlappingPaths(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	first := newRenderings(t, repo)
	for _, paths := range []string{`["a", "a/b"]`, `["a", "."]`} {
		first.ExpectError(
			[]string{"Overlapping destinations", "equal or nested paths"},
			"plan",
			"-no-color",
			"-var=paths="+paths,
		)
	}
	first.Apply(`-var=paths=["a", "b/c"]`, "-var=environment=dev")
	// Two renderings of one environment are refused too, whether or not the other one exists yet.
	first.ExpectError(
		[]string{"Overlapping destinations"},
		"plan",
		"-no-color",
		`-var=paths=["a", "b/c", "./a"]`,
		"-var=environment=dev",
	)

	second := newRenderings(t, repo)
	second.ExpectError(
		[]string{"Overlapping destinations"},
		"plan",
		"-no-color",
		`-var=paths=["d", "./d"]`,
		"-var=environment=dev",
	)
	for path, said := range map[string]string{
		"a":     `this is the rendering of environment "dev", not of "a"`,
		"a/x":   `another rendering writes to path "a"`,
		"b":     `another rendering writes to path "b/c"`,
		"b/c/d": `another rendering writes to path "b/c"`,
	} {
		second.ExpectError(
			[]string{"Destination is occupied", said},
			"plan",
			"-no-color",
			`-var=paths=["`+path+`"]`,
		)
	}
	second.Apply(`-var=paths=["b/cc"]`)
	second.ExpectEmptyPlan(`-var=paths=["b/cc"]`)
	first.ExpectEmptyPlan(`-var=paths=["a", "b/c"]`, "-var=environment=dev")
}

// TestAccRenderingReplaced: a plan that destroys and creates the rendering of one destination is an error, since the
// branch would contain nothing in between. A moved block renames the resource. Terraform does not let the provider see
// that it replaces a tainted resource, so the provider refuses the destroy.
func TestAccRenderingReplaced(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	r := newRenderings(t, repo)
	a := []string{`-var=paths=["a"]`, "-var=environment=dev"}
	renamed := []string{`-var=paths=["./a"]`, "-var=environment=dev"}
	r.Apply(a...)
	head := gitserver.Rev(t, repo, "all")
	refused := func(args ...string) {
		t.Helper()
		r.ExpectError([]string{"The plan destroys and creates the same rendering", "moved {", `environment "dev"`},
			append([]string{args[0], "-no-color"}, args[1:]...)...)
		if got := gitserver.Rev(t, repo, "all"); got != head {
			t.Errorf("the branch moved:\n%s", strings.Join(gitserver.Log(t, repo, "all"), "\n"))
		}
	}
	refused(append([]string{"plan"}, renamed...)...)
	refused(append([]string{"plan", "-var=adopt=true"}, renamed...)...)
	const this = `kalypso_environment_rendering.this["a"]`
	refused(append([]string{"plan", "-replace=" + this}, a...)...)
	r.Write("lifecycle_override.tf",
		"resource \"kalypso_environment_rendering\" \"this\" {\n  lifecycle { create_before_destroy = true }\n}\n")
	refused(append([]string{"plan", "-replace=" + this}, a...)...)
	r.Write("lifecycle_override.tf", "")

	r.Succeed("taint", this)
	refused(append([]string{"apply", "-auto-approve"}, a...)...)
	r.Succeed("untaint", this)
	r.ExpectEmptyPlan(a...)

	r.Write("moved.tf", "moved {\n  from = "+this+"\n  to   = kalypso_environment_rendering.this[\"./a\"]\n}\n")
	r.Apply(renamed...)
	r.ExpectEmptyPlan(renamed...)
	if got := gitserver.Tree(t, repo, "all")["a/large/app-a/reconciler.yaml"]; got != "# of ./a" {
		t.Errorf("the branch contains %q", got)
	}
	if got := gitserver.Log(t, repo, "all"); len(got) > 2 {
		t.Errorf("%d commits: %q", len(got), got)
	}
}

// newRenderings makes a root module of testdata/renderings.
func newRenderings(t *testing.T, repo string) *acc.Root {
	t.Helper()
	r := acc.NewRootFrom(t, filepath.Join("testdata", "renderings"))
	r.Env = append(r.Env, "TF_VAR_repo="+repo)
	return r
}

// reviewOf runs the commands of a page of the docs that prepare a plan for review, and returns what they print.
func reviewOf(r *acc.Root, page string) string {
	r.T.Helper()
	for _, block := range acc.Fenced.FindAllStringSubmatch(acc.ReadFile(r.T, page), -1) {
		if !strings.Contains(block[2], "terraform plan -json -out=plan") {
			continue
		}
		like := r.Command("plan")
		cmd := exec.CommandContext(r.T.Context(), "bash", "-euo", "pipefail", "-c", block[2])
		cmd.Dir, cmd.Env = like.Dir, append(
			like.Env,
			"PATH="+acc.TerraformFolder(r.T)+string(os.PathListSeparator)+os.Getenv("PATH"),
		)
		out, err := cmd.CombinedOutput()
		if err != nil {
			r.T.Fatalf("%s\n%v\n%s", block[2], err, out)
		}
		return string(out)
	}
	r.T.Fatalf("%s has no recipe", page)
	return ""
}
