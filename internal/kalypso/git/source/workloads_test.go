package source_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestWorkloads: the workspace of a Workload is the workspace of its registration. A label of the team does not change
// it.
func TestWorkloads(t *testing.T) {
	s := serve(t, gitserver.WithBasic("me", "secret"), gitserver.WithFilter())
	first := s.commit("shop", "main", map[string]string{
		"deploy/shop.yaml": workload("shop", "workspace: team-other", "family: force",
			"kustomize.toolkit.fluxcd.io/name: dev-other", "kustomize.toolkit.fluxcd.io/namespace: flux-system"),
		"deploy/more/two.yml": workload("one") + "---\n" + workload("two"),
		"other/workload.yaml": workload("elsewhere"),
		".sourceignore":       "/deploy/draft*\n", // applies to subfolders, too
		"deploy/draft.yaml":   "{",
	})
	head := s.commit("shop", "main", map[string]string{"README.md": "later"})
	none := s.registration("shop", "main", "./deploy/")
	none.Workspace = ""
	r := reader(t, gitremote.Credential{URL: s.URL, Username: "me", Password: "secret"})

	got := r.Workloads(
		t.Context(),
		[]*fleet.WorkloadRegistration{s.registration("shop", "main", "deploy")},
		source.FollowOptions{},
	)
	wants(t,
		got.Problems,
		[]string{"warning shop deploy/shop.yaml:1 Workspace claimed"},
		`"team-other"`,
		`"team-shop"`,
		"Commit: "+head,
		"Repo: "+s.url("shop"),
	)
	labels := func(extra string) string { return extra + "    workspace: team-shop\n" }
	text := func(name, labels string) string {
		if labels != "" {
			labels = "  labels:\n" + labels
		}
		return "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata:\n" + labels + "  name: " + name +
			"\nspec:\n  deploymentTargets:\n  - environment: dev\n    name: test\n"
	}
	key := func(at string) string { return s.url("shop") + "@main:deploy/" + at }
	want := map[string]string{
		key("shop.yaml#shop"):   text("shop", labels("    family: force\n")),
		key("more/two.yml#one"): text("one", labels("")),
		key("more/two.yml#two"): text("two", labels("")),
	}
	if diff := cmp.Diff(want, got.Manifests); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"shop": head}, got.WorkloadCommits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(origin.Sources{s.url("shop") + "@main:deploy": head}, got.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	for k := range got.Manifests {
		if o, ok := origin.Parse(k); !ok || o.String() != k {
			t.Errorf("%s is read as %v, %v", k, o, ok)
		}
	}

	pinned := r.Workloads(
		t.Context(),
		[]*fleet.WorkloadRegistration{none},
		source.FollowOptions{Pins: map[string]string{"shop": first}},
	)
	if got := pinned.Manifests[key("shop.yaml#shop")]; got != text("shop", "    family: force\n") {
		t.Errorf("pinned registration without a workspace: %v", pinned)
	}
}

