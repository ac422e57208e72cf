package source_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func baseRepo(url, branch, commit string) string {
	return document("BaseRepo", "base", fmt.Sprintf("{repo: %q, branch: %s, path: ., commit: %q}", url, branch, commit))
}

func gitopsRepo(name string) string {
	return document("GitOpsRepo", name, "{repo: https://acme.io/gitops, branch: dev}")
}

// TestControlPlane reads the folder of an environment, the base at its pinned commit, and the Workloads of the
// registrations. The key of each object contains its origin. The same files in local folders give the same objects.
func TestControlPlane(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	shop := s.commit("shop", "main", map[string]string{"w.yaml": workload("shop")})
	base := map[string]string{
		"templates/all.yaml": document(
			"Template",
			"flux",
			"{type: reconciler}",
		) + "---\n" + document(
			"Template",
			"ns",
			"{type: namespace}",
		) + "---\nkind: Pod\n",
		"registrations.yaml": document("WorkloadRegistration", "shop",
			fmt.Sprintf("{workload: {repo: %q, branch: main, path: .}, workspace: team}", s.url("shop"))),
		// Patterns at the root and below exclude files, and include them again.
		".sourceignore":           "# for Flux\n\n/drafts/*\n!/drafts/ready.yaml\n*.tmp.yaml\n",
		"drafts/broken.yaml":      "{",
		"drafts/ready.yaml":       document("Template", "ready", "{type: config}"),
		"x.tmp.yaml":              "{",
		"templates/.sourceignore": "old.yaml\n!keep.tmp.yaml\n",
		"templates/old.yaml":      "{",
		"templates/keep.tmp.yaml": document("Template", "keep", "{type: config}"),
		"old.yaml":                document("Template", "old", "{type: config}"),
		".environments/dev.yaml":  "{",
		"a/.hidden/x.yaml":        "{",
		".gitlab-ci.yml":          "{",
		"values.json":             "{",
		"environment.yaml":        document("Environment", "dev", "{}"),
		"list.yaml": "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(
			strings.TrimSpace(document("ClusterType", "listed", "{reconciler: flux, namespaceService: ns}")),
			"\n",
			"\n  ",
		) + "\n",
		"templates/nested/kustomization.yml": "resources: []\n",
	}
	promoted := s.commit("control-plane", "main", base)
	s.commit(
		"control-plane",
		"main",
		map[string]string{"templates/later.yaml": document("Template", "later", "{type: config}")},
	)
	env := map[string]string{
		"env/cluster/small.yaml": document("ClusterType", "small", "{reconciler: flux, namespaceService: ns}") +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: small, labels: {platform-config: 'true'}}\ndata: {a: '1'}\n",
		"env/other.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: not-ours}\n",
		"env/base.yaml":   baseRepo(s.url("control-plane"), "main", promoted),
		"env/gitops.yaml": gitopsRepo("dev"),
		"elsewhere.yaml":  "{",
	}
	head := s.commit("control-plane", "dev", env)

	got := reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
		Location:   source.Location{Repo: s.url("control-plane"), Branch: "dev", Path: "env"},
		FollowBase: true, FollowRegistrations: true,
	})
	wants(t, got.Problems, []string{"warning Kustomizations skipped"}, "templates/nested/kustomization.yml")
	cp := s.url("control-plane") + "@"
	want := []string{
		cp + "dev:env/cluster/small.yaml#ClusterType/small", cp + "dev:env/cluster/small.yaml#ConfigMap/small",
		cp + "main:drafts/ready.yaml", cp + "main:list.yaml", cp + "main:old.yaml", cp + "main:registrations.yaml",
		cp + "main:templates/all.yaml#flux", cp + "main:templates/all.yaml#ns", cp + "main:templates/keep.tmp.yaml",
		s.url("shop") + "@main:w.yaml#shop",
	}
	sources := origin.Sources{cp + "dev:env": head, cp + "main:.": promoted, s.url("shop") + "@main:.": shop}
	if diff := cmp.Diff(sources, got.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got.Manifests))); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	wantNames := map[fleet.Kind][]string{
		"ClusterType": {"listed", "small"}, "ConfigMap": {"small"}, "Template": {"flux", "keep", "ns", "old", "ready"},
		"Workload": {"shop"}, "WorkloadRegistration": {"shop"},
	}
	if diff := cmp.Diff(wantNames, got.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got.Commit != head || got.BaseCommit != promoted || got.Skipped != 2 ||
		*got.GitOpsRepo != (source.GitOpsRepo{Repo: "https://acme.io/gitops", Branch: "dev", Path: "."}) {
		t.Errorf("commit %s, base %s, %d skipped, GitOps repo %v", got.Commit, got.BaseCommit, got.Skipped, got.GitOpsRepo)
	}

	folder := t.TempDir()
	write(t, filepath.Join(folder, "env"), env)
	write(t, filepath.Join(folder, "base"), base)
	// The keys of files in local folders are their paths. No symbolic link is followed, even if it leads to a file in the
	// folder.
	for _, to := range []string{"/etc/passwd", "other.yaml"} {
		if err := os.Symlink(to, filepath.Join(folder, "env", "env", filepath.Base(to)+".link.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	inFolders := reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
		Location: source.Location{Directory: "env/env"}, BaseDirectory: "base", FollowBase: true, FollowRegistrations: true,
	})
	wants(t,
		inFolders.Problems,
		[]string{"warning Kustomizations skipped", "warning Symbolic links skipped"},
		"env/env/passwd.link.yaml",
	)
	texts := func(cp *source.ControlPlane) map[string]string {
		all := map[string]string{}
		for key, text := range cp.Manifests {
			if o, ok := origin.Parse(key); ok {
				key = strings.TrimSuffix(o.Path+"#"+o.Name, "#")
			}
			for _, folder := range []string{"env/", "env/", "base/"} {
				key = strings.TrimPrefix(key, folder)
			}
			all[key] = text
		}
		return all
	}
	if diff := cmp.Diff(texts(got), texts(inFolders)); diff != "" {
		t.Errorf("read from local folders (-repos +folders):\n%s", diff)
	}
	if inFolders.Commit != "" || inFolders.BaseCommit != promoted || inFolders.Manifests["base/old.yaml"] == "" {
		t.Errorf("read from local folders: %v", inFolders)
	}

	for directory, base := range map[string]string{".": "base", "env/env": "./env", "base": "base/"} {
		nested := reader(t).ControlPlane(t.Context(),
			source.ControlPlaneRequest{Location: source.Location{Directory: directory}, BaseDirectory: base, FollowBase: true},
		)
		if !slices.ContainsFunc(nested.Problems, func(f source.Problem) bool { return f.Summary == "Nested folders" }) {
			t.Errorf("%s in %s: %v", base, directory, nested.Problems)
		}
	}

	alone := reader(t).ControlPlane(t.Context(),
		source.ControlPlaneRequest{Location: source.Location{Repo: s.url("control-plane"), Commit: head, Path: "env"}},
	)
	if len(alone.Manifests) != 2 || alone.BaseCommit != promoted || len(alone.WorkloadCommits) > 0 {
		t.Errorf("read without the base and the registrations: %v", alone)
	}
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestControlPlaneBroken: all errors of a control plane and its base are reported at once.
func TestControlPlaneBroken(t *testing.T) {
	s := serve(t)
	read := func(change func(*source.ControlPlaneRequest)) source.Problems {
		req := source.ControlPlaneRequest{
			Location:   source.Location{Repo: s.url("cp"), Branch: "dev", Path: "."},
			FollowBase: true, FollowRegistrations: true,
		}
		if change != nil {
			change(&req)
		}
		return reader(t).ControlPlane(t.Context(), req).Problems
	}
	main := s.commit("cp", "main", map[string]string{
		"a.yaml":      "---\nkind: {\n",
		"gitops.yaml": gitopsRepo("second"),
		"registrations.yaml": document(
			"WorkloadRegistration",
			"gone",
			fmt.Sprintf("{workload: {repo: %q, branch: main}}", s.url("gone")),
		) +
			"---\n" + document(
			"WorkloadRegistration",
			"gone",
			"{workload: {repo: '', branch: main}}",
		),
	})
	head := s.commit("cp", "dev", map[string]string{
		"base.yaml": baseRepo(
			s.url("cp"),
			"main",
			main,
		),
		"b.yaml":      "a: b: c",
		"gitops.yaml": "# ours\n" + gitopsRepo("first"),
		"twice.yaml":  document("Template", "t", "{}") + "---\n" + document("Template", "t", "{}"),
	})
	wants(t, read(nil), []string{
		"error b.yaml:1 Invalid YAML", "error a.yaml:1 Invalid YAML", "error 2 GitOpsRepos",
		"error twice.yaml:5 Duplicate object", "error registrations.yaml:5 Duplicate object",
		"error gone Repo not found", "error gone Duplicate registration", "error gone Missing repo",
	}, "Commit: "+main, "Commit: "+head, `"first", `+s.url("cp")+"@dev:gitops.yaml, document 1, line 1",
		`"second", `+s.url("cp")+"@main:gitops.yaml, document 1, line 1",
		"Named by: "+s.url("cp")+"@main:registrations.yaml, document 2, line 5")

	s.commit(
		"cp",
		"two-bases",
		map[string]string{"a.yaml": baseRepo(s.url("cp"), "main", ""), "b.yaml": baseRepo(s.url("cp"), "main", "")},
	)
	wants(t,
		read(func(r *source.ControlPlaneRequest) { r.Branch = "two-bases" }),
		[]string{"error 2 BaseRepos"},
		"b.yaml, document 1, line 1",
		"Remove all but one",
	)

	s.commit("cp", "lost", map[string]string{"a.yaml": baseRepo(s.url("cp"), "main", strings.Repeat("1", 40))})
	wants(t,
		read(func(r *source.ControlPlaneRequest) { r.Branch = "lost" }),
		[]string{"error Commit not found"},
		strings.Repeat("1", 40),
		"Named by: "+s.url("cp")+"@lost:a.yaml, document 1, line 1",
	)

	// A promotion chose the commit, so the BaseRepo, if there is one, is right.
	s.commit("cp", "unbased", map[string]string{"a.yaml": document("Template", "t", "{}")})
	const pinned = `Named by: the argument promotion, whose decision is "pinned"`
	for branch, namedBy := range map[string]string{
		"lost": pinned + "; the repo and the path: " + s.url("cp") + "@lost:a.yaml, ", "unbased": pinned,
	} {
		wants(t, read(func(r *source.ControlPlaneRequest) {
			r.Branch, r.Promotion = branch, promotion.Promotion{
				Commit: strings.Repeat("2", 40), Reason: promotion.Reason{Decision: promotion.Pinned}}
		}), []string{"error Commit not found"}, strings.Repeat("2", 40), namedBy)
	}

	first := s.commit("cp", "round", map[string]string{"a.yaml": baseRepo(s.url("other"), "round", "")})
	second := s.commit("other", "round", map[string]string{"a.yaml": baseRepo(s.url("cp"), "round", "")})
	wants(t, read(func(r *source.ControlPlaneRequest) { r.Branch = "round" }), []string{"error BaseRepo cycle"},
		fmt.Sprintf(":\n  %s@%s:.\n  → %s@%s:.\n  → %[1]s@%[2]s:.\nRepo: ", s.url("cp"), first, s.url("other"), second))

	wants(t, read(func(r *source.ControlPlaneRequest) { r.Branch = "nowhere" }), []string{"error Branch not found"})
	wants(t, read(func(r *source.ControlPlaneRequest) { r.Path = "nowhere" }), []string{"error Folder not found"})
	wants(t,
		read(func(r *source.ControlPlaneRequest) { r.Location = source.Location{Directory: "nowhere"} }),
		[]string{"error Folder not found"},
		"path.module",
	)
	secret := read(func(r *source.ControlPlaneRequest) { r.Repo = "https://me:canary@acme.io/cp" })
	wants(t, secret, []string{"error Location can't be read"}, "git_credentials")
	if text := secret[0].Error() + secret[0].Location.String(); strings.Contains(text, "canary") {
		t.Errorf("the problem contains a secret: %s", text)
	}
}

// TestControlPlaneLastGood: if a Workload is broken, the registration is read at the commit that was last delivered to
// the branch of the GitOpsRepo.
func TestControlPlaneLastGood(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	good := s.commit("shop", "main", map[string]string{"w.yaml": workload("shop")})
	s.commit("shop", "main", map[string]string{"w.yaml": "{"})
	files := map[string]string{
		"r.yaml": document(
			"WorkloadRegistration",
			"shop",
			fmt.Sprintf("{workload: {repo: %q, branch: main}}", s.url("shop")),
		),
	}
	s.commit("cp", "dev", files)
	request := source.ControlPlaneRequest{
		Location:   source.Location{Repo: s.url("cp"), Branch: "dev"},
		FollowBase: true, FollowRegistrations: true,
		Follow: source.FollowOptions{LastGood: func(_ context.Context, at *source.GitOpsRepo) ([]origin.Origin, error) {
			if at.Branch != "dev" {
				t.Errorf("the record is read at %v", at)
			}
			return []origin.Origin{{Repo: s.url("shop"), Commit: good, Path: "w.yaml", Name: "shop"}}, nil
		}},
	}
	wants(t,
		reader(t).ControlPlane(t.Context(), request).Problems,
		[]string{"error shop w.yaml:1 Invalid YAML"},
		"has no GitOpsRepo",
	)
	s.commit("cp", "dev", map[string]string{"g.yaml": gitopsRepo("dev")})
	got := reader(t).ControlPlane(t.Context(), request)
	wants(t, got.Problems, []string{"warning shop w.yaml:1 Invalid YAML"}, "is read instead")
	if got.WorkloadCommits["shop"] != good || len(got.Names[fleet.KindWorkload]) != 1 {
		t.Errorf("got %v", got)
	}
}

// TestControlPlaneSources: main is read at several commits here. So the keys contain the name of the BaseRepo or
// registration that refers to the location. Keys of the location in the request contain no such name.
func TestControlPlaneSources(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	clusterType := func(name string) string {
		return document("ClusterType", name, "{reconciler: r, namespaceService: ns}")
	}
	old := s.commit(
		"cp",
		"main",
		map[string]string{"base/small.yaml": clusterType("small"), "apps/w.yaml": workload("app")},
	)
	registration := document("WorkloadRegistration", "app",
		fmt.Sprintf("{workload: {repo: %q, branch: main, path: apps}}", s.url("cp")))
	base := document(
		"BaseRepo",
		"common",
		fmt.Sprintf("{repo: %q, branch: main, path: ./base, commit: %q}", s.url("cp"), old),
	)
	head := s.commit("cp", "main", map[string]string{
		"base.yaml": base, "r.yaml": registration, "large.yaml": clusterType("large"), ".sourceignore": "/base\n/apps\n",
	})
	at := func(place string) string { return s.url("cp") + "@" + place }
	got := reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
		Location: source.Location{
			Repo:   s.url("cp"),
			Branch: "main",
		},
		FollowBase:          true,
		FollowRegistrations: true,
		Follow:              source.FollowOptions{Pins: map[string]string{"app": old}},
	})
	wants(t, got.Problems, nil)
	keys := []string{
		at("main:large.yaml"),
		at("main:r.yaml"),
		at("main~app:apps/w.yaml#app"),
		at("main~common:base/small.yaml"),
	}
	if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(got.Manifests))); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	sources := origin.Sources{at("main:."): head, at("main~common:base"): old, at("main~app:apps"): old}
	if diff := cmp.Diff(sources, got.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}

	// Without a branch, the keys contain the commit.
	got = reader(t).ControlPlane(t.Context(),
		source.ControlPlaneRequest{Location: source.Location{Repo: s.url("cp"), Commit: head}},
	)
	wants(t, got.Problems, nil)
	if got.Manifests[at(head+":large.yaml")] == "" || got.Sources[at(head+":.")] != head {
		t.Errorf("read by its commit, without a branch: %v, %v", got.Manifests, got.Sources)
	}
}

