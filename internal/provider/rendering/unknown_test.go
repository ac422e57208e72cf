package rendering_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// unknowns lists the parts of a plan that are unknown because an argument is unknown.
type unknowns struct {
	schedule    bool // the number of assignments, and the targets that no policy places
	assignments bool
	folders     bool
	summary     bool
	lines       []string // cluster types whose lines of the summary are unknown
	paths       bool     // the paths of the folders
	tree        bool     // the hash of the tree
	files       []string // files whose content is unknown
	all         bool     // the list of files
	targets     []string // deployment targets whose hashes are unknown, in addition to the targets of files
	undecided   []string // cluster types whose assignments are unknown
	unscheduled bool     // the targets that no policy places, in addition to schedule
}

var (
	nothing    = unknowns{}
	everyFile  = unknowns{tree: true, all: true, targets: []string{"a/hello-test", "b/hello-test"}}
	assigned   = unknowns{schedule: true, assignments: true, tree: true, all: true}
	everything = unknowns{schedule: true, assignments: true, folders: true, tree: true, all: true}
)

func filesOf(paths ...string) unknowns { return unknowns{tree: true, files: paths} }

// unknownCases lists the cases of testdata/TestAccUnknown, with everything that may be unknown in the plan.

var unknownCases = map[string]unknowns{
	"known":            nothing,
	"config_value":     filesOf("b/hello-test/platform-config.yaml"),
	"config_same":      filesOf("b/hello-test/platform-config.yaml"),
	"config_decides":   everyFile,
	"config_label":     filesOf("a/hello-test/platform-config.yaml", "b/hello-test/platform-config.yaml"),
	"config_name":      filesOf("a/hello-test/platform-config.yaml", "b/hello-test/platform-config.yaml"),
	"config_map":       filesOf("a/hello-test/platform-config.yaml", "b/hello-test/platform-config.yaml"),
	"schema":           nothing,
	"schema_map":       nothing,
	"template_text":    filesOf("a/hello-test/namespace.yaml", "b/hello-test/namespace.yaml"),
	"template_name":    everyFile,
	"template_map":     everyFile,
	"template_ref":     {tree: true, all: true, targets: []string{"b/hello-test"}},
	"manifest_value":   filesOf("a/hello-test/reconciler.yaml", "b/hello-test/reconciler.yaml"),
	"environment":      assigned,
	"cluster_label":    {undecided: []string{"b"}, tree: true, all: true},
	"cluster_config":   filesOf("b/hello-test/platform-config.yaml"),
	"cluster_unread":   nothing,
	"cluster_name":     everything,
	"cluster_map":      everything,
	"cluster_keys":     everything,
	"target_label":     assigned,
	"target_one":       {undecided: []string{"a"}, unscheduled: true, tree: true, all: true},
	"target_read":      filesOf("a/hello-test/namespace.yaml", "b/hello-test/namespace.yaml"),
	"target_unread":    nothing,
	"target_name":      assigned,
	"target_list":      assigned,
	"target_elsewhere": nothing,
	"workload_name":    assigned,
	"workload_map":     assigned,
	"policy_selector":  assigned,
	"policy_map":       assigned,
	"manifests_text":   everything,
	"manifests_keys":   everything,
	"manifests_map":    everything,
	"promoted_commit":  {all: true},
	"repo":             nothing,
	"branch":           nothing,
	"path":             {paths: true, all: true},
	"path_same":        {paths: true, all: true},
	"gitops_repo":      {paths: true, all: true},
	"strategy":         nothing,
	"strategy_ends":    nothing,
	"delivery":         nothing,
	"guardrails":       nothing,
	"guardrail_flags":  nothing,
	"flags":            nothing,
	"flags_moving":     nothing,
	"preview":          {assignments: true, folders: true, summary: true, all: true},
	"preview_summary":  {tree: true, lines: []string{"b"}},
	"preview_none":     {schedule: true, tree: true},
	"others":           nothing,
}

