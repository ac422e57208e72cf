package provider_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

// samples is the folder with the repos of Kalypso's samples: the control plane, its GitOps repo and two of
// applications, a folder a branch.
const samples = "testdata/samples"

// recordPath is the path of the record, below the path of a rendering.
const recordPath = ".kalypso/rendering.json"

// promotedCommitPath is the path of the file with the promoted commit.
const promotedCommitPath = ".github/tracking/Promoted_Commit_Id"

// goldenFleet contains the inputs of a root module for a golden fleet, besides its documents.
type goldenFleet struct {
	Environment string `json:"environment"`
	Promoted    string `json:"promoted_commit"` // empty: none
	Existing    bool   `json:"existing"`        // the branch contains files before the apply
	Preview     string `json:"preview"`
}

// addGolden puts the documents of a golden fleet into a module, its Workloads with the labels that Flux gave them in
// the operator's cluster.
func addGolden(g *golden.Fleet, r *root) goldenFleet {
	r.t.Helper()
	promoted, err := g.Promoted()
	if err != nil {
		r.t.Fatal(err)
	}
	for path, text := range g.Objects {
		if labels := g.FluxLabels(path); labels != nil {
			text = labelDocuments(r.t, text, labels)
		}
		r.write(filepath.Join("fleets", g.Name, path), text)
	}
	return goldenFleet{Environment: g.Summary.Environment, Promoted: promoted, Existing: len(g.Existing) > 0}
}

// labelDocuments adds labels to every document.
func labelDocuments(t *testing.T, text string, labels map[string]string) string {
	t.Helper()
	var all []string
	for documents := yamlreader.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
		data, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, "---\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]any
		if err := yaml.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		if metadata, ok := document["metadata"].(map[string]any); ok {
			given, ok := metadata["labels"].(map[string]any)
			if !ok {
				given = map[string]any{}
			}
			for label, value := range labels {
				given[label] = value
			}
			metadata["labels"] = given
		}
		labelled, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(labelled))
	}
}

// readTree returns every file of a folder: path → content.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := golden.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// rendered returns every file of a branch except our record.
func rendered(t *testing.T, repo, branch string) map[string]string {
	t.Helper()
	files := archive(t, repo, branch)
	delete(files, recordPath)
	return files
}

// keepOthers adds the foreign files of a branch to the expected ones.
func keepOthers(existing, wanted map[string]string) {
	for path, content := range existing {
		if _, ours := wanted[path[:strings.Index(path, "/")+1]+"README.md"]; !ours && path != promotedCommitPath {
			wanted[path] = content
		}
	}
}

// TestAccGoldenFleets delivers every small golden fleet to a branch of its own, and compares the branch byte by byte.
func TestAccGoldenFleets(t *testing.T) {
	t.Parallel()
	r := newRootFrom(t, "testdata/TestAccGoldenFleets")
	repo := gitserver.InitBare(t)
	r.write("terraform.tf", terraformBlock)
	r.env = append(r.env, "TF_VAR_repo="+repo)
	fleets, wanted := map[string]goldenFleet{}, map[string]map[string]string{}
	all := golden.WithTree(t)
	for _, g := range all {
		f := addGolden(g, r)
		f.Preview = "manifests"
		fleets[g.Name], wanted[g.Name] = f, g.Tree
		if f.Existing {
			gitserver.Seed(t, repo, g.Name, g.Existing)
			keepOthers(g.Existing, g.Tree)
		}
	}
	r.write("fleets.json", toJSON(t, fleets))
	r.apply()
	r.expectEmptyPlan()
	state := r.state()
	for _, g := range all {
		name, files := g.Name, wanted[g.Name]
		address := `kalypso_environment_rendering.golden["` + name + `"]`
		if diff := cmp.Diff(files, rendered(t, repo, name)); diff != "" {
			t.Errorf("%s (-expected +branch):\n%s", name, diff)
		}
		assignments := map[string]any{}
		for path := range files {
			if clusterType, ok := strings.CutSuffix(path, "/README.md"); ok {
				assignments[clusterType] = []any{}
			}
		}
		for _, a := range *g.Summary.Assignments {
			assignments[a.ClusterType] = append(as[[]any](assignments[a.ClusterType]), a.DeploymentTarget)
		}
		if diff := cmp.Diff(assignments, placed(state[address]["assignments"])); diff != "" {
			t.Errorf("%s: assignments (-expected +state):\n%s", name, diff)
		}
	}
}

// TestAccGoldenLarge delivers a fleet of 10,000 assignments.
func TestAccGoldenLarge(t *testing.T) {
	g := golden.Named(t, "large-10k")
	r := newRootFrom(t, "testdata/TestAccGoldenFleets")
	repo := gitserver.InitBare(t)
	r.write("terraform.tf", terraformBlock)
	r.env = append(r.env, "TF_VAR_repo="+repo)
	f := addGolden(g, r)
	f.Preview = "none"
	r.write("fleets.json", toJSON(t, map[string]goldenFleet{g.Name: f}))
	r.apply()
	r.expectEmptyPlan()
	state := r.state()[`kalypso_environment_rendering.golden["large-10k"]`]
	if got, want := state["assignment_count"], float64(*g.Summary.AssignmentCount); got != want {
		t.Errorf("assignment_count is %v, want %v", got, want)
	}
	if got := golden.SHA256(rendered(t, repo, g.Name)); got != g.Summary.TreeSHA256 {
		t.Errorf("tree_sha256 is %s, want %s", got, g.Summary.TreeSHA256)
	}
}

// TestAccSample renders the real control plane's environment dev, its Workload documents with a workspace.
func TestAccSample(t *testing.T) {
	t.Parallel()
	sample := golden.Named(t, "sample-dev")
	additions := map[string]string{}
	for _, f := range []string{"base/workloads/hello-world-app.yaml",
		"scheduling/application-clusters/functional-test-policy.yaml"} {
		additions[f] = sample.Objects[f]
	}
	folder, err := filepath.Abs(samples)
	if err != nil {
		t.Fatal(err)
	}
	r := newRootFrom(t, "testdata/TestAccSample")
	repo := gitserver.InitBare(t)
	r.write("terraform.tf", terraformBlock)
	r.write("terraform.tfvars.json", toJSON(t, map[string]any{"repo": "file://" + repo, "samples": folder,
		"additions": additions}))
	r.apply()
	r.expectEmptyPlan()
	if diff := cmp.Diff(sample.Tree, rendered(t, repo, "dev")); diff != "" {
		t.Errorf("dev (-expected +branch):\n%s", diff)
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