// TestControlPlanesShare: environments with the same base and registrations read these only once.
func TestControlPlanesShare(t *testing.T) {
	s := serve(t, gitserver.WithFilter())
	s.commit("shop", "main", map[string]string{"w.yaml": workload("shop")})
	base := s.commit("cp", "main", map[string]string{
		"r.yaml": document(
			"WorkloadRegistration",
			"shop",
			fmt.Sprintf("{workload: {repo: %q, branch: main}}", s.url("shop")),
		),
	})
	r := reader(t)
	environments := []string{"dev", "test", "stage", "prod"}
	for _, environment := range environments {
		s.commit(
			"cp",
			environment,
			map[string]string{"base.yaml": baseRepo(s.url("cp"), "main", base), "g.yaml": gitopsRepo(environment)},
		)
	}
	s.ResetLog()
	done := make(chan *source.ControlPlane)
	for _, environment := range environments {
		go func() {
			done <- r.ControlPlane(t.Context(), source.ControlPlaneRequest{
				Location: source.Location{Repo: s.url("cp"), Branch: environment}, FollowBase: true, FollowRegistrations: true,
			})
		}()
	}
	for range environments {
		if got := <-done; len(got.Problems) > 0 || len(got.Manifests) != 2 {
			t.Errorf("got %v", got)
		}
	}
	if got, _ := s.conversations(); got > len(environments)+2 {
		t.Errorf("%d conversations for %d environments, one base and one registration", got, len(environments))
	}
}

