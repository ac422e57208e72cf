package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

const templates = `
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: r}
spec: {type: reconciler, manifests: ["r: {{ .DeploymentTargetName }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: "n"}
spec: {type: namespace, manifests: ["n: {{ .Namespace }}"]}
`

func document(kind, name, labels, spec string) string {
	return fmt.Sprintf("---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %q, labels: "+
		"{%s}}\nspec: {%s}\n", kind, name, labels, spec)
}

func clusterType(name, labels string) string {
	return document("ClusterType", name, labels, `reconciler: r, namespaceService: "n"`)
}

// target returns a workload "app" with a target "test".
func target(workspace, labels string) string {
	return document("Workload", "app", "workspace: '"+workspace+"'",
		"deploymentTargets: [{name: test, environment: dev, labels: {"+labels+"}}]")
}

func schedulingPolicy(name, targets, clusterTypes string) string {
	return document(
		"SchedulingPolicy",
		name,
		"",
		fmt.Sprintf("deploymentTargetSelector: {%s}, clusterTypeSelector: {%s}", targets, clusterTypes),
	)
}

func read(t testing.TB, texts ...string) *fleet.Fleet {
	t.Helper()
	f := &fleet.Fleet{Environment: "dev"}
	objects, _, problems := fleetyaml.Parse(
		t.Context(), problem.Origin{Attribute: "manifests", Key: "fleet.yaml"},
		templates+strings.Join(texts, ""),
	)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	f.Add(objects...)
	return f
}