// TestWorkloadsBroken: all problems of registrations are reported together. Each names its registration, repo, commit,
// file and line.
func TestWorkloadsBroken(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	good := workload("good")
	commit := s.commit("good", "main", map[string]string{"w/w.yaml": good})
	s.commit("empty", "main", map[string]string{"w/readme.md": "", "w/config.yaml": "kind: Other\n"})
	s.commit("twice", "main", map[string]string{"w/a.yaml": workload("same"), "w/b.yaml": "\n---\n" + workload("same")})
	broken := s.commit(
		"broken",
		"main",
		map[string]string{"w/a.yaml": workload("fine") + "---\nkind: [\n", "w/b.yaml": "a: b: c\n"},
	)
	s.commit(
		"invalid",
		"main",
		map[string]string{"w/a.yaml": strings.Replace(workload("x"), "environment: dev", "labels: {a: b c}", 1)},
	)
	s.commit(
		"foreign",
		"main",
		map[string]string{"w/a.yaml": document("SchedulingPolicy", "mine", "{}") + "---\n" + workload("tenant")},
	)
	s.commit("same-again", "main", map[string]string{"w/a.yaml": good})
	gitserver.SeedFiles(t, s.dir("linked"), "main", "Links", map[string]gitserver.File{
		"w/out.yaml": {Mode: "120000", Content: "../../../etc/passwd"}, "elsewhere": {Mode: "120000", Content: "/etc"},
		"w/module": {Mode: "160000", Content: commit},
	})
	s.commit("bad-schema", "main", map[string]string{"w/a.yaml": strings.Replace(workload("odd"), "environment: dev",
		"environment: dev, configSchemas: ['{\"type\": 1}']", 1)})
	registrations := []*fleet.WorkloadRegistration{
		s.registration("bad-schema", "main", "w"),
		s.registration(
			"same-again",
			"main",
			"w",
		),
		s.registration("foreign", "main", "w"),
		s.registration("good", "main", "w"),
		s.registration("empty", "main", "w"),
		s.registration("twice", "main", "w"),
		s.registration("broken", "main", "w"),
		s.registration("invalid", "main", "w"),
		s.registration("linked", "main", "w"),
	}
	at := func(name, of, branch, path string) {
		r := s.registration(of, branch, path)
		r.Name = name
		registrations = append(registrations, r)
	}
	at("no-branch", "good", "nowhere", "w")
	at("no-path", "good", "main", "nowhere/at/all")
	at("no-repo", "nothing", "main", "w")
	at("a-file", "good", "main", "w/w.yaml")
	at("a-link", "linked", "main", "elsewhere")
	at("a-module", "linked", "main", "w/module")
	at("climbs", "good", "main", "../w")
	at("gone", "good", "main", "w")
	at("odd-pin", "good", "main", "w")

	got := reader(t).Workloads(t.Context(), registrations, source.FollowOptions{Pins: map[string]string{
		"gone": strings.Repeat("1", 40), "odd-pin": "main", "misspelt": commit, "good": "",
	}})
	wants(t,
		got.Problems,
		[]string{
			"error Pinned commit without a registration",
			"error a-file Folder not found",
			"error a-link Folder not found",
			"error a-module Folder not found",
			"error bad-schema w/a.yaml:1 Invalid JSON Schema",
			"error broken w/a.yaml:8 Invalid YAML",
			"error broken w/b.yaml:1 Invalid YAML",
			"error climbs Location can't be read",
			"error empty No workload",
			"error gone Commit not found",
			"error good w/w.yaml:1 Duplicate workload",
			"error invalid w/a.yaml:1 Invalid value of label \"a\"",
			"error invalid w/a.yaml:1 Missing environment",
			"error linked No workload",
			"error no-branch Branch not found",
			"error no-path Folder not found",
			"error no-repo Repo not found",
			"error odd-pin Invalid commit",
			"error same-again w/a.yaml:1 Duplicate workload",
			"error twice w/b.yaml:2 Duplicate workload",
			"warning foreign w/a.yaml:1 Object skipped",
			"warning linked Submodules skipped",
			"warning linked Symbolic links skipped",
		},
		"Commit: "+broken,
		"File: w/a.yaml, line 8",
		"Repo: "+s.url("broken"),
		"Registration: broken",
		`The repo has no branch "nowhere"`,
		"is a symbolic link",
		"is a submodule",
		`is a file. Name its folder, "w"`,
		`Named by: registrations["good"]`,
		"force push may have removed it",
		`through registration "good"`,
		`registrations "same-again" and "good" delivered it, so either may be wrong`,
		"points outside the repo",
		"w/out.yaml",
		`Field: spec.deploymentTargets[0].labels["a"]`,
		`Config schema 1 of target "test": `,
	)
	if diff := cmp.Diff(
		map[string]string{
			"good": commit, "foreign": got.WorkloadCommits["foreign"], "same-again": got.WorkloadCommits["same-again"],
		},
		got.WorkloadCommits,
	); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWorkloadsPins: if a force-push and a garbage collection removed a pinned commit, the error names the commit. A
// server with protocol version 0 sends no commit by its hash; then a pin in the branch's history is found.
func TestWorkloadsPins(t *testing.T) {
	backends := gitserver.Backends()
	old := backends[slices.IndexFunc(backends, func(b gitserver.Backend) bool { return b.Name == "ssh v0" })]
	filtering := old
	filtering.Name += " filter"
	for _, backend := range append(gitserver.Transports(), old, filtering) {
		t.Run(backend.Name, func(t *testing.T) {
			repo := gitserver.InitBare(t)
			if backend.Name == filtering.Name {
				gitserver.Git(t, repo, "config", "uploadpack.allowFilter", "true")
			}
			old := gitserver.Seed(t, repo, "main", map[string]string{"w/w.yaml": workload("before")})
			gitserver.Seed(t, repo, "main", map[string]string{"w/w.yaml": workload("after")})
			lost := gitserver.Seed(t, repo, "aside", map[string]string{"w/w.yaml": workload("lost")})
			gitserver.Git(t, repo, "update-ref", "-d", "refs/heads/aside")
			gitserver.Git(t, repo, "gc", "--quiet", "--prune=now")
			url, credentials := backend.Start(t, repo)
			registration := &fleet.WorkloadRegistration{Meta: fleet.Meta{Name: "shop"}, Repo: url, Branch: "main", Path: "w"}
			read := func(commit string) *source.ControlPlane {
				return reader(t, credentials...).Workloads(t.Context(), []*fleet.WorkloadRegistration{registration},
					source.FollowOptions{Pins: map[string]string{"shop": commit}, AllowLocal: true})
			}
			got := read(old)
			if names := got.Names[fleet.KindWorkload]; len(got.Problems) > 0 || len(names) != 1 || names[0] != "before" {
				t.Errorf("pin in the branch's history: %v", got)
			}
			wants(t, read(lost).Problems, []string{"error shop Commit not found"}, lost, "force push may have removed it")
		})
	}
}

// TestWorkloadsLocal: a registration of a local repo is an error unless local repos are allowed. Nothing of the repo is
// read, not even at the last delivered commit.
func TestWorkloadsLocal(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"w.yaml": workload("shop")})
	for _, url := range []string{"file://" + repo, "FILE://localhost" + repo, repo, " " + repo + "/", "/none"} {
		registrations := []*fleet.WorkloadRegistration{{Meta: fleet.Meta{Name: "shop"}, Repo: url, Branch: "main", Path: "."}}
		got := reader(t).Workloads(t.Context(), registrations, source.FollowOptions{
			LastGood: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
				return nil, errors.New("is not to be called")
			},
		})
		wants(t, got.Problems, []string{"error shop Local repo in a registration"}, "allow_local_repos = true")
		if len(got.Manifests) > 0 {
			t.Errorf("%s: %v", url, got.Manifests)
		}
		if url == "/none" {
			continue
		}
		got = reader(t).Workloads(t.Context(), registrations, source.FollowOptions{AllowLocal: true})
		wants(t, got.Problems, nil)
	}
}

