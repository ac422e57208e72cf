package observe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// reconciler returns the Flux objects of a deployment target.
func reconciler(name, url, path string) string {
	return fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %s, namespace: flux-system}
spec: {url: %q, ref: {branch: prod}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec: {path: %[3]q, sourceRef: {kind: GitRepository, name: %[1]s}}
`, name, url, path)
}

// versionSource is a source with these reports. It fails unless versions are requested.
type versionSource []deployment.Report

func (versionSource) Name() string { return "sent" }

func (s versionSource) Reports(_ context.Context, of deployment.Rendering) ([]deployment.Report, error) {
	if !of.Versions {
		return nil, errors.New("versions were not requested")
	}
	return s, nil
}

// branchWith commits the record of a rendering and the files of its folder large, and returns the commit.
func branchWith(tb testing.TB, repo string, files map[string]string) string {
	tb.Helper()
	all := map[string]string{
		"fleet/.kalypso/rendering.json": `{"version": 1, "environment": "prod", "cluster_types": ["large"], ` +
			`"promoted_commit": "` + strings.Repeat("c", 40) + `"}`,
	}
	for path, content := range files {
		all["fleet/large/"+path] = content
	}
	return gitserver.Seed(tb, repo, "stage", all)
}

// TestVersions: the versions of targets come from the objects in the folders at head, the commits that clusters report
// as applied, and the teams' repos at these commits.
func TestVersions(t *testing.T) {
	t.Parallel()
	apps := gitserver.InitBare(t)
	first := gitserver.Seed(t, apps, "prod", map[string]string{
		"web/app.yaml": "kind: ConfigMap\nmetadata: {labels: {app.kubernetes.io/version: 1.0}}\n",
		"api/app.yaml": "kind: ConfigMap\n", "README.md": "x",
	})
	second := gitserver.Seed(t, apps, "prod", map[string]string{"README.md": "y"})
	third := gitserver.Seed(t, apps, "prod", map[string]string{
		"web/app.yaml": "kind: ConfigMap\nmetadata: {labels: {app.kubernetes.io/version: 1.1}}\n",
	})
	tree := func(repo, at string) string { return strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", at)) }
	_, url := gitserver.Serve(t, apps, gitserver.WithFilter())
	repo := gitserver.InitBare(t)
	old := branchWith(t, repo, map[string]string{
		"web/reconciler.yaml": reconciler("web", url, "./web"), "api/reconciler.yaml": reconciler("api", url, "api"),
		"lost/reconciler.yaml": reconciler("lost", "https://127.0.0.1:9/apps", "x"),
		"chart/release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n" +
			"metadata: {name: chart, namespace: apps}\n",
		"plain/namespace.yaml": "kind: Namespace\n",
		"two/reconciler.yaml": reconciler("two", url, "web") + "---\napiVersion: helm.toolkit.fluxcd.io/v2\n" +
			"kind: HelmRelease\nmetadata: {name: two, namespace: apps}\n",
	})
	head := branchWith(t, repo, map[string]string{"plain/namespace.yaml": "kind: Namespace # two\n"})

	nested := func(cluster, object, applied string) deployment.Report {
		return deployment.Report{
			Cluster: cluster, Folder: "large", Object: object, Revision: applied, Nested: true, Health: deployment.Healthy,
		}
	}
	own := func(cluster, commit string) deployment.Report {
		return deployment.Report{
			Cluster: cluster, Folder: "large", Object: "Kustomization flux-system/fleet", Revision: "stage@sha1:" + commit,
			Health: deployment.Healthy, Since: time.Unix(1_700_000_000, 0),
		}
	}
	reported := report("d", "large", head)
	reported.Recorded, reported.Time = true, time.Now().Truncate(time.Second)
	reported.Targets = []deployment.TargetReport{
		{Name: "web", Revision: "prod@sha1:" + third, Health: deployment.Healthy},
		{Name: "api", Version: "9.9", Health: deployment.Failed, Message: "crash"},
	}
	req := request(t, "file://"+repo, reported)
	req.Versions = true
	lost := strings.Repeat("d", 40)
	req.Sources = append(req.Sources, versionSource{
		own("a", head), nested("a", "Kustomization flux-system/web", "prod@sha1:"+first),
		nested("a", "Kustomization flux-system/api", "prod@sha1:"+first),
		nested("a", "HelmRelease apps/chart", "3.2.1"), nested("a", "Kustomization flux-system/lost", "prod@sha1:"+lost),
		// The object's namespace differs from the manifest's, because of a target namespace, and Azure changes the case of
		// names.
		own("b", head), nested("b", "kustomization elsewhere/WEB", "prod@sha1:"+second),
		nested("b", "Kustomization flux-system/api", "prod@sha1:"+second),
		// The target has two objects. Its version is the first object's. The clusters have different revisions of the second
		// object, so the contents of the target differ.
		nested("a", "HelmRelease apps/two", "1.0"), nested("a", "Kustomization flux-system/two", "prod@sha1:"+first),
		nested("b", "HelmRelease apps/two", "1.0"), nested("b", "Kustomization flux-system/two", "prod@sha1:"+third),
		own("c", old), nested("c", "Kustomization flux-system/web", "prod@sha1:"+third),
		{Cluster: "e", Health: deployment.Offline},
	})
	seen, err := observe.Look(t.Context(), req, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	v := seen.Versions
	got := map[string][]string{}
	contents := map[string]bool{}
	for _, g := range v.Groups {
		if g.Target == "two" && g.Version.Content != "" {
			contents[g.Version.Version+" "+g.Version.Content] = true
			continue
		}
		key := fmt.Sprintf("%s %s %q %.7s %s", g.ClusterType, g.Target, g.Version.Version, g.Version.Content, g.State)
		for _, m := range g.Members {
			got[key] = append(got[key], m.Cluster)
		}
		slices.Sort(got[key])
	}
	key := func(target, version, content, state string) string {
		return fmt.Sprintf("large %s %q %.7s %s", target, version, content, state)
	}
	folder, before := tree(repo, head+":fleet/large"), tree(repo, old+":fleet/large")
	plain, plainBefore := tree(repo, head+":fleet/large/plain"), tree(repo, old+":fleet/large/plain")
	web, web2, api := tree(apps, first+":web"), tree(apps, third+":web"), tree(apps, first+":api")
	want := map[string][]string{
		key("", folder[:12], folder, "current"): {"a", "b", "d"}, key("", before[:12], before, "progressing"): {"c"},
		// The second commit does not change the folder web, so both commits have the same version.
		key("web", "1.0", web, "current"): {"a", "b"}, key("web", "1.1", web2, "current"): {"c", "d"},
		key("api", first[:12], api, "current"): {"a"}, key("api", second[:12], api, "current"): {"b"},
		key("api", "9.9", "", "failed"): {"d"}, key("api", "", "", "progressing"): {"c"},
		key("chart", "3.2.1", "3.2.1", "current"): {"a"}, key("chart", "", "", "current"): {"b", "d"},
		key("chart", "", "", "progressing"): {"c"},
		key("two", "", "", "current"):       {"d"}, key("two", "", "", "progressing"): {"c"},
		key("lost", lost[:12], lost, "current"): {"a"}, key("lost", "", "", "current"): {"b", "d"},
		key("lost", "", "", "progressing"):                         {"c"},
		key("plain", plain[:12], plain, "current"):                 {"a", "b", "d"},
		key("plain", plainBefore[:12], plainBefore, "progressing"): {"c"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if len(contents) != 2 || seen.Outcome.Targets["two"].Versions["1.0"] != 2 {
		t.Errorf("contents of the target with two objects: %v", contents)
	}
	if diff := cmp.Diff(map[string]int{"1.0": 2, "1.1": 2}, seen.Outcome.Targets["web"].Versions); diff != "" {
		t.Errorf("versions of web (-want +got):\n%s", diff)
	}
	if len(v.Unread) != 1 || v.Unread[0].Commit != lost || !errors.Is(v.Unread[0].Err, gitremote.ErrUnreachable) {
		t.Errorf("unread: %+v", v.Unread)
	}
	for _, g := range v.Groups {
		switch {
		case g.Target == "web" && (g.Version.Repo != url || g.Version.Path != "web" || g.Version.CommittedAt.IsZero()):
			t.Errorf("web: %+v", g.Version)
		case g.Target == "" && (g.Version.Path != "fleet/large" || g.Version.CommittedAt.IsZero()):
			t.Errorf("the version of the folder: %+v", g.Version)
		}
		for _, m := range g.Members {
			switch {
			case m.Cluster == "d" && m.Since != reported.Time.UnixMilli():
				t.Errorf("d, %s: %s", g.Target, observation.Time(m.Since))
			case m.Cluster == "a" && g.Target == "" && m.Since != 1_700_000_000_000:
				t.Errorf("a: %s", observation.Time(m.Since))
			}
		}
	}
	if v.Environment != "prod" || v.Head != head || v.PromotedCommit != strings.Repeat("c", 40) || v.Path != "fleet" ||
		v.Verdict != string(seen.Outcome.Verdict) || !v.ObservedAt.Equal(seen.At) {
		t.Errorf("%+v", v.Observation)
	}
	// The cluster e is offline, so it reports no version.
	if diff := cmp.Diff([]string{"cluster e"}, v.Unanswered); diff != "" {
		t.Errorf("unanswered (-want +got):\n%s", diff)
	}
	again, err := observe.Look(t.Context(), req, time.Now)
	if err != nil || again.Versions.Hash() != v.Hash() {
		t.Errorf("a second observation has another hash: %v", err)
	}
}

// TestVersionsOfUnreadable: a local repo is only read if this is allowed. If a team's repo does not answer, only the
// versions from this repo are missing.
func TestVersionsOfUnreadable(t *testing.T) {
	t.Parallel()
	apps := gitserver.InitBare(t)
	commit := gitserver.Seed(t, apps, "prod", map[string]string{
		"app.yaml": "kind: ConfigMap\nmetadata: {labels: {app.kubernetes.io/version: 1.0}}\n",
	})
	repo := gitserver.InitBare(t)
	head := branchWith(t, repo, map[string]string{"web/reconciler.yaml": reconciler("web", "file://"+apps, ".")})
	one := report("a", "large", head)
	one.Targets = []deployment.TargetReport{{Name: "web", Revision: commit, Health: deployment.Healthy}}
	for _, allowed := range []bool{false, true} {
		req := request(t, "file://"+repo, one)
		req.Versions, req.AllowLocal = true, allowed
		seen, err := observe.Look(t.Context(), req, time.Now)
		if err != nil || seen.Outcome.Verdict != deployment.Success {
			t.Fatalf("%+v, %v", seen, err)
		}
		want := map[string]int{commit[:12]: 1}
		if allowed {
			want = map[string]int{"1.0": 1}
		}
		if diff := cmp.Diff(want, seen.Outcome.Targets["web"].Versions); diff != "" {
			t.Errorf("allowed %t (-want +got):\n%s", allowed, diff)
		}
		if len(seen.Versions.Unread) == 1 == allowed ||
			!allowed && !errors.Is(seen.Versions.Unread[0].Err, versions.ErrLocal) {
			t.Errorf("allowed %t: %+v", allowed, seen.Versions.Unread)
		}
	}
	s, url := gitserver.Serve(t, apps)
	s.Fail(gitserver.Fault{Hang: true, Times: -1})
	head = branchWith(t, repo, map[string]string{"web/reconciler.yaml": reconciler("web", url, ".")})
	one.Revision = "stage@sha1:" + head
	req := request(t, "file://"+repo, one)
	req.Versions, req.Wait = true, time.Second
	seen, err := observe.Look(t.Context(), req, time.Now)
	if err != nil || seen.Outcome.Verdict != deployment.Success || len(seen.Versions.Unread) != 1 {
		t.Fatalf("%+v, %v", seen, err)
	}
}

// BenchmarkVersions observes 10,000 clusters with 100 targets each. 3% of the targets have another version. All
// versions are encoded in at most 1 MiB.
func BenchmarkVersions(b *testing.B) {
	const clusters, targets, types = 10_000, 100, 10
	apps, repo := gitserver.InitBare(b), gitserver.InitBare(b)
	files := map[string]string{}
	for i := range targets {
		files[fmt.Sprintf("t%02d/app.yaml", i)] = fmt.Sprintf(
			"kind: ConfigMap\nmetadata: {name: t%d, labels: {app.kubernetes.io/version: 1.%d}}\n", i, i)
	}
	commits := []string{gitserver.Seed(b, apps, "prod", files)}
	for i := range targets {
		files[fmt.Sprintf("t%02d/app.yaml", i)] += "# next\n"
	}
	commits = append(commits, gitserver.Seed(b, apps, "prod", files))
	_, url := gitserver.Serve(b, apps, gitserver.WithFilter())
	rendered, names := map[string]string{}, []string{}
	for n := range types {
		names = append(names, fmt.Sprintf(`"ct%d"`, n))
		for i := range targets {
			name := fmt.Sprintf("t%02d", i)
			rendered[fmt.Sprintf("fleet/ct%d/%s/reconciler.yaml", n, name)] = reconciler(name, url, name)
		}
	}
	rendered["fleet/.kalypso/rendering.json"] = `{"version": 1, "environment": "prod", "cluster_types": [` +
		strings.Join(names, ", ") + `]}`
	head := gitserver.Seed(b, repo, "stage", rendered)
	var reports versionSource
	now := time.Now().Truncate(time.Second)
	for i := range clusters {
		base := deployment.Report{
			Cluster: fmt.Sprintf("/subscriptions/%032x/resourceGroups/rg/providers/Microsoft.Kubernetes/connectedClusters/c%d",
				uint64(i)*0x9E3779B97F4A7C15, i),
			Folder: fmt.Sprintf("ct%d", i%types), Object: "Kustomization flux-system/fleet", Revision: "stage@sha1:" + head,
			Health: deployment.Healthy, Since: now.Add(-time.Duration(i%3600) * time.Second),
		}
		reports = append(reports, base)
		for n := range targets {
			r := base
			r.Nested, r.Object = true, fmt.Sprintf("Kustomization flux-system/t%02d", n)
			r.Since = now.Add(-time.Duration((i*7919+n*104729)%(7*24*3600)) * time.Second)
			r.Revision = "prod@sha1:" + commits[0]
			if uint64(i*targets+n)*0x9E3779B97F4A7C15>>32%100 < 3 {
				r.Revision = "prod@sha1:" + commits[1]
			}
			reports = append(reports, r)
		}
	}
	for b.Loop() {
		client, err := gitremote.NewClient(nil)
		if err != nil {
			b.Fatal(err)
		}
		req := request(b, "file://"+repo)
		req.Client, req.Versions, req.Sources = client, true, []observe.Source{reports}
		memory.Measure(b, func() {
			seen, err := observe.Look(b.Context(), req, time.Now)
			if err != nil {
				b.Fatal(err)
			}
			text := seen.Versions.Encode()
			n := 0
			for _, g := range seen.Versions.Groups {
				n += len(g.Members)
			}
			if n != clusters*(targets+1) || len(seen.Versions.Unread) > 0 ||
				len(text) > observation.MaxText {
				b.Fatal(n, len(text), seen.Versions.Unread)
			}
			b.ReportMetric(float64(len(text)), "bytes")
		})
	}
}
