package source_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestWorkloadsLastGood: a broken registration is read at its last delivered commit, if the record names a single
// commit at which it works.
func TestWorkloadsLastGood(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	good := map[string]string{}
	for _, name := range []string{"shop", "never", "split", "pinned", "still"} {
		good[name] = s.commit(
			name,
			"main",
			map[string]string{"w/w.yaml": workload(name), "w/in/w.yaml": workload(name + "-in")},
		)
		s.commit(name, "main", map[string]string{"w/w.yaml": "{"})
	}
	bad := gitserver.Rev(t, s.dir("still"), "main")
	from := func(name, commit, path string) origin.Origin {
		return origin.Origin{Repo: strings.TrimSuffix(s.url(name), ".git"), Commit: commit, Path: path, Name: "any"}
	}
	asked := 0
	follow := source.FollowOptions{
		Pins: map[string]string{"pinned": gitserver.Rev(t, s.dir("pinned"), "main")},
		LastGood: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
			asked++
			return []origin.Origin{
				from(
					"shop",
					good["shop"],
					"w/w.yaml",
				),
				from("shop", strings.Repeat("2", 40), "w/in/w.yaml"),
				from("shop", strings.Repeat("3", 40), "elsewhere/w.yaml"),
				from("split", good["split"], "w/w.yaml"),
				from("split", bad, "w/other.yaml"),
				from("pinned", good["pinned"], "w/w.yaml"),
				from("still", bad, "w/w.yaml"),
			}, nil
		},
	}
	nearer := s.registration("shop", "main", "w/in")
	nearer.Name = "nearer"
	var registrations []*fleet.WorkloadRegistration
	for name := range good {
		registrations = append(registrations, s.registration(name, "main", "w"))
	}
	follow.Pins["nearer"] = s.commit("shop", "aside", map[string]string{"w/in/w.yaml": workload("pinned-in")})
	got := reader(t).Workloads(t.Context(), append(registrations, nearer), follow)
	wants(t, got.Problems, []string{
		"error never w/w.yaml:1 Invalid YAML", "error pinned w/w.yaml:1 Invalid YAML", "error split w/w.yaml:1 Invalid YAML",
		"error still w/w.yaml:1 Invalid YAML", "warning shop w/w.yaml:1 Invalid YAML",
	}, "The last delivered commit "+good["shop"], "there is no last good commit", "from several commits", "is broken too")
	if got.WorkloadCommits["shop"] != good["shop"] || len(got.WorkloadCommits) != 2 || asked != 1 {
		t.Errorf("commits are %v, the record was read %d times", got.WorkloadCommits, asked)
	}

	failing := source.FollowOptions{
		LastGood: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
			return nil, errors.New("no record")
		},
	}
	wants(t, reader(t).Workloads(t.Context(), registrations[:1], failing).Problems,
		[]string{"error " + registrations[0].Name + " w/w.yaml:1 Invalid YAML"}, "No record.")
}