// If a value is unknown at plan, only values that depend on it are unknown. The apply and the branch match the known
// part of the plan, and the next plan is empty. The first round creates the renderings. The second round changes the
// unknown values, and makes no commit if the tree does not change.
func TestAccUnknown(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccUnknown")
	repo := gitserver.InitBare(t)
	r.Env = append(r.Env, "TF_VAR_repo=file://"+repo)
	r.Succeed("validate")
	for round, value := range []string{"one", "two"} {
		r.Env = append(r.Env, "TF_VAR_round="+value)
		before := r.State()
		changes := r.Plan()
		r.ApplyPlan()
		r.ExpectEmptyPlan()
		state := r.State()
		for name, open := range unknownCases {
			t.Run(value+"/"+name, func(t *testing.T) {
				address := `kalypso_environment_rendering.case["` + name + `"]`
				was, c, is := before[address], changes[address], state[address]
				expectUnknown(t, c, open)
				expectApplied(t, c, is)
				if is["commit_sha"] == nil {
					return // the strategy is none
				}
				place := acc.As[map[string]any](is["gitops_repo"])
				expectOnBranch(t, repo, acc.As[string](place["branch"]), acc.As[string](place["path"]), is)
				want := round + 1
				if round > 0 && was["tree_hash"] == is["tree_hash"] && was["promoted_commit"] == is["promoted_commit"] &&
					cmp.Equal(was["gitops_repo"], place) {
					want = round
				}
				if got := len(gitserver.Log(t, repo, acc.As[string](place["branch"]))); got != want {
					t.Errorf("%d commits on the branch, want %d", got, want)
				}
			})
		}
	}
}

// expectUnknown compares the unknown parts of a plan with the parts that may be unknown.
func expectUnknown(t *testing.T, c acc.Change, open unknowns) {
	t.Helper()
	for attribute, want := range map[string]bool{
		"assignments":      open.assignments,
		"assignment_count": open.schedule || len(open.undecided) > 0,
		"unscheduled":      open.schedule || open.unscheduled,
		"folders":          open.folders,
		"summary":          open.summary,
		"tree_hash":        open.tree,
		"files":            open.all,
	} {
		if got := c.Unknown[attribute] == true; got != want {
			t.Errorf("%s is unknown: %t, want %t", attribute, got, want)
		}
	}
	targets := slices.Clone(open.targets)
	for _, file := range open.files {
		targets = append(targets, path.Dir(file))
	}
	slices.Sort(targets)
	targets = slices.Compact(targets)
	var folders []string
	for name := range asMap(c.After["folders"]) {
		if open.paths {
			folders = append(folders, name+"/path")
		}
		undecided := open.schedule || slices.Contains(open.undecided, name)
		if undecided {
			folders = append(folders, name+"/assignments")
		}
		if undecided || slices.ContainsFunc(targets, func(target string) bool { return path.Dir(target) == name }) {
			folders = append(folders, name+"/tree_hash")
		}
	}
	slices.Sort(folders)
	want := map[string][]string{"files": open.files, "folders": folders, "summary": open.lines}
	if c.After["assignments"] != nil {
		want["assignments"] = slices.Sorted(slices.Values(slices.Concat(open.undecided, targets)))
	}
	for attribute, want := range want {
		if diff := cmp.Diff(want, unknownMembers(c, attribute), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("unknown of %s (-want +got):\n%s", attribute, diff)
		}
	}
}

// expectApplied compares the known part of the plan with the state.
func expectApplied(t *testing.T, c acc.Change, state map[string]any) {
	t.Helper()
	for _, attribute := range []string{
		"assignments", "assignment_count", "unscheduled", "summary", "folders", "files", "description", "tree_hash",
		"commit_sha", "pull_request",
	} {
		if c.Unknown[attribute] == true {
			continue
		}
		got := known(t, attribute, state[attribute], c.Unknown[attribute])
		if diff := cmp.Diff(c.After[attribute], got); diff != "" {
			t.Errorf("%s (-planned +applied):\n%s", attribute, diff)
		}
	}
}

// known returns a value without the members that were unknown at plan. The value must have all of these members.
func known(t *testing.T, at string, value, unknown any) any {
	t.Helper()
	members := asMap(unknown)
	if len(members) == 0 {
		return value
	}
	all := maps.Clone(acc.As[map[string]any](value))
	for key, open := range members {
		if _, there := all[key]; !there {
			t.Errorf("%s: %s was planned and is missing", at, key)
		}
		all[key] = known(t, at+"/"+key, all[key], open)
		if open == true {
			delete(all, key)
		}
	}
	return all
}

// unknownMembers returns the paths of the unknown members of an attribute, at any depth.
func unknownMembers(c acc.Change, attribute string) []string {
	var find func(at string, unknown any) []string
	find = func(at string, unknown any) (all []string) {
		if unknown == true {
			return []string{strings.TrimPrefix(at, "/")}
		}
		for key, member := range asMap(unknown) {
			all = append(all, find(at+"/"+key, member)...)
		}
		return all
	}
	if c.Unknown[attribute] == true {
		return nil
	}
	all := find("", c.Unknown[attribute])
	slices.Sort(all)
	return all
}

// placed returns the names of the deployment targets on each cluster type, sorted.
func placed(assignments any) map[string]any {
	all := map[string]any{}
	for clusterType, targets := range asMap(assignments) {
		names := []any{}
		for _, name := range slices.Sorted(maps.Keys(asMap(targets))) {
			names = append(names, name)
		}
		all[clusterType] = names
	}
	return all
}