// TestReasons checks the reasons why the target "app-test" is not placed, and why policies place nothing.
func TestReasons(t *testing.T) {
	const none = ""
	region := func(value string) string { return "labelSelector: {matchLabels: {region: " + value + "}}" }
	large := clusterType("large", "region: west, size: large")
	tests := []struct {
		name              string
		fleet             []string
		unscheduled, idle []string
	}{
		{
			"a target that is placed",
			[]string{large, target("", ""), schedulingPolicy("all", none, none)},
			nil, nil,
		},
		{
			"label of another value",
			[]string{
				large,
				target("", "tier: silver"),
				schedulingPolicy("p", "labelSelector: {matchLabels: {tier: gold}}", none),
			},
			[]string{`p: The deployment target is not selected: label "tier" is "silver" and must be "gold".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": label "tier" is ` +
				`"silver" and must be "gold".`},
		},
		{
			"missing label and another workspace",
			[]string{large, target("team-b", ""), schedulingPolicy("p", "workspace: team-a, labelSelector: {matchLabels: "+
				"{tier: gold}}", none)},
			[]string{`p: The deployment target is not selected: workspace is "team-b" and must be "team-a"; label "tier" is ` +
				`missing and must be "gold".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is ` +
				`"team-b" and must be "team-a"; label "tier" is missing and must be "gold".`},
		},
		{
			"no workspace",
			[]string{large, target("", ""), schedulingPolicy("p", "workspace: team-a", none)},
			[]string{`p: The deployment target is not selected: workspace is missing and must be "team-a".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is ` +
				`missing and must be "team-a".`},
		},
		{
			"workspace as a label",
			[]string{large, target("team-b", ""), schedulingPolicy("p", "labelSelector: {matchLabels: {workspace: team-a, a: "+
				"b}}", none)},
			[]string{`p: The deployment target is not selected: workspace is "team-b" and must be "team-a"; label "a" is ` +
				`missing and must be "b".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is ` +
				`"team-b" and must be "team-a"; label "a" is missing and must be "b".`},
		},
		{
			"expressions, some of which match",
			[]string{
				large,
				target("", "tier: silver, edge: 'true', empty: ''"),
				schedulingPolicy("p", `labelSelector: {matchExpressions: [
				{key: tier, operator: In, values: [platinum, gold]}, {key: tier, operator: NotIn, values: [silver, bronze]},
				{key: gpu, operator: Exists},
				{key: edge, operator: DoesNotExist}, {key: edge, operator: Exists}, {key: gpu, operator: DoesNotExist},
				{key: empty, operator: In, values: [a]},
				{key: tier, operator: In, values: [silver]}, {key: none, operator: NotIn, values: [a]}]}`, none),
			},
			[]string{`p: The deployment target is not selected: label "edge" is "true" and must be absent; label "empty" is ` +
				`"" and must be "a"; ` +
				`label "gpu" is missing and must be present; label "tier" is "silver" and must be one of "gold", "platinum"; ` +
				`label "tier" is "silver" and must be none of "bronze", "silver".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": label "edge" is ` +
				`"true" and must be absent; label "empty" is "" and must be "a"; ` +
				`label "gpu" is missing and must be present; label "tier" is "silver" and must be one of "gold", "platinum"; ` +
				`label "tier" is "silver" and must be none of "bronze", "silver".`},
		},
		{
			"no cluster type selected, two equally near ones",
			[]string{
				clusterType("a", ""),
				large,
				clusterType("tiny", "region: west, size: small"),
				clusterType("small", "region: west, size: small"),
				target("", ""),
				schedulingPolicy("p", none, "labelSelector: {matchLabels: {region: east, size: small}}"),
			},
			[]string{`p: No cluster type is selected; the closest is "small": label "region" is "west" and must be "east".`},
			[]string{`p: No cluster type is selected; the closest is "small": label "region" is "west" and must be "east".`},
		},
		{
			"neither the target nor a cluster type selected",
			[]string{large, target("", ""), schedulingPolicy("p", "workspace: team-a", region("east"))},
			[]string{`p: The deployment target is not selected: workspace is missing and must be "team-a". No cluster type is ` +
				`selected; the closest is "large": label "region" is "west" and must be "east".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is ` +
				`missing and must be "team-a". No cluster type is selected; the closest is "large": label "region" is "west" and ` +
				`must be "east".`},
		},
		{
			"no cluster types and no targets",
			[]string{schedulingPolicy("p", none, none)},
			nil,
			[]string{`p: There is no deployment target in environment "dev". There is no cluster type.`},
		},
		{
			"no policies",
			[]string{large, target("", "")},
			[]string{"there is no policy"}, nil,
		},
		{
			"several policies, one of which selects the target",
			[]string{large, target("team-b", "tier: silver"),
				schedulingPolicy("a", "workspace: team-a, labelSelector: {matchLabels: {tier: gold}}", none),
				schedulingPolicy("b", "labelSelector: {matchLabels: {tier: gold}}", none),
				schedulingPolicy("c", "workspace: team-a", region("east")),
				schedulingPolicy("d", none, "labelSelector: {matchLabels: {region: east, size: xl}}")},
			[]string{
				`d: No cluster type is selected; the closest is "large": label "region" is "west" and must be "east"; label ` +
					`"size" is "large" and must be "xl".`,
				`b: The deployment target is not selected: label "tier" is "silver" and must be "gold".`,
				`c: The deployment target is not selected: workspace is "team-b" and must be "team-a". No cluster type is ` +
					`selected; the closest is "large": label "region" is "west" and must be "east".`,
				`a: The deployment target is not selected: workspace is "team-b" and must be "team-a"; label "tier" is "silver" ` +
					`and must be "gold".`,
			},
			[]string{
				`a: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is "team-b" and ` +
					`must be "team-a"; label "tier" is "silver" and must be "gold".`,
				`b: No deployment target in environment "dev" is selected; the closest is "app-test": label "tier" is "silver" ` +
					`and must be "gold".`,
				`c: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is "team-b" and ` +
					`must be "team-a". No cluster type is selected; the closest is "large": label "region" is "west" and must be ` +
					`"east".`,
				`d: No cluster type is selected; the closest is "large": label "region" is "west" and must be "east"; label ` +
					`"size" is "large" and must be "xl".`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, problems := engine.Explain(t.Context(), read(t, tt.fleet...), placement.PriorResults{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			var unscheduled, idle []string
			for _, u := range e.Unscheduled {
				if u.Target.Name != "app-test" {
					t.Errorf("%s is unscheduled", u.Target.Name)
				}
				if len(u.Rejections) == 0 {
					unscheduled = append(unscheduled, "there is no policy")
				}
				for _, r := range u.Rejections {
					unscheduled = append(unscheduled, r.Policy.Name+": "+r.Reason)
				}
			}
			for _, i := range e.IdlePolicies {
				idle = append(idle, i.Policy.Name+": "+i.Reason)
			}
			if d := cmp.Diff(tt.unscheduled, unscheduled); d != "" {
				t.Errorf("unscheduled (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.idle, idle); d != "" {
				t.Errorf("idle (-want +got):\n%s", d)
			}
		})
	}
}

func summary(e *engine.Explanation) (all []string) {
	for _, u := range e.Unscheduled {
		for _, r := range u.Rejections {
			all = append(all, fmt.Sprint(u.Target.Name, r.Policy.Name, r.Mismatches, r.Reason))
		}
	}
	for _, i := range e.IdlePolicies {
		all = append(all, fmt.Sprint(i.Policy.Name, i.NearestDeploymentTarget, i.NearestClusterType, i.Reason))
	}
	return all
}

// TestReasonsAreBounded explains fleets in which nothing is placed. If there are many targets, each lists only the
// nearest policies.
func TestReasonsAreBounded(t *testing.T) {
	const policies = 30
	for targets, want := range map[int]int{
		600: policies, explain.MaxRejections / policies: policies, 1000: 20, explain.MaxRejections + 1: 1,
	} {
		f := read(t)
		w := &fleet.Workload{Meta: fleet.Meta{Name: "app"}}
		for i := range targets {
			w.Targets = append(w.Targets, fleet.Target{Name: fmt.Sprint("t", i), Environment: "dev"})
		}
		f.Workloads = append(f.Workloads, w)
		f.Limits.TargetsPerWorkload = targets
		for i := range policies {
			p := &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: fmt.Sprintf("p%02d", i)}}
			p.DeploymentTargets.MatchLabels = map[string]string{"a": "b"}
			if i == policies-1 {
				p.DeploymentTargets = fleet.Selector{} // the nearest
			}
			f.Policies = append(f.Policies, p)
		}
		e, problems := engine.Explain(t.Context(), f, placement.PriorResults{})
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		if len(e.Unscheduled) != targets {
			t.Errorf("%d of %d targets are unscheduled", len(e.Unscheduled), targets)
		}
		for _, u := range e.Unscheduled {
			if len(u.Rejections) != want || u.Rejections[0].Policy.Name != "p29" {
				t.Fatalf(
					"%d targets: %d reasons, want %d; the first is for the policy %s",
					targets,
					len(u.Rejections),
					want,
					u.Rejections[0].Policy.Name,
				)
			}
		}
	}
}
