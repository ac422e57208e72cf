package deployment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// deploymentRoot is a root module that reads the data source kalypso_deployment_state.
type deploymentRoot struct {
	*acc.Root
	repo string
}

func newDeploymentRoot(t *testing.T) *deploymentRoot {
	t.Helper()
	d := &deploymentRoot{acc.NewRootFrom(t, "testdata/TestAccDeploymentState"), gitserver.InitBare(t)}
	d.Set("gitops_repo", map[string]any{"repo": "file://" + d.repo, "branch": "stage", "path": "fleet"})
	d.reports()
	return d
}

// render commits a rendering, see [acc.SeedDelivery].
func (d *deploymentRoot) render(record map[string]any, folders map[string]string) string {
	d.T.Helper()
	return acc.SeedDelivery(d.T, d.repo, record, folders)
}

// reports sets all reports of the clusters.
func (d *deploymentRoot) reports(all ...map[string]any) {
	d.T.Helper()
	if all == nil {
		all = []map[string]any{}
	}
	d.Set("source_of_reports", map[string]any{"reports": all})
}

// look reads the data source and returns its attributes.
func (d *deploymentRoot) look() deploymentOutput {
	d.T.Helper()
	d.Apply()
	var seen deploymentOutput
	d.Output("state", &seen)
	return seen
}

type deploymentOutput struct {
	Head           *string
	PromotedCommit *string `json:"promoted_commit"`
	Environment    *string
	Complete       *bool
	Verdict        string
	Summary        string
	ObservedAt     string `json:"observed_at"`
	Folders        map[string]struct {
		TreeHash                                                                         *string `json:"tree_hash"`
		Total, Current, Progressing, Failing, Failed, Suspended, Stale, Offline, Missing int
		Verdict                                                                          string
		Since                                                                            *string
	}
	Problems []struct {
		Cluster, Folder, State, Revision, Message string
		Failing                                   bool
	}
	Targets map[string]struct {
		Current, Failed, Total int
		Versions               map[string]int
	}
	Observation string
	Clusters    map[string][]struct{ Folder, Revision, State string }
}

// states formats the problems as "state cluster".
func (s deploymentOutput) states() (all []string) {
	for _, p := range s.Problems {
		all = append(all, p.State+" "+p.Cluster)
	}
	return all
}

// report returns a report of a cluster that follows the folder large.
func report(cluster, commit string, more ...string) map[string]any {
	r := map[string]any{
		"cluster": cluster, "folder": "large", "revision": "stage@sha1:" + commit, "state": "current",
		"time": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339),
	}
	for i := 0; i < len(more); i += 2 {
		r[more[i]] = more[i+1]
	}
	return r
}

