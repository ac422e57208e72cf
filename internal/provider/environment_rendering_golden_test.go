package provider_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

const (
	recordPath         = ".kalypso/rendering.json"
	promotedCommitPath = ".github/tracking/Promoted_Commit_Id"
)

// goldenDir is the folder of the golden fleets that KALYPSO_GOLDEN names.
func goldenDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KALYPSO_GOLDEN")
	if dir == "" {
		t.Skip("KALYPSO_GOLDEN names no folder of golden fleets")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("KALYPSO_GOLDEN: %v", err)
	}
	return dir
}

// goldenFleet is what a root module is told of a golden fleet, beside its documents.
type goldenFleet struct {
	Environment string  `json:"environment"`
	Promoted    *string `json:"promoted_commit"`
	Existing    bool    `json:"existing"` // the branch holds something before
	Preview     string  `json:"preview"`
}

// goldenSummary is expected/summary.json.
type goldenSummary struct {
	Environment string `json:"environment"`
	Assignments []struct {
		ClusterType      string `json:"clusterType"`
		DeploymentTarget string `json:"deploymentTarget"`
	} `json:"assignments"`
	AssignmentCount int    `json:"assignment_count"`
	TreeSHA256      string `json:"tree_sha256"`
}

func readSummary(t *testing.T, dir string) (s goldenSummary) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "expected", "summary.json"))), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// addGolden puts the documents of a golden fleet into the module, its Workloads with the labels that Flux gave them in
// the operator's cluster.
func (r *root) addGolden(dir string) (f goldenFleet) {
	r.t.Helper()
	f.Environment = readSummary(r.t, dir).Environment
	input := filepath.Join(dir, "input")
	for path, text := range readTree(r.t, input) {
		parts := strings.Split(path, "/")
		switch parts[0] {
		case "gitops-existing":
			f.Existing = true
			continue
		case "base-repo.yaml":
			var base struct{ Spec struct{ Commit *string } }
			if err := yaml.Unmarshal([]byte(text), &base); err != nil {
				r.t.Fatal(err)
			}
			f.Promoted = base.Spec.Commit
		case "workloads":
			text = labelDocuments(r.t, text, map[string]any{
				"kustomize.toolkit.fluxcd.io/name":      f.Environment + "-" + parts[1],
				"kustomize.toolkit.fluxcd.io/namespace": "flux-system",
			})
		}
		r.write(filepath.Join("fleets", filepath.Base(dir), path), text)
	}
	return f
}

// labelDocuments adds labels to every document.
func labelDocuments(t *testing.T, text string, labels map[string]any) string {
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
			maps.Copy(given, labels)
			metadata["labels"] = given
		}
		labelled, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(labelled))
	}
}

// readTree is every file of a folder: path → content.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = readFile(t, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// rendered is every file of a branch but our record.
func rendered(t *testing.T, repo, branch string) map[string]string {
	t.Helper()
	files := archive(t, repo, branch)
	delete(files, recordPath)
	return files
}

// TestAccGoldenFleets brings every small golden fleet to a branch of its own, and compares the branch to the byte.
func TestAccGoldenFleets(t *testing.T) {
	t.Parallel()
	golden := goldenDir(t)
	r := newRootFrom(t, "testdata/TestAccGoldenFleets")
	repo := gitserver.InitBare(t)
	r.write("terraform.tf", terraformBlock)
	r.env = append(r.env, "TF_VAR_repo="+repo)
	fleets, wanted := map[string]goldenFleet{}, map[string]map[string]string{}
	for _, dir := range glob(t, filepath.Join(golden, "*", "expected", "tree")) {
		dir = filepath.Dir(filepath.Dir(dir))
		name := filepath.Base(dir)
		f := r.addGolden(dir)
		f.Preview = "manifests"
		fleets[name], wanted[name] = f, readTree(t, filepath.Join(dir, "expected", "tree"))
		if f.Existing {
			existing := readTree(t, filepath.Join(dir, "input", "gitops-existing"))
			gitserver.Seed(t, repo, name, existing)
			for path, content := range existing {
				if _, ours := wanted[name][path[:strings.Index(path, "/")+1]+"README.md"]; !ours && path != promotedCommitPath {
					wanted[name][path] = content
				}
			}
		}
	}
	r.write("fleets.json", toJSON(t, fleets))
	r.apply()
	r.expectEmptyPlan()
	state := r.state()
	for name, files := range wanted {
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
		for _, a := range readSummary(t, filepath.Join(golden, name)).Assignments {
			assignments[a.ClusterType] = append(as[[]any](assignments[a.ClusterType]), a.DeploymentTarget)
		}
		if diff := cmp.Diff(assignments, state[address]["assignments"]); diff != "" {
			t.Errorf("%s: assignments (-expected +state):\n%s", name, diff)
		}
	}
}

// TestAccGoldenLarge brings a fleet of 10,000 assignments to its branch.
func TestAccGoldenLarge(t *testing.T) {
	dir := filepath.Join(goldenDir(t), "large-10k")
	r := newRootFrom(t, "testdata/TestAccGoldenFleets")
	repo := gitserver.InitBare(t)
	r.write("terraform.tf", terraformBlock)
	r.env = append(r.env, "TF_VAR_repo="+repo)
	f := r.addGolden(dir)
	f.Preview = "none"
	r.write("fleets.json", toJSON(t, map[string]goldenFleet{"large-10k": f}))
	r.apply()
	r.expectEmptyPlan()
	summary := readSummary(t, dir)
	state := r.state()[`kalypso_environment_rendering.golden["large-10k"]`]
	if got, want := state["assignment_count"], float64(summary.AssignmentCount); got != want {
		t.Errorf("assignment_count is %v, want %v", got, want)
	}
	if got := treeSHA256(rendered(t, repo, "large-10k")); got != summary.TreeSHA256 {
		t.Errorf("tree_sha256 is %s, want %s", got, summary.TreeSHA256)
	}
}

func treeSHA256(files map[string]string) string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[path]))
		h.Write([]byte(path + "\x00" + hex.EncodeToString(sum[:]) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestAccSample renders the real control plane's environment dev, its Workload documents with a workspace.
func TestAccSample(t *testing.T) {
	t.Parallel()
	golden := goldenDir(t)
	samples := filepath.Join(golden, "..", "samples")
	input := filepath.Join(golden, "sample-dev", "input")
	additions := map[string]string{}
	for _, f := range []string{"base/workloads/hello-world-app.yaml", "scheduling/application-clusters/functional-test-policy.yaml"} {
		additions[f] = readFile(t, filepath.Join(input, f))
	}
	r := newRootFrom(t, "testdata/TestAccSample")
	repo := gitserver.InitBare(t)
	r.write("terraform.tf", terraformBlock)
	r.write("terraform.tfvars.json", toJSON(t, map[string]any{"repo": "file://" + repo, "samples": samples, "additions": additions}))
	r.apply()
	r.expectEmptyPlan()
	if diff := cmp.Diff(readTree(t, filepath.Join(golden, "sample-dev", "expected", "tree")), rendered(t, repo, "dev")); diff != "" {
		t.Errorf("dev (-expected +branch):\n%s", diff)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("nothing matches %s: %v", pattern, err)
	}
	return all
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