// TestWorkloadsLastGoodByOrigin: the record shows by a Workload's branch which registration it belongs to. If the
// branch was read at several commits, the record shows it by the registration's name.
func TestWorkloadsLastGoodByOrigin(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	stable := s.commit("shop", "main", map[string]string{"w/w.yaml": workload("shop"), "w/in/w.yaml": workload("in")})
	canary := s.commit("shop", "canary", map[string]string{"w/w.yaml": workload("shop-canary")})
	s.commit("shop", "main", map[string]string{"w/w.yaml": "{", "w/in/w.yaml": "{"})
	s.commit("shop", "canary", map[string]string{"w/w.yaml": "{"})
	registrations := []*fleet.WorkloadRegistration{
		s.registration("shop", "main", "w"), s.registration("shop", "canary", "w"), s.registration("shop", "main", "w/in"),
	}
	registrations[1].Name, registrations[2].Name = "canary", "in"
	read := func(delivered ...origin.Origin) *source.ControlPlane {
		return reader(t).Workloads(t.Context(),
			registrations,
			source.FollowOptions{LastGood: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
				for i := range delivered {
					delivered[i].Repo = s.url("shop")
				}
				return delivered, nil
			}},
		)
	}
	got := read(origin.Origin{Branch: "main", Commit: stable, Path: "w/a.yaml", Name: "x"},
		origin.Origin{Branch: "canary", Commit: canary, Path: "w/b.yaml", Name: "y"})
	wants(t, got.Problems, []string{
		"error in w/in/w.yaml:1 Invalid YAML", "warning canary w/w.yaml:1 Invalid YAML",
		"warning shop w/w.yaml:1 Invalid YAML",
		"warning shop w/in/w.yaml:1 Invalid YAML",
	}, "No commit of this registration was delivered before")
	if diff := cmp.Diff(map[string]string{"shop": stable, "canary": canary}, got.WorkloadCommits); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	want := origin.Sources{s.url("shop") + "@main:w": stable, s.url("shop") + "@canary:w": canary}
	if diff := cmp.Diff(want, got.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}

	got = read(
		origin.Origin{Branch: "main", Via: "in", Commit: stable, Path: "w/in/w.yaml"},
		origin.Origin{
			Branch: "main",
			Via:    "shop",
			Path:   "w/w.yaml",
		},
		origin.Origin{Branch: "main", Via: "another", Commit: canary, Path: "w/in/w.yaml"},
	)
	wants(t, got.Problems, []string{
		"error canary w/w.yaml:1 Invalid YAML",
		"error shop w/w.yaml:1 Invalid YAML",
		"error shop w/in/w.yaml:1 Invalid YAML",
		"warning in w/in/w.yaml:1 Invalid YAML",
	}, "Set the rendering's sources too")
}

