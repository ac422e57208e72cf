package engine_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

// build runs the engine on a fleet and returns the tree.
func build(ctx context.Context, f *fleet.Fleet) (*tree.Tree, problem.Problems) {
	made, problems := engine.Run(ctx, f, engine.Options{})
	return made.Tree, problems
}

// goldenFiles returns the files of the tree, with the promoted commit.
func goldenFiles(built *tree.Tree, promoted string) map[string]string {
	files := map[string]string{}
	if promoted != "" {
		files[record.PromotedCommitFile] = promoted
	}
	for i, folder := range built.Folders {
		for f := range built.Files(i) {
			files[folder.ClusterType+"/"+f.Path] = string(f.Content)
		}
	}
	return files
}

func objectsOf(t testing.TB, g *golden.Fleet) *fleet.Fleet {
	t.Helper()
	f, err := g.Read()
	if err != nil {
		t.Fatal(err)
	}
	return f
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
	for _, g := range golden.All(t) {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			if g.Name == "large-100k" {
				slow.Skip(t)
			}
			f := objectsOf(t, g)
			checkGolden(t, g, f, engine.Options{})
			if g.Name == "large-100k" {
				return
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				shuffle(f, r)
				checkGolden(t, g, f, engine.Options{})
			}
		})
	}
}

// TestGoldenWithRequirements: requirements do not change the trees of the golden fleets, whose templates come from the
// operator and don't read them.
func TestGoldenWithRequirements(t *testing.T) {
	t.Parallel()
	for _, g := range golden.WithTree(t) {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			f := objectsOf(t, g)
			requires := []fleet.Requirement{{MatchLabels: map[string]string{"missing": "yes"}}}
			for _, w := range f.Workloads {
				for i := range w.Targets {
					w.Targets[i].Requires = requires
				}
				requires = append(requires[:1:1], fleet.Requirement{Workload: w.Name})
			}
			checkGolden(t, g, f, engine.Options{Requires: problem.Warn})
		})
	}
}

func checkGolden(t *testing.T, g *golden.Fleet, f *fleet.Fleet, o engine.Options) {
	t.Helper()
	made, problems := engine.Run(t.Context(), f, o)
	built := made.Tree
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if want := g.Summary.Assignments; want != nil {
		var got []golden.Assignment
		for _, p := range built.Schedule.Placements {
			for _, a := range p.Assignments {
				got = append(got, golden.Assignment{ClusterType: p.ClusterType.Name, DeploymentTarget: a.Target.Name})
			}
		}
		if d := cmp.Diff(*want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("assignments (-want +got):\n%s", d)
		}
	}
	if want := g.Summary.AssignmentCount; want != nil && *want != built.Schedule.AssignmentCount {
		t.Errorf("%d assignments, want %d", built.Schedule.AssignmentCount, *want)
	}
	files := goldenFiles(built, g.Promoted())
	if len(g.Tree) > 0 {
		if d := cmp.Diff(g.Tree, files); d != "" {
			t.Errorf("tree (-want +got):\n%s", d)
		}
	}
	if got := golden.SHA256(files); got != g.Summary.TreeSHA256 {
		t.Errorf("tree_sha256 is %s, want %s", got, g.Summary.TreeSHA256)
	}
}
