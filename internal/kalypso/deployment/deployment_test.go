package deployment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

func TestParseRevision(t *testing.T) {
	sha := strings.Repeat("0a", 20)
	for text, want := range map[string]deployment.Revision{
		"stage@sha1:" + sha:                        {Branch: "stage", Hash: sha},
		"release/1.0@sha1:" + sha:                  {Branch: "release/1.0", Hash: sha},
		"refs/heads/stage@sha1:" + sha:             {Branch: "stage", Hash: sha},
		"stage/" + sha:                             {Branch: "stage", Hash: sha},
		"release/1.0/" + sha:                       {Branch: "release/1.0", Hash: sha},
		"sha1:" + sha:                              {Hash: sha},
		" " + strings.ToUpper(sha) + "\n":          {Hash: sha},
		"stage@sha1:" + sha[:12]:                   {Branch: "stage"},
		"latest@sha256:" + strings.Repeat("a", 64): {Branch: "latest"},
		"v1.2.3": {},
		"":       {},
	} {
		if diff := cmp.Diff(want, deployment.ParseRevision(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestSince: a folder has its verdict since the time that the reports show. If they show no time, it is zero.
func TestSince(t *testing.T) {
	noTime := func(r *deployment.Report) { r.Recorded, r.Time = false, time.Time{} }
	for _, test := range []struct {
		name    string
		branch  deployment.GitOpsBranch
		rules   deployment.Rules
		reports []deployment.Report
		want    time.Time
	}{
		{"success: when the last cluster became current", line("B", "A"), rules(),
			[]deployment.Report{with(at("a", "c2"), live, since(time.Hour)), with(at("b", "c2"), live, since(30*time.Minute))},
			ago(30 * time.Minute)},
		{"success: the commit of the folder, if the clusters were healthy before", line("B", "A"), rules(),
			[]deployment.Report{with(at("a", "c2"), live, since(48*time.Hour))}, ago(90 * time.Minute)},
		{"success: the time of the report, if it has no time of transition", line("B", "A"), rules(),
			[]deployment.Report{at("a", "c2")}, ago(time.Minute)},
		{"success: no report has a time", line("B", "A"), rules(), []deployment.Report{with(at("a", "c2"), noTime)},
			time.Time{}},
		{"failure: when one cluster more than max_failed passed the deadline", line("B", "A"), limits("1", "0"),
			[]deployment.Report{
				with(at("a", "c2"), live, health(deployment.Failed), since(80*time.Minute)),
				with(at("b", "c2"), live, health(deployment.Failed), since(70*time.Minute)),
				with(at("c", "c2"), live, health(deployment.Failed), since(65*time.Minute))}, ago(10 * time.Minute)},
		{"pending: when the first cluster became pending", line("B", "A"), rules(),
			[]deployment.Report{with(at("a", "c2"), live, health(deployment.Progressing), since(5*time.Minute)),
				with(at("b", "c2"), live, health(deployment.Progressing), since(9*time.Minute))}, ago(9 * time.Minute)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := evaluate(t, deployment.Input{Branch: test.branch, Rules: test.rules,
				Reports: test.reports}).Folders["drone"].Since
			if !got.Equal(test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestOutcome: problems are sorted by weight, targets and clusters are counted, and the summary is one line.
func TestOutcome(t *testing.T) {
	b := line("B", "A")
	b.Folders["drone"] = deployment.ExpectedFolder{Tree: "B", Targets: []string{"shop-web"}}
	b.Folders["large"] = deployment.ExpectedFolder{Tree: "L", Targets: []string{"shop-db", "shop-web"}}
	got := evaluate(t, deployment.Input{Branch: b, Rules: rules(), Reports: []deployment.Report{
		with(at("z", "c2"), health(deployment.Suspended)), at("b", "c1"), at("a", "c2"), with(at("a", "c2"), folder("gone")),
	}})
	var problems []string
	for _, p := range got.Problems {
		problems = append(problems, fmt.Sprintf("%s %s/%s", p.State, p.Folder, p.Cluster))
	}
	if diff := cmp.Diff(
		[]string{"failed drone/b", "missing large/", "suspended drone/z", "unexpected gone/a"},
		problems,
	); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(
		map[string]deployment.TargetCount{"shop-web": {Current: 1, Failed: 1, Total: 4}, "shop-db": {Total: 1}},
		got.Targets,
	); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]deployment.Followed{
		{Folder: "drone", Revision: "stage@sha1:" + hash("c2"), State: deployment.StateCurrent},
		{Folder: "gone", Revision: "stage@sha1:" + hash("c2"), State: deployment.StateUnexpected},
	}, got.Clusters["a"]); diff != "" {
		t.Errorf("cluster a (-want +got):\n%s", diff)
	}
	want := fmt.Sprintf(
		"0 of 2 cluster types deployed at %.7s, 1 of 4 clusters current; not deployed yet: drone, large.",
		hash("c2"),
	)
	if diff := cmp.Diff(want, got.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// TestSummaryCountsClustersOnce: an offline cluster may belong to several folders, and a cluster may follow two
// folders. The summary still counts each cluster once.
func TestSummaryCountsClustersOnce(t *testing.T) {
	b := line("B", "A")
	b.Folders["large"], b.Folders["idle"] = deployment.ExpectedFolder{Tree: "L"}, deployment.ExpectedFolder{Tree: "I"}
	offline := func(cluster string) deployment.Report {
		return with(at(cluster, ""), health(deployment.Offline), folder(""))
	}
	r := rules()
	r.Expected = map[string]deployment.Expectation{
		"drone": {Clusters: []string{"a"}}, "large": {Clusters: []string{"b"}}, "idle": {Minimum: number(0)},
	}
	for _, test := range []struct {
		reports []deployment.Report
		want    string
	}{
		{[]deployment.Report{offline("a"), offline("b")}, "0 of 2 clusters current"},
		{[]deployment.Report{at("a", "c2"), offline("b")}, "1 of 2 clusters current"},
		{[]deployment.Report{at("a", "c2"), with(at("a", "c1"), folder("idle"))}, "0 of 2 clusters current"},
	} {
		got := evaluate(t, deployment.Input{Branch: b, Rules: r, Reports: test.reports})
		if !strings.Contains(got.Summary, test.want) {
			t.Errorf("%q, want %q", got.Summary, test.want)
		}
	}
}

// TestFolderOf accepts every way to write a folder of the rendering, and rejects other paths.
func TestFolderOf(t *testing.T) {
	for _, test := range []struct {
		path, from, folder string
		ok                 bool
	}{
		{".", "./drone", "drone", true}, {".", "drone/", "drone", true}, {".", "/drone", "drone", true},
		{".", "./", "", false},
		{"clusters", "./clusters/drone", "drone", true}, {"clusters", "drone", "drone", false},
		{"clusters", "clusters", "clusters", false},
		{"clusters", "clusters-other/drone", "clusters-other/drone", false}, {".", "drone/shop", "drone/shop", true},
	} {
		folder, ok := deployment.Rendering{Path: test.path}.FolderOf(test.from)
		if ok != test.ok || ok && folder != test.folder {
			t.Errorf("%+v: %q, %v", test, folder, ok)
		}
	}
}