// The data source follows a deployment from the first commit to success, through a commit that does not change the
// folder, a new tree, a rollback and a rollout.
func TestAccDeploymentState(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)

	seen := d.look()
	if seen.Head != nil || seen.Complete != nil || seen.PromotedCommit != nil || len(seen.Folders) != 0 ||
		seen.Verdict != "pending" {
		t.Errorf("no branch: %+v", seen)
	}
	gitserver.Seed(t, d.repo, "stage", map[string]string{"README.md": "GitOps\n"})
	if seen := d.look(); seen.Head != nil || seen.Verdict != "pending" {
		t.Errorf("no record: %+v", seen)
	}

	first := d.render(nil, map[string]string{"large": "one"})
	if seen := d.look(); seen.Verdict != "pending" || seen.Folders["large"].Missing != 1 {
		t.Errorf("no report: %+v", seen)
	}
	d.reports(report("a", first), report("b", first))
	d.Set("options", map[string]any{"detail": "clusters"})
	seen = d.look()
	tree := strings.TrimSpace(gitserver.Git(t, d.repo, "rev-parse", first+":fleet/large"))
	if seen.Verdict != "success" || *seen.Head != first || *seen.PromotedCommit != strings.Repeat("c", 40) ||
		!*seen.Complete ||
		*seen.Folders["large"].TreeHash != tree || seen.Folders["large"].Current != 2 ||
		seen.Folders["large"].Since == nil ||
		len(seen.Problems) != 0 {
		t.Errorf("deployed: %+v", seen)
	}
	if shop := seen.Targets["shop-web"]; shop.Current != 2 || shop.Total != 2 || len(seen.Targets) != 1 ||
		len(seen.Clusters["a"]) != 1 {
		t.Errorf("the details: %+v", seen)
	}
	if _, err := time.Parse(time.RFC3339, seen.ObservedAt); err != nil {
		t.Error(err)
	}

	// If a newer commit does not change the folder, the clusters that run an older commit are current.
	gitserver.Seed(t, d.repo, "stage", map[string]string{"README.md": "more\n"})
	if seen := d.look(); seen.Verdict != "success" || *seen.Head == first {
		t.Errorf("another file changed: %+v", seen)
	}
	// No cluster runs the new tree yet. Its commit is from 2023, so only a long deadline has not passed.
	second := d.render(nil, map[string]string{"large": "two"})
	if seen := d.look(); seen.Verdict != "failure" || seen.Folders["large"].Failed != 2 ||
		seen.Problems[0].Cluster != "a" {
		t.Errorf("an older tree past the deadline: %+v", seen)
	}
	d.Set("options", map[string]any{"progress_deadline": "1000000h"})
	d.reports(report("a", second), report("b", first))
	if seen := d.look(); seen.Verdict != "pending" || seen.Folders["large"].Progressing != 1 || seen.Targets != nil ||
		seen.Clusters != nil {
		t.Errorf("an older tree: %+v", seen)
	}
	// An earlier report of the same tree does not prove a rollback.
	third := d.render(nil, map[string]string{"large": "one"})
	if diff := cmp.Diff([]string{"progressing a", "progressing b"}, d.look().states()); diff != "" {
		t.Errorf("rolled back (-want +got):\n%s", diff)
	}
	d.reports(report("a", third), report("b", third))
	if seen := d.look(); seen.Verdict != "success" {
		t.Errorf("rolled back, with new reports: %+v", seen)
	}
	fourth := d.render(
		map[string]any{"rollout": map[string]any{"complete": false, "stage": "canary"}},
		map[string]string{"large": "one"},
	)
	d.reports(report("a", fourth))
	if seen := d.look(); seen.Verdict != "pending" || *seen.Complete || seen.Folders["large"].Verdict != "success" {
		t.Errorf("a rollout is under way: %+v", seen)
	}
	fifth := d.render(map[string]any{"rollout": map[string]any{"complete": true}}, map[string]string{"large": "one"})
	d.reports(report("a", fifth))
	if seen := d.look(); seen.Verdict != "success" || !*seen.Complete {
		t.Errorf("a rollout is complete: %+v", seen)
	}
}

