package assignments_test

import (
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// returnedAssignment is an assignment as the data source returns it.
type returnedAssignment struct {
	ClusterType string `json:"cluster_type"`
	Target      string `json:"deployment_target"`
	Namespace   string
	Values      map[string]struct {
		Value, Config, Origin string
		Merged, Replaced      []struct{ Config string }
	}
}

// assignmentsOf decodes the assignments among the values of the data source.
func assignmentsOf(t *testing.T, values map[string]any) (all []returnedAssignment) {
	t.Helper()
	acc.FromJSON(t, acc.ToJSON(t, values["assignments"]), &all)
	return all
}

// pairsOf returns the cluster types and deployment targets of assignments, in order.
func pairsOf(all []returnedAssignment) (pairs []string) {
	for _, a := range all {
		pairs = append(pairs, a.ClusterType+"/"+a.Target)
	}
	return pairs
}

// The data source returns the recorded assignments of each golden fleet, with the values of its recorded ConfigMaps.
// The explanations for the fleets with workspaces and with layered configs are in testdata.
func TestAccAssignments(t *testing.T) {
	t.Parallel()
	all := golden.WithTree(t)
	r := acc.NewRootFrom(t, "testdata/TestAccAssignments")
	fleets := map[string]acc.GoldenFleet{}
	for _, g := range all {
		f := acc.AddGolden(g, r)
		f.Preview = "manifests"
		fleets[g.Name] = f
	}
	r.Write("fleets.json", acc.ToJSON(t, fleets))
	out := r.Apply()
	r.ExpectEmptyPlan()
	state := r.State()
	for _, g := range all {
		values := state[`data.kalypso_assignments.golden["`+g.Name+`"]`]
		var want []string
		for _, a := range *g.Summary.Assignments {
			want = append(want, a.ClusterType+"/"+a.DeploymentTarget)
		}
		if diff := cmp.Diff(want, pairsOf(assignmentsOf(t, values))); diff != "" {
			t.Errorf("%s: assignments (-recorded +data source):\n%s", g.Name, diff)
		}
	}
	workspaces := computedOf(state[`data.kalypso_assignments.golden["tricky-03-workspaces"]`])
	delete(workspaces, "assignments")
	acc.ExpectYAML(t, "testdata/TestAccAssignments/workspaces.yaml", workspaces)
	layering := state[`data.kalypso_assignments.golden["tricky-06-config-layering"]`]
	expectRecordedValues(t, golden.Named(t, "tricky-06-config-layering").Tree, assignmentsOf(t, layering))
	acc.ExpectYAML(t, "testdata/TestAccAssignments/layering.yaml",
		provenanceOf(assignmentsOf(t, layering), "dev-small-app-test"))
	acc.ExpectYAML(t, "testdata/TestAccAssignments/empty.yaml", computedOf(state["data.kalypso_assignments.empty"]))
	acc.ExpectYAML(t, "testdata/TestAccAssignments/failing.yaml", computedOf(state["data.kalypso_assignments.failing"]))
	for _, a := range assignmentsOf(t, state["data.kalypso_assignments.some"]) {
		if got := a.Values["A"].Value; (a.Target == "hello-app") != (got == "B") || a.Target == "hello-job" &&
			a.Values != nil {
			t.Errorf("%s: A is %q of %v", a.Target, got, a.Values)
		}
	}
	r.ExpectError([]string{"No such deployment target", `Environment "dev" has no deployment target "hello"`,
		"explain_targets = [var.target]"}, "plan", "-no-color", "-var", "target=hello")
	for _, text := range []string{"Warning: Template does not parse", "A rendering of this fleet fails with this error.",
		`templates["broken"].manifests[0]`} {
		if !strings.Contains(out.Text(), text) {
			t.Errorf("the apply does not say %q:\n%s", text, out.Text())
		}
	}
}

// computedOf returns the computed attributes of the data source.
func computedOf(values map[string]any) map[string]any {
	all := map[string]any{}
	for _, name := range []string{"assignments", "unscheduled", "idle_policies", "counts"} {
		all[name] = values[name]
	}
	return all
}

// provenanceOf returns, for each value of an assignment, the config that it came from, and the configs that this one
// was merged with or replaced.
func provenanceOf(all []returnedAssignment, namespace string) map[string]string {
	from := map[string]string{}
	for _, a := range all {
		if a.Namespace != namespace {
			continue
		}
		for key, v := range a.Values {
			text := v.Config + " of " + v.Origin
			for _, c := range v.Merged {
				text += ", merged " + c.Config
			}
			for _, c := range v.Replaced {
				text += ", replaced " + c.Config
			}
			from[key] = text
		}
	}
	return from
}

// expectRecordedValues compares the values of each assignment with the data of the ConfigMap that the operator wrote:
// texts are compared as they are, other values after decoding.
func expectRecordedValues(t *testing.T, tree map[string]string, all []returnedAssignment) {
	t.Helper()
	for _, a := range all {
		file := path.Join(a.ClusterType, a.Target, "platform-config.yaml")
		var recorded struct{ Data map[string]any }
		if err := yaml.Unmarshal([]byte(tree[file]), &recorded); err != nil {
			t.Fatal(err)
		}
		if len(recorded.Data) < 40 {
			t.Fatalf("%s contains %d values", file, len(recorded.Data))
		}
		got := map[string]any{}
		for key, v := range a.Values {
			got[key] = v.Value
			if _, text := recorded.Data[key].(string); text {
				continue
			}
			var structured any
			if err := yaml.Unmarshal([]byte(v.Value), &structured); err != nil {
				t.Fatal(err)
			}
			got[key] = structured
		}
		if diff := cmp.Diff(recorded.Data, got); diff != "" {
			t.Errorf("%s (-recorded +data source):\n%s", a.Namespace, diff)
		}
	}
}

// Before the quickstart's resources exist, the plan shows the assignments that the rendering plans, with their reasons.
// The data source gets the fleet from a local, because Terraform defers data sources that refer to pending resources.
func TestAccAssignmentsOfResources(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "quickstart"))
	r.Env = append(r.Env, "TF_VAR_gitops_repo_url=file://"+gitserver.InitBare(t))
	rendering := acc.ReadFile(t, filepath.Join(acc.Examples, "quickstart", "main.tf"))
	fleet := rendering[strings.Index(rendering, "  environment "):strings.Index(rendering, "  gitops_repo ")]
	r.Write("why.tf", "locals {\n  fleet = {\n"+fleet+`}
}

data "kalypso_assignments" "this" {
  environment         = local.fleet.environment
  cluster_types       = local.fleet.cluster_types
  configs             = local.fleet.configs
  templates           = local.fleet.templates
  config_schemas      = local.fleet.config_schemas
  scheduling_policies = local.fleet.scheduling_policies
  workloads           = local.fleet.workloads
  explain             = true
}
`)
	planned := r.Plan()["kalypso_environment_rendering.this"]
	if text := r.Printed.String(); !strings.Contains(text, "data.kalypso_assignments.this: Read complete") ||
		strings.Contains(text, "will be read during apply") {
		t.Errorf("the plan did not read the data source:\n%s", text)
	}
	r.ApplyPlan()
	r.ExpectEmptyPlan()
	values := r.State()["data.kalypso_assignments.this"]
	want, got := map[string][]string{}, map[string][]string{"small": {}}
	hashes := map[string]map[string]string{}
	acc.FromJSON(t, acc.ToJSON(t, planned.After["assignments"]), &hashes)
	for clusterType, targets := range hashes {
		want[clusterType] = slices.AppendSeq([]string{}, maps.Keys(targets))
		slices.Sort(want[clusterType])
	}
	for _, a := range assignmentsOf(t, values) {
		got[a.ClusterType] = append(got[a.ClusterType], a.Target)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("assignments (-planned +data source):\n%s", diff)
	}
	acc.ExpectYAML(t, "testdata/TestAccAssignments/quickstart.yaml", computedOf(values))
}

