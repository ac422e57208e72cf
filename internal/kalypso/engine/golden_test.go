package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// build runs a fleet and returns its tree.
func build(ctx context.Context, f *fleet.Fleet) (*tree.Tree, fleet.Problems) {
	made, problems := engine.Run(ctx, f, engine.Options{})
	return made.Tree, problems
}

// goldenDir is the folder of the golden fleets that KALYPSO_GOLDEN names.
func goldenDir(t testing.TB) string {
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

type golden struct {
	fleet    *fleet.Fleet
	promoted string
	summary  struct {
		Environment string `json:"environment"`
		Assignments *[]struct {
			ClusterType      string `json:"clusterType"`
			DeploymentTarget string `json:"deploymentTarget"`
		} `json:"assignments"`
		AssignmentCount *int   `json:"assignment_count"`
		TreeSHA256      string `json:"tree_sha256"`
	}
}

// readGolden reads a golden fleet, with the Flux labels that its Workloads had in the operator's cluster.
func readGolden(t testing.TB, dir string) *golden {
	t.Helper()
	g := &golden{fleet: &fleet.Fleet{}}
	data, err := os.ReadFile(filepath.Join(dir, "expected", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &g.summary); err != nil {
		t.Fatal(err)
	}
	g.fleet.Environment = g.summary.Environment
	input := filepath.Join(dir, "input")
	err = filepath.WalkDir(input, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "gitops-existing" {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(input, path)
		if rel == "base-repo.yaml" {
			var base struct{ Spec struct{ Commit string } }
			if err := yaml.Unmarshal(text, &base); err != nil {
				return err
			}
			g.promoted = base.Spec.Commit
		}
		objects, _, problems := fleet.ParseYAML(fleet.Origin{Attribute: "manifests", Key: rel}, string(text))
		if err := problems.Err(); err != nil {
			return err
		}
		if parts := strings.Split(filepath.ToSlash(rel), "/"); parts[0] == "workloads" {
			for _, o := range objects {
				m := o.Metadata()
				if m.Labels == nil {
					m.Labels = map[string]string{}
				}
				m.Labels[fleet.FluxOwnerLabel] = g.fleet.Environment + "-" + parts[1]
				m.Labels[fleet.FluxNamespaceLabel] = "flux-system"
			}
		}
		g.fleet.Add(objects...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// files are the files of the tree with the promoted commit.
func (g *golden) files(built *tree.Tree) map[string]string {
	files := map[string]string{}
	if g.promoted != "" {
		files[tree.PromotedCommitFile] = g.promoted
	}
	for i, folder := range built.Folders {
		for f := range built.Files(i) {
			files[folder.ClusterType+"/"+f.Path] = string(f.Content)
		}
	}
	return files
}

func treeSHA256(files map[string]string) string {
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	h := sha256.New()
	for _, p := range paths {
		sum := sha256.Sum256([]byte(files[p]))
		h.Write([]byte(p + "\x00" + hex.EncodeToString(sum[:]) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func shuffle(f *fleet.Fleet, r *rand.Rand) {
	swap(r, f.ClusterTypes)
	swap(r, f.Templates)
	swap(r, f.Configs)
	swap(r, f.ConfigSchemas)
	swap(r, f.Policies)
	swap(r, f.Workloads)
	swap(r, f.Registrations)
	for _, w := range f.Workloads {
		swap(r, w.Targets)
	}
}

func swap[T any](r *rand.Rand, s []T) { r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] }) }

// TestGolden compares each golden fleet's tree with the recorded one, in the order of its input and shuffled.
func TestGolden(t *testing.T) {
	dir := goldenDir(t)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			if e.Name() == "large-100k" && testing.Short() {
				t.Skip("100,000 assignments are too many for -short")
			}
			fleetDir := filepath.Join(dir, e.Name())
			g := readGolden(t, fleetDir)
			checkGolden(t, g, filepath.Join(fleetDir, "expected", "tree"))
			if e.Name() == "large-100k" {
				return
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				g := readGolden(t, fleetDir)
				shuffle(g.fleet, r)
				checkGolden(t, g, filepath.Join(fleetDir, "expected", "tree"))
			}
		})
	}
}

func checkGolden(t *testing.T, g *golden, expected string) {
	t.Helper()
	built, problems := build(t.Context(), g.fleet)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if want := g.summary.Assignments; want != nil {
		var got []string
		for _, p := range built.Schedule.Placements {
			for _, a := range p.Assignments {
				got = append(got, p.ClusterType.Name+"/"+a.Target.Name)
			}
		}
		var wanted []string
		for _, a := range *want {
			wanted = append(wanted, a.ClusterType+"/"+a.DeploymentTarget)
		}
		if d := cmp.Diff(wanted, got); d != "" {
			t.Errorf("assignments (-want +got):\n%s", d)
		}
	}
	if want := g.summary.AssignmentCount; want != nil && *want != built.Schedule.Count {
		t.Errorf("%d assignments, want %d", built.Schedule.Count, *want)
	}
	files := g.files(built)
	if _, err := os.Stat(expected); err == nil {
		if d := cmp.Diff(readTree(t, expected), files); d != "" {
			t.Errorf("tree (-want +got):\n%s", d)
		}
	}
	if got := treeSHA256(files); got != g.summary.TreeSHA256 {
		t.Errorf("tree_sha256 is %s, want %s", got, g.summary.TreeSHA256)
	}
}

func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
