package deployment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The commits of a GitOps branch become deployments: a first deployment, a promotion, its rollback, and a wave. The
// commits of gitserver all have the time 2023-11-14T22:13:20Z.
func TestAccDeploymentHistory(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccDeploymentHistory")
	fake := githubfake.New(t)
	controlPlane, gitops := fake.AddRepo(t, "acme/control-plane"), gitserver.InitBare(t)
	var promoted []string
	for i := range 3 {
		promoted = append(promoted, gitserver.Seed(t, controlPlane.Path, "main", map[string]string{"a": fmt.Sprint(i)}))
	}
	var commits []string
	deliver := func(content, commit string, more map[string]any) {
		record := map[string]any{"version": 1, "environment": "prod", "cluster_types": []string{"large"},
			"promoted_commit": commit}
		for name, value := range more {
			record[name] = value
		}
		commits = append(commits, gitserver.Seed(t, gitops, "prod", map[string]string{
			"large/shop-web/namespace.yaml": content, acc.RecordPath: acc.ToJSON(t, record)}))
	}
	deliver("1", promoted[0], nil)
	deliver("2", promoted[2], map[string]any{"promotion": map[string]any{"decision": "promote", "reason": "ci is green"}})
	deliver("1", promoted[0], nil)
	deliver("3", promoted[0], map[string]any{"rollout": map[string]any{"target_tree_hash": "t", "stage": "canary"}})
	set := func(arguments map[string]any, controlPlane string) {
		t.Helper()
		r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"gitops": "file://" + gitops,
			"github":        map[string]any{"base_url": fake.URL, "token": fake.Token},
			"control_plane": controlPlane, "arguments": arguments}))
	}
	window := map[string]any{"since": "24h", "until": "2023-11-15T22:00:00Z"}
	set(window, controlPlane.URL)
	r.Apply()
	var got map[string]any
	r.Output("history", &got)

	const at = "2023-11-14T22:13:20Z"
	deployment := func(i int, changes map[string]any) map[string]any {
		all := map[string]any{
			"commit": commits[i], "first_commit": commits[i], "started_at": at, "delivered_at": at,
			"author": "Somebody <somebody@acme.io>", "promoted_commit": promoted[0], "previous_commit": promoted[0],
			"compare_url": nil, "commits": 0.0, "folders": []any{"large"}, "reason": "Seed", "lead_time_seconds": nil,
			"running_at": nil, "failed": false, "failed_at": nil, "restored_at": nil, "decided_by": nil, "changes": []any{},
		}
		for name, value := range changes {
			all[name] = value
		}
		return all
	}
	compare := func(from, to int) string {
		return fmt.Sprintf("%s/acme/control-plane/compare/%s...%s", fake.URL, promoted[from], promoted[to])
	}
	want := []any{
		deployment(3, map[string]any{"kind": "change", "delivered_at": nil}),
		deployment(2, map[string]any{"kind": "rollback", "previous_commit": promoted[2], "compare_url": compare(2, 0)}),
		deployment(1, map[string]any{"kind": "promotion", "promoted_commit": promoted[2], "compare_url": compare(0, 2),
			"commits": 2.0, "reason": "ci is green", "lead_time_seconds": 0.0, "failed": true, "failed_at": at,
			"restored_at": at}),
		deployment(0, map[string]any{"kind": "first", "previous_commit": nil}),
	}
	if diff := cmp.Diff(want, got["deployments"]); diff != "" {
		t.Errorf("deployments (-want +got)\n%s", diff)
	}
	metrics := map[string]any{"deployments": 3.0, "deployments_per_day": 3.0, "lead_time_seconds": 0.0,
		"change_failure_rate": 1.0 / 3, "time_to_restore_seconds": 0.0}
	if diff := cmp.Diff(metrics, got["metrics"]); diff != "" {
		t.Errorf("metrics (-want +got)\n%s", diff)
	}
	summary, _ := got["summary"].(string)
	if got["environment"] != "prod" || got["complete"] != true || !strings.Contains(summary, "33.3 %") {
		t.Errorf("environment %v, complete %v, summary %s", got["environment"], got["complete"], summary)
	}
	r.ExpectEmptyPlan()

	// The limit does not apply to the metrics. Without the control plane, the number of promoted commits is unknown.
	window["limit"] = 1
	set(window, "")
	r.Apply()
	r.Output("history", &got)
	all, _ := got["deployments"].([]any)
	if diff := cmp.Diff([]any{deployment(3, map[string]any{"kind": "change", "delivered_at": nil, "commits": nil})},
		all); diff != "" {
		t.Errorf("deployments with a limit (-want +got)\n%s", diff)
	}
	delete(metrics, "lead_time_seconds")
	seen, _ := got["metrics"].(map[string]any)
	delete(seen, "lead_time_seconds")
	if diff := cmp.Diff(metrics, seen); diff != "" {
		t.Errorf("metrics with a limit (-want +got)\n%s", diff)
	}

	// Nothing was delivered in the default window, the last 30 days.
	set(map[string]any{}, controlPlane.URL)
	r.Apply()
	r.Output("history", &got)
	if all, _ := got["deployments"].([]any); len(all) != 0 || got["environment"] != "prod" {
		t.Errorf("%d deployments in the last 30 days of %v", len(all), got["environment"])
	}
	for _, invalid := range []struct {
		arguments map[string]any
		says      []string
	}{
		{map[string]any{"since": "soon"}, []string{"Invalid time or duration", "neither a time"}},
		{map[string]any{"until": "yesterday"}, []string{"Invalid time", "is not a time such as"}},
		{map[string]any{"limit": 0}, []string{"between 1 and 1000"}},
		{map[string]any{"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, []string{"Empty time window"}},
		{map[string]any{"since": "2999-01-02T00:00:00Z"}, []string{"Empty time window"}},
	} {
		set(invalid.arguments, "")
		r.ExpectError(invalid.says, "plan")
	}
	set(window, controlPlane.URL+"-gone")
	r.ExpectError([]string{"The control plane can't be read"}, "plan")
}