// TestWorkloadsAtSeveralCommits: if nested folders of a branch are read at several commits, the keys contain the names
// of the registrations.
func TestWorkloadsAtSeveralCommits(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	old := s.commit("shop", "main", map[string]string{
		"w/a/w.yaml": workload("a"), "w/b/w.yaml": workload("b"), "w/c/w.yaml": workload("c"), "d/w.yaml": workload("d"),
	})
	head := s.commit("shop", "main", map[string]string{"w/.sourceignore": "/a\n", "README.md": "later"})
	registrations := []*fleet.WorkloadRegistration{
		s.registration("shop", "main", "w/b"), s.registration("shop", "main", "w/c"), s.registration("shop", "main", "d"),
	}
	for i, name := range []string{"b", "c", "d"} {
		registrations[i].Name = name
	}
	at := func(place string) string { return s.url("shop") + "@" + place }
	expect := func(pins map[string]string, keys []string, sources origin.Sources) {
		t.Helper()
		got := reader(t).Workloads(t.Context(), registrations, source.FollowOptions{Pins: pins})
		wants(t, got.Problems, nil)
		if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(got.Manifests))); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(sources, got.Sources); diff != "" {
			t.Errorf("sources (-want +got):\n%s", diff)
		}
		for _, o := range got.Sources.Resolve(keys) {
			if o.Commit == "" {
				t.Errorf("the sources have no commit for %s", o)
			}
		}
	}
	// The keys of separate folders need no names.
	expect(map[string]string{"b": old, "c": head},
		[]string{at("main:d/w.yaml#d"), at("main:w/b/w.yaml#b"), at("main:w/c/w.yaml#c")},
		origin.Sources{at("main:d"): head, at("main:w/b"): old, at("main:w/c"): head})
	around := s.registration("shop", "main", "w")
	around.Name = "around"
	s.commit("shop", "main", map[string]string{"w/.sourceignore": "/a\n/b\n/c\n", "w/w.yaml": workload("around")})
	head = gitserver.Rev(t, s.dir("shop"), "main")
	registrations[1] = around
	expect(map[string]string{"b": old},
		[]string{at("main:d/w.yaml#d"), at("main~around:w/w.yaml#around"), at("main~b:w/b/w.yaml#b")},
		origin.Sources{at("main~around:w"): head, at("main~b:w/b"): old, at("main:d"): head})
}

// TestWorkloadsSize: a file that is too large is an error that names it, and the other registrations are read. If more
// than the limit would be fetched, this is an error, too. A server without filters also sends objects that were not
// requested, and these may have any size.
func TestWorkloadsSize(t *testing.T) {
	slow.Skip(t)
	filtering := serve(t, gitserver.WithFilter())
	line := "0123456789abcdef"
	huge := "# " + strings.Repeat(line, 100<<20/len(line)) + "\n"
	filtering.commit("shop", "main", map[string]string{"w/w.yaml": workload("shop"), "video": huge[:20<<20]})
	filtering.commit("large", "main", map[string]string{"w/w.yaml": workload("large"), "w/huge.yaml": huge})
	for name, s := range map[string]*server{
		"with filters": filtering, "without filters": {gitserver.New(t, filtering.Root), t, filtering.repos},
	} {
		t.Run(name, func(t *testing.T) {
			r := reader(t)
			got := r.Workloads(
				t.Context(),
				[]*fleet.WorkloadRegistration{s.registration("shop", "main", "w"), s.registration("large", "main", "w")},
				source.FollowOptions{},
			)
			wants(t, got.Problems, []string{"error large w/huge.yaml File too large"}, fmt.Sprintf("%d bytes", len(huge)))
			if len(got.Names[fleet.KindWorkload]) != 1 || got.Names[fleet.KindWorkload][0] != "shop" {
				t.Errorf("got %v", got.Names[fleet.KindWorkload])
			}
			limits := source.DefaultLimits
			limits.Fetch = 50
			got = readerWithLimits(t,
				limits,
			).Workloads(
				t.Context(),
				[]*fleet.WorkloadRegistration{s.registration("shop", "main", "w")},
				source.FollowOptions{},
			)
			wants(t, got.Problems, []string{"error shop Too much to read"}, "more than 50 bytes", "uploadpack.allowFilter")
			limits = source.DefaultLimits
			limits.Total = 100
			got = readerWithLimits(t,
				limits,
			).Workloads(
				t.Context(),
				[]*fleet.WorkloadRegistration{s.registration("shop", "main", "w")},
				source.FollowOptions{},
			)
			wants(t, got.Problems, []string{"error Manifests too large"})
		})
	}
}