// TestWorkloadsLastGoodOfBranches: two registrations read the same folder on two branches. The names of their Workloads
// show which delivered commit belongs to which registration. If the names do not show this, no commit is guessed.
func TestWorkloadsLastGoodOfBranches(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	stable := s.commit("shop", "main", map[string]string{"w/w.yaml": workload("shop")})
	canary := s.commit("shop", "canary", map[string]string{"w/w.yaml": workload("shop-canary")})
	s.commit("shop", "canary", map[string]string{"w/w.yaml": "{"})
	registrations := []*fleet.WorkloadRegistration{
		s.registration("shop", "main", "w"),
		s.registration("shop", "canary", "./w"),
	}
	registrations[1].Name = "canary"
	read := func(delivered ...string) *source.ControlPlane {
		return reader(t).Workloads(t.Context(),
			registrations,
			source.FollowOptions{LastGood: func(context.Context, *source.GitOpsRepo) (all []origin.Origin, err error) {
				for _, text := range delivered {
					commit, name, _ := strings.Cut(text, "#")
					all = append(all, origin.Origin{Repo: s.url("shop"), Commit: commit, Path: "w/w.yaml", Name: name})
				}
				return all, nil
			}},
		)
	}
	got := read(stable+"#shop", canary+"#shop-canary")
	wants(t, got.Problems, []string{"warning canary w/w.yaml:1 Invalid YAML"}, "delivered commit "+canary)
	if diff := cmp.Diff([]string{"shop", "shop-canary"}, got.Names[fleet.KindWorkload]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	wants(t, read(stable+"#shop").Problems, []string{"error canary w/w.yaml:1 Invalid YAML"},
		"No commit of this registration was delivered before")
	wants(t, read(stable+"#shop-before").Problems, []string{"error canary w/w.yaml:1 Invalid YAML"}, `Registration `+
		`"shop" reads the same folder`, stable, "in pins")
	s.commit("shop", "main", map[string]string{"w/w.yaml": "["})
	wants(t,
		read(stable+"#shop", canary+"#shop-canary").Problems,
		[]string{
			"error canary w/w.yaml:1 Invalid YAML",
			"error shop w/w.yaml:1 Invalid YAML",
		},
		"can't be determined",
		stable,
		canary,
	)
}

// TestWorkloadsLastGoodOfNames: a team gives its Workload the name of another team's Workload. If the other team's
// Workload was delivered, only the first team's registration is broken, even if it is new. If it is not known which of
// the two was delivered, both registrations are broken.
func TestWorkloadsLastGoodOfNames(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	good := map[string]string{}
	var origins []origin.Origin
	var registrations []*fleet.WorkloadRegistration
	for _, name := range []string{"a-taker", "owner"} {
		good[name] = s.commit(name, "main", map[string]string{"w/w.yaml": workload(name)})
		origins = append(origins, origin.Origin{Repo: s.url(name), Commit: good[name], Path: "w/w.yaml", Name: name})
		registrations = append(registrations, s.registration(name, "main", "w"))
	}
	taken := s.commit("a-taker", "main", map[string]string{"w/more.yaml": workload("owner")})
	moved := s.commit("owner", "main", map[string]string{"README.md": "moved"})
	read := func(follow source.FollowOptions) *source.ControlPlane {
		return reader(t).Workloads(t.Context(), registrations, follow)
	}

	both := []string{"error a-taker w/more.yaml:1 Duplicate workload", "error owner w/w.yaml:1 Duplicate workload"}
	wants(t, read(source.FollowOptions{}).Problems, both, `through registration "a-taker"`,
		`through registration "owner"`, `registrations "owner" and "a-taker" delivered it, so either may be wrong`)
	got := read(source.FollowOptions{LastGood: delivered(origins)})
	wants(t,
		got.Problems,
		[]string{"warning a-taker w/more.yaml:1 Duplicate workload"},
		`through registration "owner"`,
		"delivered commit "+good["a-taker"],
	)
	if diff := cmp.Diff(map[string]string{"a-taker": good["a-taker"], "owner": moved}, got.WorkloadCommits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got = read(
		source.FollowOptions{
			Pins:     map[string]string{"a-taker": taken},
			LastGood: delivered(origins),
		},
	)
	wants(t, got.Problems, both[:1])
	got = read(source.FollowOptions{LastGood: delivered(origins[1:])})
	wants(t, got.Problems, both[:1], "The last delivery contains that one", "there is no last good commit")
	got = read(source.FollowOptions{LastGood: delivered(origins[:1])})
	wants(t, got.Problems, []string{"warning a-taker w/more.yaml:1 Duplicate workload"})
	got = read(source.FollowOptions{LastGood: delivered(nil)})
	wants(t, got.Problems, both)

	s.commit("owner", "main", map[string]string{"w/w.yaml": "{"})
	got = read(source.FollowOptions{LastGood: delivered(origins)})
	wants(t, got.Problems, []string{
		"warning a-taker w/more.yaml:1 Duplicate workload", "warning owner w/w.yaml:1 Invalid YAML",
	})
	if diff := cmp.Diff(good, got.WorkloadCommits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func delivered(origins []origin.Origin) source.OriginsFunc {
	return func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) { return origins, nil }
}

// TestLastGoodTellsError: if the last delivered commit is broken too, the problem tells its error, and no warning.
func TestLastGoodTellsError(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	at := s.commit("shop", "main", map[string]string{"w/w.yaml": "{", "w/kustomization.yaml": "resources: [w.yaml]"})
	got := reader(t).Workloads(t.Context(), []*fleet.WorkloadRegistration{s.registration("shop", "main", "w")},
		source.FollowOptions{LastGood: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
			return []origin.Origin{{Repo: s.url("shop"), Commit: at, Path: "w/w.yaml"}}, nil
		}})
	wants(t, got.Problems, []string{"error shop w/w.yaml:1 Invalid YAML", "warning shop Kustomizations skipped"},
		"The last delivered commit "+at+" is broken too: Document 1 (line 1) can't be read")
}
