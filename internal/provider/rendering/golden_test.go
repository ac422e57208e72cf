package rendering_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccGoldenFleets delivers every small golden fleet to a branch of its own, and compares the branch byte by byte.
func TestAccGoldenFleets(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccGoldenFleets")
	repo := gitserver.InitBare(t)
	r.Env = append(r.Env, "TF_VAR_repo="+repo)
	fleets, wanted := map[string]acc.GoldenFleet{}, map[string]map[string]string{}
	all := golden.WithTree(t)
	for _, g := range all {
		f := acc.AddGolden(g, r)
		f.Preview = "manifests"
		fleets[g.Name], wanted[g.Name] = f, g.Tree
		if f.Existing {
			gitserver.Seed(t, repo, g.Name, g.Existing)
			acc.KeepForeign(g.Existing, g.Tree)
		}
	}
	r.Write("fleets.json", acc.ToJSON(t, fleets))
	r.Apply()
	r.ExpectEmptyPlan()
	state := r.State()
	for _, g := range all {
		name, files := g.Name, wanted[g.Name]
		address := `kalypso_environment_rendering.golden["` + name + `"]`
		if diff := cmp.Diff(files, acc.RenderedFiles(t, repo, name)); diff != "" {
			t.Errorf("%s (-expected +branch):\n%s", name, diff)
		}
		assignments := map[string]any{}
		for path := range files {
			if clusterType, ok := strings.CutSuffix(path, "/README.md"); ok {
				assignments[clusterType] = []any{}
			}
		}
		for _, a := range *g.Summary.Assignments {
			assignments[a.ClusterType] = append(acc.As[[]any](assignments[a.ClusterType]), a.DeploymentTarget)
		}
		if diff := cmp.Diff(assignments, placed(state[address]["assignments"])); diff != "" {
			t.Errorf("%s: assignments (-expected +state):\n%s", name, diff)
		}
	}
}

// TestAccGoldenLarge delivers a fleet of 10,000 assignments.
func TestAccGoldenLarge(t *testing.T) {
	g := golden.Named(t, "large-10k")
	r := acc.NewRootFrom(t, "testdata/TestAccGoldenFleets")
	repo := gitserver.InitBare(t)
	r.Env = append(r.Env, "TF_VAR_repo="+repo)
	f := acc.AddGolden(g, r)
	f.Preview = "none"
	r.Write("fleets.json", acc.ToJSON(t, map[string]acc.GoldenFleet{g.Name: f}))
	r.Apply()
	r.ExpectEmptyPlan()
	state := r.State()[`kalypso_environment_rendering.golden["large-10k"]`]
	if got, want := state["assignment_count"], float64(*g.Summary.AssignmentCount); got != want {
		t.Errorf("assignment_count is %v, want %v", got, want)
	}
	if got := golden.SHA256(acc.RenderedFiles(t, repo, g.Name)); got != g.Summary.TreeSHA256 {
		t.Errorf("tree_sha256 is %s, want %s", got, g.Summary.TreeSHA256)
	}
}

// TestAccSample renders the environment dev of the real control plane, with a workspace in its Workload documents.
func TestAccSample(t *testing.T) {
	t.Parallel()
	sample := golden.Named(t, "sample-dev")
	additions := map[string]string{}
	for _, f := range []string{"base/workloads/hello-world-app.yaml",
		"scheduling/application-clusters/functional-test-policy.yaml"} {
		additions[f] = sample.Objects[f]
	}
	folder, err := filepath.Abs(acc.Samples)
	if err != nil {
		t.Fatal(err)
	}
	r := acc.NewRootFrom(t, "testdata/TestAccSample")
	repo := gitserver.InitBare(t)
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"repo": "file://" + repo, "samples": folder,
		"additions": additions}))
	r.Apply()
	r.ExpectEmptyPlan()
	if diff := cmp.Diff(sample.Tree, acc.RenderedFiles(t, repo, "dev")); diff != "" {
		t.Errorf("dev (-expected +branch):\n%s", diff)
	}
}