// TestNamesThatDifferByCase: a warning names the files and folders of which some file systems keep only one.
func TestNamesThatDifferByCase(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  []string // pairs in the warning; nil: there is no warning
	}{
		{"two files", []string{"env/a.yaml", "env/A.yaml"}, []string{"env/A.yaml and env/a.yaml"}},
		{"two folders", []string{"env/types/a.yaml", "env/Types/b.yaml", "env/Types/c.yaml"},
			[]string{"env/Types and env/types"}},
		{"files in two folders, and another pair", []string{"env/x/a.yaml", "env/X/a.yaml", "env/é.yaml", "env/É.yaml"},
			[]string{"env/X and env/x", "env/É.yaml and env/é.yaml"}},
		{"equal names in folders with different names", []string{"env/x/a.yaml", "env/y/A.yaml"}, nil},
		{"a file that is not read", []string{"env/readme.md", "env/README.md", "env/a.yaml"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			files := map[string]string{}
			for i, file := range tt.files {
				files[file] = document("ClusterType", fmt.Sprint("t", i), "{reconciler: flux, namespaceService: ns}")
			}
			s.commit("control-plane", "dev", files)
			got := reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
				Location: source.Location{Repo: s.url("control-plane"), Branch: "dev", Path: "env"},
			})
			var want []string
			if tt.want != nil {
				want = []string{"warning Names that differ by letter case alone"}
			}
			wants(t, got.Problems, want, tt.want...)
		})
	}
}