// More values than Terraform accepts are an error that says what to do.
func TestAccAssignmentsAreBounded(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
variable "targets" {
  type    = list(string)
  default = null
}

data "kalypso_assignments" "this" {
  environment         = "dev"
  cluster_types       = { large = { name = "large", reconciler = "t", namespace_service = "t", config_type = "t" } }
  templates           = { t = { name = "t", type = "reconciler", manifests = [""] } }
  configs             = { for c in ["a", "b"] : c => { name = c, data = { for i in range(600) : "K${i}" => "" } } }
  workloads = {
    app = { name = "app", deployment_targets = [for i in range(900) : { name = "t${i}", environment = "dev" }] }
  }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  explain             = true
  explain_targets     = var.targets
}
`})
	r.ExpectError([]string{"Values can't be shown", "more than 1000000 values",
		"set explain_targets to the deployment targets", "explain = true"}, "plan", "-no-color")
	r.Succeed("plan", "-no-color", "-var", `targets=["app-t1"]`)
}

// Any unknown argument defers the read until apply.
func TestAccAssignmentsUnknown(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
provider "kalypso" {
  git_credentials = [{ url = "https://github.com/acme", username = "me", password = terraform_data.region.output }]
}

resource "terraform_data" "region" {
  input = "west"
}

data "kalypso_assignments" "this" {
  for_each = {
    label = { labels = { region = terraform_data.region.output }, name = "large" }
    name  = { labels = { region = "west" }, name = terraform_data.region.output }
  }
  environment         = "dev"
  cluster_types = {
    one = { name = each.value.name, labels = each.value.labels, reconciler = "t", namespace_service = "t" }
  }
  templates           = { t = { name = "t", type = "reconciler", manifests = [""] } }
  workloads           = { hello = { name = "hello", deployment_targets = [{ name = "app", environment = "dev" }] } }
  scheduling_policies = {
    west = {
      name                       = "west"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_labels = { region = "west" } }
    }
  }
}

output "namespaces" {
  value = { for k, d in data.kalypso_assignments.this : k => [for a in d.assignments : a.namespace] }
}
`})
	out := r.Succeed("plan", "-no-color", "-out=plan")
	if got := strings.Count(out.Text(), "will be read during apply"); got != 2 {
		t.Errorf("%d reads are deferred:\n%s", got, out.Stdout)
	}
	r.ApplyPlan()
	r.ExpectEmptyPlan()
	if got := r.Succeed("output", "-json",
		"namespaces").Stdout; strings.TrimSpace(got) != `{"label":["dev-large-hello-app"],"name":["dev-west-hello-app"]}` {
		t.Errorf("namespaces: %s", got)
	}
}