// Values that were unknown at plan are checked before the push: assignments that turn out to remove everything stop the
// apply. require_known refuses such a plan.
func TestAccUnknownRefused(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccUnknownRefused")
	repo := gitserver.InitBare(t)
	r.Env = append(r.Env, "TF_VAR_repo="+repo, "TF_VAR_round=one", "TF_VAR_purpose=test")
	r.ExpectError(
		[]string{"Assignments not known", "require_known", `workloads["hello"].deployment_targets[0].labels["purpose"]`},
		"plan",
		"-no-color",
		"-var=require_known=true",
	)
	r.Plan()
	r.ApplyPlan()
	before, head := r.State()["kalypso_environment_rendering.this"], gitserver.Rev(t, repo, "dev")

	r.Env = append(r.Env, "TF_VAR_round=two")
	r.ExpectError(
		[]string{"Assignments not known", "require_known", `workloads["hello"].deployment_targets[0].labels["purpose"]`},
		"plan",
		"-no-color",
		"-var=require_known=true",
	)

	r.Env = append(r.Env, "TF_VAR_round=three", "TF_VAR_purpose=none")
	r.Plan()
	r.ExpectError([]string{"Change exceeds guardrails", "large/hello-test"}, "apply", "-no-color", "plan")
	if diff := cmp.Diff(before, r.State()["kalypso_environment_rendering.this"]); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
	if now := gitserver.Rev(t, repo, "dev"); now != head {
		t.Errorf("something was pushed: the head was %s and is %s", head, now)
	}
	// If all values are known, the plan reports the removal.
	r.ExpectError([]string{"Change exceeds guardrails", "large/hello-test"}, "plan", "-no-color")

	// The same applies to foreign changes if on_drift is unknown.
	gitserver.Seed(t, repo, "dev", map[string]string{"large/hello-test/namespace.yaml": "name: by hand\n"})
	r.Env = append(r.Env, "TF_VAR_round=four", "TF_VAR_purpose=test", "TF_VAR_on_drift=fail")
	r.Plan()
	r.ExpectError(
		[]string{"Drift: rendered folders changed outside Terraform", "large/hello-test/namespace.yaml"},
		"apply",
		"-no-color",
		"plan",
	)
	r.Env = append(r.Env, "TF_VAR_round=five", "TF_VAR_on_drift=overwrite")
	r.Plan()
	r.ApplyPlan()
	r.ExpectEmptyPlan()
	if got := gitserver.Tree(t, repo, "dev")["large/hello-test/namespace.yaml"]; got != "# name: dev-large-hello-test\n" {
		t.Errorf("the foreign change is still there: %q", got)
	}
}

// If the credentials are unknown at plan, no server is contacted, and everything that needs no server is planned as
// usual.
func TestAccUnknownProvider(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccUnknownProvider")
	repo := gitserver.InitBare(t)
	server, url := gitserver.Serve(t, repo, gitserver.WithBasic("kalypso", "secret"))
	r.Env = append(r.Env, "TF_VAR_url="+url, "TF_VAR_password=secret")
	const address = "kalypso_environment_rendering.this"
	for i, round := range []string{"one", "two"} {
		r.Env = append(r.Env, "TF_VAR_round="+round)
		asked := len(server.Requests())
		c := r.Plan()[address]
		if out := r.Succeed("plan", "-no-color"); !strings.Contains(out.Text(), "Provider configuration not known yet") {
			t.Errorf("no warning that the provider's configuration is not known:\n%s", out.Stdout)
		}
		if n := len(server.Requests()) - asked; n > 0 {
			t.Errorf("the plan of round %s contacted the server %d times", round, n)
		}
		expectUnknown(t, c, nothing)
		r.ApplyPlan()
		state := r.State()[address]
		expectApplied(t, c, state)
		expectOnBranch(t, repo, "dev", ".", state)
		r.ExpectEmptyPlan()
		if log := gitserver.Log(t, repo, "dev"); len(log) != i+1 {
			t.Errorf("commits on the branch after round %s: %q", round, log)
		}
	}
}

// Whole resources pass through a module whose variables have no type: single ones, with for_each, and merged.
func TestAccModule(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccModule")
	r.Succeed("get")
	r.Succeed("validate")
	for _, round := range []string{"one", "two"} {
		r.Env = append(r.Env, "TF_VAR_round="+round)
		c := r.Plan()["module.environment.kalypso_environment_rendering.this"]
		expectUnknown(t, c, filesOf("large/hello-perf/platform-config.yaml", "large/hello-test/platform-config.yaml"))
		r.ApplyPlan()
		r.ExpectEmptyPlan()
		var rendering map[string]any
		r.Output("rendering", &rendering)
		expectApplied(t, c, rendering)
		want := map[string]any{"large": []any{"hello-perf", "hello-test"}, "small": []any{"hello-test"}}
		if diff := cmp.Diff(want, placed(rendering["assignments"])); diff != "" {
			t.Errorf("assignments (-want +got):\n%s", diff)
		}
	}
}