// TestWorkloadsFetches reads 300 registrations from 30 repos with one session for each repo, and gets only the folders
// of the registrations. A second read in the same run needs no session.
func TestWorkloadsFetches(t *testing.T) {
	slow.Skip(t)
	s := serve(t, gitserver.WithFilter())
	var registrations []*fleet.WorkloadRegistration
	for i := range 30 {
		name := fmt.Sprintf("repo-%02d", i)
		files := map[string]string{"assets/large.txt": strings.Repeat(name+"\n", 100_000)}
		for j := range 10 {
			app := fmt.Sprintf("app-%02d-%d", i, j)
			files["apps/"+app+"/workload.yaml"] = workload(app)
			registration := s.registration(name, "main", "apps/"+app)
			registration.Name = app
			registrations = append(registrations, registration)
		}
		s.commit(name, "main", files)
	}
	r := reader(t)
	s.ResetLog()
	start := time.Now()
	got := r.Workloads(t.Context(), registrations, source.FollowOptions{})
	took := time.Since(start)
	wants(t, got.Problems, nil)
	if len(got.Manifests) != 300 || len(got.WorkloadCommits) != 300 {
		t.Errorf("%d manifests, %d commits", len(got.Manifests), len(got.WorkloadCommits))
	}
	conversations, requests := s.conversations()
	if conversations != 30 {
		t.Errorf("%d conversations, want 30", conversations)
	}
	sent := int64(0)
	for _, request := range s.Requests() {
		sent += request.Sent
	}
	if sent > 30*10_000 {
		t.Errorf("%d bytes were sent, more than the folders contain", sent)
	}
	s.ResetLog()
	if again := r.Workloads(t.Context(), registrations, source.FollowOptions{}); len(again.Manifests) != 300 {
		t.Errorf("second read: %d manifests", len(again.Manifests))
	}
	if _, requests := s.conversations(); requests != 0 {
		t.Errorf("second read: %d requests, want none", requests)
	}

	git := func(args ...string) time.Duration {
		start := time.Now()
		for i := range 30 {
			cmd := exec.Command("git", append(args, s.url(fmt.Sprintf("repo-%02d", i)), "main")...)
			cmd.Dir, cmd.Env = s.dir("scratch"), gitserver.Env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		return time.Since(start)
	}
	t.Logf(
		"300 registrations over 30 repos: %v, %d requests, %d bytes sent; git ls-remote one after another: %v; git "+
			"fetch --depth 1: %v",
		took.Round(
			time.Millisecond,
		),
		requests,
		sent,
		git("ls-remote").Round(time.Millisecond),
		git("fetch", "--quiet", "--depth", "1").Round(time.Millisecond),
	)
}

// TestWorkloadsFolderNamedIgnoreFile: a folder with the name of the ignore file ignores nothing, and is not read.
func TestWorkloadsFolderNamedIgnoreFile(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	s.commit("shop", "main", map[string]string{"w/w.yaml": workload("shop"), "w/.sourceignore/w.yaml": workload("hidden")})
	got := reader(t).Workloads(t.Context(), []*fleet.WorkloadRegistration{s.registration("shop", "main", "w")},
		source.FollowOptions{})
	wants(t, got.Problems, nil)
	if diff := cmp.Diff([]string{"shop"}, got.Names[fleet.KindWorkload]); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
}