var renderingHead = regexp.MustCompile(`(?m)^resource "kalypso_environment_rendering"`)

var argumentsOfRendering = regexp.MustCompile(`(?m)^ +(delivery|guardrails|promoted_commit) +=.*$`)

// The data source reports the problems of a fleet as a rendering does, at the same attributes. An error that only makes
// a rendering fail is a warning here.
func TestAccAssignmentsBadInput(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fleet", "manifests"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join("../rendering/testdata/TestAccBadInput", name)
			r := acc.NewRootFrom(t, folder)
			text := renderingHead.ReplaceAllString(acc.ReadFile(t, filepath.Join(folder, "main.tf")),
				`data "kalypso_assignments"`)
			text = strings.Replace(text, "= kalypso_template.failing", "= local.failing", 1)
			r.Write("main.tf", argumentsOfRendering.ReplaceAllString(text, ""))
			if name == "fleet" {
				r.Write("locals.tf", "locals {\n  failing = kalypso_template.failing\n}\n")
			}
			told := acc.Diagnostics(t, r.Terraform("plan", "-json").Stdout)
			warnings := 0
			var got []string
			for _, d := range strings.Split(told, "\n\n\n") {
				d = strings.NewReplacer("data.kalypso_assignments", "kalypso_environment_rendering", `data "kalypso_assignments"`,
					`resource "kalypso_environment_rendering"`,
					"local.failing", "kalypso_template.failing").
					Replace(d)
				const added = "\n\nA rendering of this fleet fails with this error. The schedule and the values here show " +
					"the cause."
				if strings.Contains(d, "\nwarning: ") && strings.Contains(d, added) {
					warnings++
					d = strings.Replace(strings.Replace(d, "\nwarning: ", "\nerror: ", 1), added, "", 1)
				}
				got = append(got, strings.TrimSpace(d))
			}
			var want []string
			for _, d := range strings.Split(acc.ReadFile(t, filepath.Join(folder, "diagnostics.txt")), "\n\n\n") {
				if !strings.Contains(d, ": guardrails = ") && !strings.Contains(d, ": promoted_commit = ") &&
					!strings.Contains(d, "error: Missing GitOps repo\n") {
					want = append(want, strings.TrimSpace(d))
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-rendering +data source):\n%s", diff)
			}
			if name == "fleet" && warnings == 0 {
				t.Error("no problem is a warning")
			}
		})
	}
}
