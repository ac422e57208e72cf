package source_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// hostile are folders that a team can push to make a plan hang, to fill its memory, or to write elsewhere. Each is
// written into a repo, and comes with words of its problem.
var hostile = map[string]struct {
	write   func(t *testing.T, repo string) (tree string)
	summary string
	words   string
}{
	"empty folders": {func(t *testing.T, repo string) string {
		t.Helper()
		tree := gitserver.WriteTree(t, repo)
		return double(t, repo, tree, 60)
	}, "Folder too large", "more than 1000000"},
	"files": {func(t *testing.T, repo string) string {
		t.Helper()
		return gitserver.Bomb(t, repo, 60, "w.yaml", workload("bomb"))
	}, "Folder too large", "more than 1000000"},
	"many copies of a small file": {func(t *testing.T, repo string) string {
		t.Helper()
		return gitserver.Bomb(t, repo, 17, "w.yaml", workload("bomb"))
	}, "Folder too large", "131073 YAML files"},
	"copies of a large file": {func(t *testing.T, repo string) string {
		t.Helper()
		return gitserver.Bomb(t, repo, 10, "w.yaml", "#"+strings.Repeat(" ", 8<<20))
	}, "Folder too large", "at most 268435456 are read"},
	"copies of an ignore file": {func(t *testing.T, repo string) string {
		t.Helper()
		large := gitserver.WriteBlob(t, repo, strings.Repeat("*a*b*c*d\n", 1<<19))
		tree := gitserver.WriteTree(t, repo,
			gitserver.TreeEntry{Mode: "100644", Name: ".sourceignore", Hash: large},
			gitserver.TreeEntry{Mode: "100644", Name: "w.yaml", Hash: gitserver.WriteBlob(t, repo, workload("bomb"))})
		return double(t, repo, tree, 12)
	}, "Folder too large", "too many patterns"},
	"a name outside": {func(t *testing.T, repo string) string {
		t.Helper()
		return gitserver.WriteTree(t, repo, gitserver.TreeEntry{
			Mode: "40000", Name: "..", Hash: gitserver.Bomb(t, repo, 1, "w.yaml", workload("bomb")),
		})
	}, "Corrupt tree in the repo", `refuses the name ".."`},
}

// double returns a tree with 2^levels paths to another one.
func double(t *testing.T, repo, tree string, levels int) string {
	t.Helper()
	for range levels {
		tree = gitserver.WriteTree(t, repo, gitserver.TreeEntry{Mode: "40000", Name: "a", Hash: tree},
			gitserver.TreeEntry{Mode: "40000", Name: "b", Hash: tree})
	}
	return tree
}

// TestHostileFolder: such a folder is the fault of its registration alone, also if another team shares the repo. It is
// found soon and in bounded memory. The last good commit is read instead.
func TestHostileFolder(t *testing.T) {
	for name, tt := range hostile {
		t.Run(name, func(t *testing.T) {
			s := serve(t, gitserver.WithFilter())
			good := s.commit("shop", "main", map[string]string{"w/w.yaml": workload("shop"), "other/w.yaml": workload("other")})
			bad := gitserver.SetTree(t, s.dir("shop"), "main", "w/hostile", tt.write(t, s.dir("shop")))
			other := s.registration("shop", "main", "other")
			other.Name = "other"
			registrations := []*fleet.WorkloadRegistration{s.registration("shop", "main", "w"), other}
			follow := source.FollowOptions{LastGood: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
				return []origin.Origin{{Repo: s.url("shop"), Commit: good, Path: "w/w.yaml", Name: "shop"}}, nil
			}}
			for _, lastGood := range []bool{false, true} {
				var got *source.ControlPlane
				start := time.Now()
				peak := memory.Peak(func() {
					if !lastGood {
						got = reader(t).Workloads(t.Context(), registrations, source.FollowOptions{})
						return
					}
					got = reader(t).Workloads(t.Context(), registrations, follow)
				})
				if took := time.Since(start); took > time.Minute || peak > 700<<20 {
					t.Errorf("it took %s and %d MiB", took, peak>>20)
				}
				severity, commits := "error", map[string]string{"other": bad}
				if lastGood {
					severity, commits["shop"] = "warning", good
				}
				wants(t, got.Problems, []string{severity + " shop " + tt.summary}, tt.words, s.url("shop"), bad, "w")
				if fmt.Sprint(got.WorkloadCommits) != fmt.Sprint(commits) {
					t.Errorf("read %v, want %v", got.WorkloadCommits, commits)
				}
			}
		})
	}
}

// TestHostileControlPlane: a control plane with such a folder is an error too.
func TestHostileControlPlane(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	for _, name := range []string{"files", "a name outside"} {
		tt := hostile[name]
		s.commit(name[:1], "main", map[string]string{"w.yaml": workload("shop")})
		gitserver.SetTree(t, s.dir(name[:1]), "main", "hostile", tt.write(t, s.dir(name[:1])))
		got := reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
			Location: source.Location{Repo: s.url(name[:1]), Branch: "main", Path: "."},
		})
		wants(t, got.Problems, []string{"error " + tt.summary}, tt.words)
	}
}

// TestManyLinks: a warning about skipped paths lists the first ones.
func TestManyLinks(t *testing.T) {
	s := serve(t)
	s.commit("shop", "main", map[string]string{"w/w.yaml": workload("shop")})
	links := map[string]gitserver.File{}
	for i := range 1000 {
		links[fmt.Sprintf("w/link%04d", i)] = gitserver.File{Mode: "120000", Content: "w.yaml"}
	}
	gitserver.SeedFiles(t, s.dir("shop"), "main", "links", links)
	got := reader(t).Workloads(t.Context(), []*fleet.WorkloadRegistration{s.registration("shop", "main", "w")},
		source.FollowOptions{})
	wants(t, got.Problems, []string{"warning shop Symbolic links skipped"}, "w/link0019, and 980 more")
}
