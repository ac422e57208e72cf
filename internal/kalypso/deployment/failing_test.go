package deployment_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// TestReportedFailures: a cluster or a target that reports a failure is counted at once, whatever the deadline. Only
// the state in the folder and the verdict depend on the deadline.
func TestReportedFailures(t *testing.T) {
	t.Parallel()
	const before, past = 24 * time.Hour, time.Minute
	web := func(h deployment.Health) deployment.Report {
		return with(at("a", "c2"), targets(deployment.TargetReport{Name: "web", Health: h, Message: "crash"}))
	}
	failed := with(at("a", "c2"), health(deployment.Failed), message("crash"))
	for name, test := range map[string]struct {
		deadline time.Duration
		reports  []deployment.Report
		folder   string // numbers of current, progressing, failing and failed clusters, and the verdict
		problem  string // its state, whether the cluster is failing, and the message
		web      deployment.TargetCount
		shop     deployment.TargetCount
	}{
		"failed target before the deadline": {before, []deployment.Report{web(deployment.Failed), at("b", "c2")},
			"2 0 0 0 success", "", deployment.TargetCount{Current: 1, Failed: 1, Total: 2},
			deployment.TargetCount{Current: 2, Total: 2}},
		"failed target past the deadline": {past, []deployment.Report{web(deployment.Failed), at("b", "c2")},
			"2 0 0 0 success", "", deployment.TargetCount{Current: 1, Failed: 1, Total: 2},
			deployment.TargetCount{Current: 2, Total: 2}},
		"failed cluster before the deadline": {before, []deployment.Report{failed, at("b", "c2")},
			"1 1 1 0 pending", "progressing true unhealthy: crash",
			deployment.TargetCount{Current: 1, Failed: 1, Total: 2}, deployment.TargetCount{Current: 1, Failed: 1, Total: 2}},
		"failed cluster past the deadline": {past, []deployment.Report{failed, at("b", "c2")},
			"1 0 0 1 failure", "failed false unhealthy for longer than 1m: crash",
			deployment.TargetCount{Current: 1, Failed: 1, Total: 2}, deployment.TargetCount{Current: 1, Failed: 1, Total: 2}},
		"failed cluster with an older tree": {before, []deployment.Report{with(failed, revision(hash("c1")))},
			"0 1 1 0 pending", "progressing true it runs an older tree of the folder: crash",
			deployment.TargetCount{Failed: 1, Total: 1}, deployment.TargetCount{Failed: 1, Total: 1}},
		"failed object beside one that progresses": {before, []deployment.Report{
			with(at("a", "c2"), health(deployment.Progressing)),
			with(failed, func(r *deployment.Report) { r.Object = "Kustomization z" })},
			"0 1 1 0 pending", "progressing true Kustomization z: unhealthy: crash",
			deployment.TargetCount{Failed: 1, Total: 1}, deployment.TargetCount{Failed: 1, Total: 1}},
		"failure that only one of two sources reports": {before, []deployment.Report{failed, with(at("a", "c2"), live)},
			"0 1 1 0 pending", "progressing true its reports contradict each other: progressing and current",
			deployment.TargetCount{Failed: 1, Total: 1}, deployment.TargetCount{Failed: 1, Total: 1}},
		"failure in a stale report": {before, []deployment.Report{with(failed, reportedAgo(2*time.Hour))},
			"0 0 0 0 pending", "stale false the report is 2h old: crash",
			deployment.TargetCount{Total: 1}, deployment.TargetCount{Total: 1}},
		"no failure": {before, []deployment.Report{web(deployment.Progressing), at("b", "c2")},
			"2 0 0 0 success", "", deployment.TargetCount{Current: 2, Total: 2}, deployment.TargetCount{Current: 2, Total: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := line("B", "A")
			b.Folders["drone"] = deployment.ExpectedFolder{Tree: "B", Targets: []string{"shop", "web"}}
			r := rules()
			r.Deadline = test.deadline
			got := evaluate(t, deployment.Input{Branch: b, Rules: r, Reports: test.reports})
			f := got.Folders["drone"]
			text := fmt.Sprintln(f.Current, f.Progressing, f.Failing, f.Failed, f.Verdict)
			if diff := cmp.Diff(test.folder+"\n", text); diff != "" {
				t.Errorf("the folder (-want +got):\n%s", diff)
			}
			problem := ""
			for _, p := range got.Problems {
				problem += fmt.Sprint(p.State, " ", p.Failing, " ", p.Message)
			}
			if diff := cmp.Diff(test.problem, problem); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]deployment.TargetCount{"shop": test.shop, "web": test.web}, got.Targets); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}