// TestAccUnknownClusterType: this apply creates a cluster, and its cluster type has labels that are unknown until then.
// A label that no policy reads leaves everything known. With a label that a policy reads, only the assignments of this
// cluster type are unknown, and require_known names the label.
func TestAccUnknownClusterType(t *testing.T) {
	t.Parallel()
	const folder, address = "testdata/TestAccUnknownClusterType/", "kalypso_environment_rendering.this"
	for name, open := range map[string]unknowns{"size": nothing, "region": {undecided: []string{"new"}, tree: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := acc.NewRootFrom(t, folder)
			r.Env = append(r.Env, "TF_VAR_selected="+name)
			r.Apply()

			o := r.Terraform("plan", "-no-color", "-var=create=true", "-var=require_known=true")
			refused := len(open.undecided) > 0
			if refused != (o.Code == 1) {
				t.Errorf("require_known: exit code %d\n%s", o.Code, o.Stderr)
			}
			if refused {
				acc.ExpectText(t, folder+name+"_refused.txt", acc.Printed(o.Stderr))
			}

			r.Env = append(r.Env, "TF_VAR_create=true")
			c := r.Plan()[address]
			acc.ExpectText(t, folder+name+".txt", acc.Printed(r.Succeed("show", "-no-color", "plan").Stdout))
			expectUnknown(t, c, open)
			want := map[string]any{"large": []any{"app-web"}}
			if len(open.undecided) == 0 {
				want["new"] = []any{"app-web"}
			}
			if diff := cmp.Diff(want, placed(c.After["assignments"])); diff != "" {
				t.Errorf("assignments that are known (-want +got):\n%s", diff)
			}
			r.ApplyPlan()
			expectApplied(t, c, r.State()[address])
			r.ExpectEmptyPlan()
		})
	}
}

// TestAccUnknownStrategyWithoutCommit: a create that delivers nothing, since nothing is promoted yet, does not know yet
// whether it will ever deliver.
func TestAccUnknownStrategyWithoutCommit(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"none", "push"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": `
variable "repo" { type = string }
variable "strategy" { type = string }

resource "terraform_data" "strategy" {
  input = var.strategy
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  gitops_repo = { repo = var.repo, branch = "dev" }
  delivery    = { strategy = terraform_data.strategy.output }
  promotion   = { commit = null }
}
`})
			r.Env = append(r.Env, "TF_VAR_repo=file://"+gitserver.InitBare(t), "TF_VAR_strategy="+strategy)
			r.Apply()
			r.ExpectEmptyPlan()
		})
	}
}

// TestAccUnknownAcceptedDrift: the plan does not know yet whether accepted_changes allows the apply to overwrite a
// hotfix. Terraform plans again within the apply, and that plan refuses.
func TestAccUnknownAcceptedDrift(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": `
variable "accepted" { type = string }

resource "terraform_data" "accepted" {
  input = var.accepted
}

resource "kalypso_environment_rendering" "dev" {
  environment      = "dev"
  gitops_repo      = { repo = "file://` + repo + `", branch = "dev" }
  create_branch    = true
  accepted_changes = [terraform_data.accepted.output]
  guardrails       = { allow_empty = true, unscheduled = "ignore" }
  cluster_types = {
    large = { name = "large", labels = {}, reconciler = "flux", namespace_service = "namespace" }
  }
  templates = {
    flux      = { name = "flux", type = "reconciler", manifests = ["# {{ .Namespace }}"] }
    namespace = { name = "namespace", type = "namespace", manifests = ["# {{ .Namespace }}"] }
  }
}
`})
	r.Env = append(r.Env, "TF_VAR_accepted=drift-000000000000")
	r.Apply()
	gitserver.Seed(t, repo, "dev", map[string]string{"large/README.md": "a hotfix\n"})
	r.Env = append(r.Env, "TF_VAR_accepted=drift-111111111111")
	o := r.Terraform("apply", "-auto-approve", "-no-color")
	if o.Code == 0 {
		t.Errorf("the apply passes:\n%s", o.Text())
	}
	acc.ExpectTexts(t, acc.TerraformWords(o.Text()), "Drift: rendered folders changed outside Terraform",
		"accepted_changes")
	if got := gitserver.Tree(t, repo, "dev")["large/README.md"]; got != "a hotfix\n" {
		t.Errorf("the hotfix is now %q", got)
	}
}