// Each row has options and reports, and the verdicts and problems that follow from them. One apply reads all rows.
func TestAccDeploymentStateRows(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	d.Write("main.tf", strings.NewReplacer(
		`"this" {`, "\"this\" {\n  for_each = var.options\n",
		"= var.source_of_reports", "= { reports = each.value.reports }",
		"lookup(var.options,", "lookup(each.value.options,",
	).Replace(acc.ReadFile(t, "testdata/TestAccDeploymentState/main.tf")))
	head := d.render(nil, map[string]string{"large": "one", "small": "one"})
	small := func(r map[string]any) map[string]any { r["folder"] = "small"; return r }
	hour := func(n int) string { return time.Now().Add(time.Duration(-n) * time.Hour).UTC().Format(time.RFC3339) }
	rows := []struct {
		name    string
		options map[string]any
		reports []map[string]any
		verdict string
		large   string // the verdict of this folder
		states  []string
	}{
		{"not healthy", map[string]any{"progress_deadline": "1000000h"},
			[]map[string]any{report("a", head, "state", "failed", "message", "boom")}, "pending", "pending",
			[]string{"progressing a"}},
		{"failed past the deadline", nil, []map[string]any{report("a", head, "state", "progressing")}, "failure", "failure",
			[]string{"failed a"}},
		{"max_failed", map[string]any{"max_failed": 1}, []map[string]any{report("a", head, "state", "failed"),
			report("b", head)}, "success", "success", []string{"failed a"}},
		{"stale", nil, []map[string]any{report("a", head, "time", hour(2))}, "pending", "pending", []string{"stale a"}},
		{
			"stale_after",
			map[string]any{"stale_after": "3h"},
			[]map[string]any{report("a", head, "time", hour(2))},
			"success",
			"success",
			nil,
		},
		{"suspended", nil, []map[string]any{report("a", head, "state", "suspended")}, "pending", "pending",
			[]string{"suspended a"}},
		{"max_unavailable", map[string]any{"max_unavailable": "50%"},
			[]map[string]any{report("a", head, "state", "suspended"), report("b", head)}, "success", "success",
			[]string{"suspended a"}},
		{"missing by name",
			map[string]any{"expected": map[string]any{"large": map[string]any{"clusters": []string{"a", "b"}}}},
			[]map[string]any{report("a", head), report("c", head)}, "pending", "pending",
			[]string{"missing b", "unexpected c"}},
		{"missing by number", map[string]any{"expected": map[string]any{"large": map[string]any{"minimum": 2}}},
			[]map[string]any{report("a", head)}, "pending", "pending", []string{"missing "}},
		{"no clusters", map[string]any{"expected": map[string]any{"large": map[string]any{"minimum": 0}}}, nil, "success",
			"success", nil},
		{"a folder that is not at head", nil, []map[string]any{report("a", head), report("a", head, "folder", "gone")},
			"success", "success", []string{"unexpected a"}},
		{"an expected cluster type without a folder", map[string]any{"expected": map[string]any{"huge": map[string]any{}}},
			[]map[string]any{report("a", head)}, "pending", "success", []string{"missing "}},
		{"commit that is not on the branch", nil, []map[string]any{report("a", strings.Repeat("d", 40))},
			"pending", "pending", []string{"progressing a"}},
		{"revision of another branch", nil, []map[string]any{report("a", head, "revision", "prod@sha1:"+head)},
			"pending", "pending", []string{"progressing a"}},
		{"report from the future", nil, []map[string]any{report("a", head, "time", hour(-1))}, "pending", "pending",
			[]string{"progressing a"}},
	}
	options := map[string]any{}
	for _, row := range rows {
		if row.options == nil {
			row.options = map[string]any{}
		}
		options[row.name] = map[string]any{
			"options": row.options, "reports": append(row.reports, small(report("s", head))),
		}
	}
	d.Set("options", options)
	d.Apply()
	var all map[string]deploymentOutput
	d.Output("state", &all)
	for _, row := range rows {
		seen := all[row.name]
		if seen.Verdict != row.verdict || seen.Folders["large"].Verdict != row.large ||
			seen.Folders["small"].Verdict != "success" {
			t.Errorf("%s: %s, large %s: %+v", row.name, seen.Verdict, seen.Folders["large"].Verdict, seen.Problems)
		}
		if diff := cmp.Diff(row.states, seen.states()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

// An invalid argument is an error of plan at its path. A repo or record that can't be read is an error too.
func TestAccDeploymentStateInvalid(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	d.Set("gitops_repo", map[string]any{"repo": "https://me:canary@acme.io/x", "path": "../x"})
	d.Set(
		"options",
		map[string]any{
			"max_failed":        "101%",
			"max_unavailable":   "some",
			"stale_after":       "1 day",
			"progress_deadline": "-1h",
			"detail":            "all",
			"timeouts":          map[string]any{"read": "0s"},
		},
	)
	d.ExpectError(
		[]string{
			`"101%" is neither a number`,
			`"some" is neither`,
			`"1 day" is not a duration`,
			`"-1h" is not greater than 0`,
			`"0s" is not greater than 0`,
			`"folders" "targets" "clusters"`,
		},
		"plan",
		"-no-color",
	)
	d.Set("options", map[string]any{"expected": map[string]any{"large": map[string]any{"minimum": -1}}})
	d.reports(map[string]any{"cluster": "a", "time": "yesterday"})
	d.ExpectError(
		[]string{
			"contains a user name or password",
			"Missing branch",
			"leaves the repo",
			"minimum must be 0 or more",
			"folder is not set",
			"state is not set",
			`"yesterday" is not a time`,
			"source.reports[0].time",
		},
		"plan",
		"-no-color",
	)
	if strings.Contains(d.Printed.String(), "canary") {
		t.Error("a secret is in the errors")
	}
	d.Set("options", map[string]any{})
	d.Set("source_of_reports", map[string]any{})
	d.Set("gitops_repo", map[string]any{"repo": "file://" + d.repo + "-not", "branch": "stage"})
	d.ExpectError([]string{"Missing source"}, "plan", "-no-color")
	d.reports()
	d.ExpectError([]string{"Repo not found"}, "plan", "-no-color")
	d.Set("gitops_repo", map[string]any{"repo": "file://" + d.repo, "branch": "stage", "path": "fleet"})
	d.render(map[string]any{"version": 99}, map[string]string{"large": "one"})
	d.ExpectError([]string{"The rendering's record is newer than the provider", "it has version 99"}, "plan", "-no-color")
}

// If the provider's credentials are unknown, nothing is contacted: the verdict is pending, with a warning.
func TestAccDeploymentStateUnknownProvider(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	d.Write("provider.tf", `
resource "terraform_data" "later" {
  input = "canary"
}
provider "kalypso" {
  git_credentials = [{ url = "https://git.acme.test", bearer_token = terraform_data.later.output }]
}
`)
	d.Set("gitops_repo", map[string]any{"repo": "https://git.acme.test/gitops", "branch": "stage"})
	planned := d.Succeed("plan", "-no-color").Text()
	for _, said := range []string{"The state of the deployment is not known yet", `verdict = "pending"`} {
		if !strings.Contains(planned, said) {
			t.Errorf("the plan does not say %q:\n%s", said, planned)
		}
	}
}

// Only the first hundred problems are listed.
func TestAccDeploymentStateManyProblems(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	head := d.render(nil, map[string]string{"large": "one"})
	var all []map[string]any
	for i := range 150 {
		all = append(all, report(fmt.Sprintf("c%03d", i), head, "state", "suspended"))
	}
	d.reports(all...)
	if seen := d.look(); len(seen.Problems) != 100 || seen.Folders["large"].Suspended != 150 ||
		seen.Problems[99].Cluster != "c099" {
		t.Errorf("%d problems, %+v", len(seen.Problems), seen.Folders)
	}
}

// If the argument versions is true, the data source and the observation contain the version that each cluster runs, and
// a repo that can't be read causes a warning. Otherwise, they contain no versions.
func TestAccDeploymentStateVersions(t *testing.T) {
	t.Parallel()
	d := newDeploymentRoot(t)
	apps := gitserver.InitBare(t)
	app := func(version string) string {
		return gitserver.Seed(t, apps, "prod", map[string]string{
			"web/app.yaml": "kind: ConfigMap\nmetadata: {labels: {app.kubernetes.io/version: " + version + "}}\n",
		})
	}
	one, two := app("1.0"), app("2.0")
	head := d.render(nil, map[string]string{"large": fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop-web, namespace: argocd}
spec: {source: {repoURL: "file://%s", path: web, targetRevision: prod}}
`, apps)})
	runs := func(cluster, revision, version, state string) map[string]any {
		r := report(cluster, head)
		target := map[string]any{"name": "shop-web", "revision": revision, "state": state}
		if version != "" {
			target["version"] = version
		}
		r["targets"] = []any{target}
		return r
	}
	d.reports(runs("a", one, "", "current"), runs("b", two, "", "failed"), runs("c", two, "2.0-hotfix", "current"))
	d.Set("options", map[string]any{"detail": "targets"})
	if seen := d.look(); seen.Targets["shop-web"].Versions != nil ||
		*seen.Environment != "stage" || seen.Verdict != "success" {
		t.Errorf("without versions: %+v", seen)
	}

	d.Set("options", map[string]any{"detail": "targets", "versions": true})
	out := d.Apply().Text()
	for _, said := range []string{"Versions can't be read", "path \"web\" at " + one[:12], "allow_local_repos"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), said) {
			t.Errorf("the warning does not say %q:\n%s", said, out)
		}
	}
	var seen deploymentOutput
	d.Output("state", &seen)
	want := map[string]int{one[:12]: 1, two[:12]: 1, "2.0-hotfix": 1}
	if diff := cmp.Diff(want, seen.Targets["shop-web"].Versions); diff != "" {
		t.Errorf("versions of a repo that can't be read (-want +got):\n%s", diff)
	}

	d.Write("provider.tf", "provider \"kalypso\" {\n  allow_local_repos = true\n}\n")
	seen = d.look()
	want = map[string]int{"1.0": 1, "2.0": 1, "2.0-hotfix": 1}
	if diff := cmp.Diff(want, seen.Targets["shop-web"].Versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if seen.Verdict != "success" || seen.Folders["large"].Current != 3 {
		t.Errorf("the state of a target changes the verdict: %+v", seen)
	}
	if seen.Targets["shop-web"].Current != 2 || seen.Targets["shop-web"].Failed != 1 {
		t.Errorf("the counts of the target: %+v", seen.Targets["shop-web"])
	}
	observed, err := observation.Parse(seen.Observation)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range observed.Groups {
		for _, m := range g.Members {
			got = append(got, fmt.Sprintf("%s %q %s %s", m.Cluster, g.Target, g.Version.Version, g.State))
		}
	}
	slices.Sort(got)
	tree := (*seen.Folders["large"].TreeHash)[:12]
	if diff := cmp.Diff([]string{
		`a "" ` + tree + ` current`, `a "shop-web" 1.0 current`, `b "" ` + tree + ` current`, `b "shop-web" 2.0 failed`,
		`c "" ` + tree + ` current`, `c "shop-web" 2.0-hotfix current`,
	}, got); diff != "" {
		t.Errorf("observation (-want +got):\n%s", diff)
	}

	bad := runs("a", one, "", "current")
	bad["targets"] = []any{map[string]any{"revision": one}}
	d.reports(bad)
	d.ExpectError([]string{"Incomplete report", "needs name"}, "plan", "-no-color")
	twice := map[string]any{"name": "shop-web"}
	bad["targets"] = []any{twice, twice}
	d.reports(bad)
	d.ExpectError([]string{"Deployment target reported twice", `"shop-web" twice`}, "plan", "-no-color")
}
