package explain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
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
	return fmt.Sprintf("---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %q, labels: {%s}}\nspec: {%s}\n", kind, name, labels, spec)
}

func clusterType(name, labels string) string {
	return document("ClusterType", name, labels, `reconciler: r, namespaceService: "n"`)
}

// target is a workload "app" with a target "test".
func target(workspace, labels string) string {
	return document("Workload", "app", "workspace: '"+workspace+"'", "deploymentTargets: [{name: test, environment: dev, labels: {"+labels+"}}]")
}

func schedulingPolicy(name, targets, clusterTypes string) string {
	return document("SchedulingPolicy", name, "", fmt.Sprintf("deploymentTargetSelector: {%s}, clusterTypeSelector: {%s}", targets, clusterTypes))
}

func read(t testing.TB, texts ...string) *fleet.Fleet {
	t.Helper()
	f := &fleet.Fleet{Environment: "dev"}
	objects, _, problems := fleet.ParseYAML(fleet.Origin{Attribute: "manifests", Key: "fleet.yaml"}, templates+strings.Join(texts, ""))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	f.Add(objects...)
	return f
}

// TestReasons pins what is said of the target "app-test" and of policies that place nothing.
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
			"placed",
			[]string{large, target("", ""), schedulingPolicy("all", none, none)},
			nil, nil,
		},
		{
			"label of another value",
			[]string{large, target("", "tier: silver"), schedulingPolicy("p", "labelSelector: {matchLabels: {tier: gold}}", none)},
			[]string{`p: The deployment target is not selected: label "tier" is "silver" and must be "gold".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": label "tier" is "silver" and must be "gold".`},
		},
		{
			"missing label and another workspace",
			[]string{large, target("team-b", ""), schedulingPolicy("p", "workspace: team-a, labelSelector: {matchLabels: {tier: gold}}", none)},
			[]string{`p: The deployment target is not selected: workspace is "team-b" and must be "team-a"; label "tier" is missing and must be "gold".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is "team-b" and must be "team-a"; label "tier" is missing and must be "gold".`},
		},
		{
			"no workspace",
			[]string{large, target("", ""), schedulingPolicy("p", "workspace: team-a", none)},
			[]string{`p: The deployment target is not selected: workspace is missing and must be "team-a".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is missing and must be "team-a".`},
		},
		{
			"workspace as a label",
			[]string{large, target("team-b", ""), schedulingPolicy("p", "labelSelector: {matchLabels: {workspace: team-a, a: b}}", none)},
			[]string{`p: The deployment target is not selected: workspace is "team-b" and must be "team-a"; label "a" is missing and must be "b".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is "team-b" and must be "team-a"; label "a" is missing and must be "b".`},
		},
		{
			"expressions, those that hold left out",
			[]string{large, target("", "tier: silver, edge: 'true', empty: ''"), schedulingPolicy("p", `labelSelector: {matchExpressions: [
				{key: tier, operator: In, values: [platinum, gold]}, {key: tier, operator: NotIn, values: [silver, bronze]}, {key: gpu, operator: Exists},
				{key: edge, operator: DoesNotExist}, {key: edge, operator: Exists}, {key: gpu, operator: DoesNotExist}, {key: empty, operator: In, values: [a]},
				{key: tier, operator: In, values: [silver]}, {key: none, operator: NotIn, values: [a]}]}`, none)},
			[]string{`p: The deployment target is not selected: label "edge" is "true" and must be absent; label "empty" is "" and must be "a"; ` +
				`label "gpu" is missing and must be present; label "tier" is "silver" and must be one of "gold", "platinum"; label "tier" is "silver" and must be none of "bronze", "silver".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": label "edge" is "true" and must be absent; label "empty" is "" and must be "a"; ` +
				`label "gpu" is missing and must be present; label "tier" is "silver" and must be one of "gold", "platinum"; label "tier" is "silver" and must be none of "bronze", "silver".`},
		},
		{
			"no cluster type selected: the nearest, of two the first",
			[]string{clusterType("a", ""), large, clusterType("tiny", "region: west, size: small"), clusterType("small", "region: west, size: small"), target("", ""),
				schedulingPolicy("p", none, "labelSelector: {matchLabels: {region: east, size: small}}")},
			[]string{`p: No cluster type is selected; the closest is "small": label "region" is "west" and must be "east".`},
			[]string{`p: No cluster type is selected; the closest is "small": label "region" is "west" and must be "east".`},
		},
		{
			"neither side",
			[]string{large, target("", ""), schedulingPolicy("p", "workspace: team-a", region("east"))},
			[]string{`p: The deployment target is not selected: workspace is missing and must be "team-a". No cluster type is selected; the closest is "large": label "region" is "west" and must be "east".`},
			[]string{`p: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is missing and must be "team-a". No cluster type is selected; the closest is "large": label "region" is "west" and must be "east".`},
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
			"several policies, the nearest first",
			[]string{large, target("team-b", "tier: silver"),
				schedulingPolicy("a", "workspace: team-a, labelSelector: {matchLabels: {tier: gold}}", none),
				schedulingPolicy("b", "labelSelector: {matchLabels: {tier: gold}}", none),
				schedulingPolicy("c", "workspace: team-a", region("east")),
				schedulingPolicy("d", none, region("east"))},
			[]string{
				`b: The deployment target is not selected: label "tier" is "silver" and must be "gold".`,
				`d: No cluster type is selected; the closest is "large": label "region" is "west" and must be "east".`,
				`a: The deployment target is not selected: workspace is "team-b" and must be "team-a"; label "tier" is "silver" and must be "gold".`,
				`c: The deployment target is not selected: workspace is "team-b" and must be "team-a". No cluster type is selected; the closest is "large": label "region" is "west" and must be "east".`,
			},
			[]string{
				`a: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is "team-b" and must be "team-a"; label "tier" is "silver" and must be "gold".`,
				`b: No deployment target in environment "dev" is selected; the closest is "app-test": label "tier" is "silver" and must be "gold".`,
				`c: No deployment target in environment "dev" is selected; the closest is "app-test": workspace is "team-b" and must be "team-a". No cluster type is selected; the closest is "large": label "region" is "west" and must be "east".`,
				`d: No cluster type is selected; the closest is "large": label "region" is "west" and must be "east".`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, problems := explain.New(t.Context(), read(t, tt.fleet...))
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

// TestReasonsAgreeWithTheSchedule compares the reasons in random fleets with what the selectors say, and shuffles them.
func TestReasonsAgreeWithTheSchedule(t *testing.T) {
	unscheduled, idle := 0, 0
	for seed := range uint64(200) {
		f := randomFleet(rand.New(rand.NewPCG(seed, 1)))
		e, problems := explain.New(t.Context(), f)
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		text := summary(e)
		for _, u := range e.Unscheduled {
			unscheduled++
			if len(u.Rejections) != len(f.Policies) {
				t.Errorf("seed %d: %d reasons for %d policies", seed, len(u.Rejections), len(f.Policies))
			}
			for _, r := range u.Rejections {
				matches, err := fleet.SelectorMatches(r.Policy.Workspace, &r.Policy.DeploymentTargets, u.Target.Labels)
				if err != nil {
					t.Fatal(err)
				}
				if matches != (len(r.Mismatches) == 0) || r.NoClusterTypes == selectsClusterType(t, r.Policy, f) || r.Reason == "" {
					t.Errorf("seed %d: %s on %s: %+v", seed, r.Policy.Name, u.Target.Name, r)
				}
			}
		}
		var want, got []string
		for _, p := range f.Policies {
			if !places(e, p) {
				want = append(want, p.Name)
			}
		}
		for _, i := range e.IdlePolicies {
			got = append(got, i.Policy.Name)
			if i.NoClusterTypes == selectsClusterType(t, i.Policy, f) || !i.NoClusterTypes && !i.NoDeploymentTargets {
				t.Errorf("seed %d: %+v", seed, i)
			}
		}
		idle += len(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("seed %d: policies that place nothing (-want +got):\n%s", seed, d)
		}
		r := rand.New(rand.NewPCG(seed, 2))
		swap(r, f.ClusterTypes)
		swap(r, f.Policies)
		swap(r, f.Workloads)
		again, _ := explain.New(t.Context(), f)
		if d := cmp.Diff(text, summary(again)); d != "" {
			t.Errorf("seed %d: shuffled (-before +after):\n%s", seed, d)
		}
	}
	if unscheduled < 100 || idle < 100 {
		t.Errorf("the fleets have %d unscheduled targets and %d idle policies alone", unscheduled, idle)
	}
}

func swap[T any](r *rand.Rand, s []T) { r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] }) }

func summary(e *explain.Explanation) (all []string) {
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

func places(e *explain.Explanation, policy *fleet.SchedulingPolicy) bool {
	for _, p := range e.Schedule.Placements {
		for _, a := range p.Assignments {
			if slices.Contains(a.Policies, policy) {
				return true
			}
		}
	}
	return false
}

func selectsClusterType(t *testing.T, p *fleet.SchedulingPolicy, f *fleet.Fleet) bool {
	t.Helper()
	return slices.ContainsFunc(f.ClusterTypes, func(ct *fleet.ClusterType) bool {
		matches, err := fleet.SelectorMatches("", &p.ClusterTypes, ct.Labels)
		if err != nil {
			t.Fatal(err)
		}
		return matches
	})
}

func randomFleet(r *rand.Rand) *fleet.Fleet {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	labels := func() map[string]string {
		l := map[string]string{}
		for range r.IntN(4) {
			l[one("a", "b", "c")] = one("1", "2", "")
		}
		return l
	}
	selector := func() fleet.Selector {
		s := fleet.Selector{}
		if r.IntN(2) == 0 {
			s.MatchLabels = map[string]string{one("a", "b", "workspace"): one("1", "2")}
		}
		for range r.IntN(3) {
			e := metav1.LabelSelectorRequirement{Key: one("a", "b", "c"), Operator: metav1.LabelSelectorOperator(one("In", "NotIn", "Exists", "DoesNotExist"))}
			if e.Operator == "In" || e.Operator == "NotIn" {
				e.Values = []string{one("1", "2"), one("", "3")}
			}
			s.MatchExpressions = append(s.MatchExpressions, e)
		}
		return s
	}
	f := &fleet.Fleet{Environment: "dev", Templates: []*fleet.Template{
		{Meta: fleet.Meta{Name: "r"}, Type: fleet.TemplateReconciler},
		{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace},
	}}
	for i := range r.IntN(4) {
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{Meta: fleet.Meta{Name: fmt.Sprint("ct", i), Labels: labels()}, Reconciler: "r", NamespaceService: "n"})
	}
	for i := range r.IntN(4) {
		l := labels()
		l[fleet.WorkspaceLabel] = one("1", "2", "")
		f.Workloads = append(f.Workloads, &fleet.Workload{Meta: fleet.Meta{Name: fmt.Sprint("w", i), Labels: l}, Targets: []fleet.Target{
			{Name: "x", Environment: "dev", Labels: labels()}, {Name: "y", Environment: one("dev", "stage"), Labels: labels()},
		}})
	}
	for i := range r.IntN(5) {
		f.Policies = append(f.Policies, &fleet.SchedulingPolicy{
			Meta: fleet.Meta{Name: fmt.Sprint("p", i)}, Workspace: one("", "", "1", "3"), DeploymentTargets: selector(), ClusterTypes: selector(),
		})
	}
	return f
}

// TestReasonsAreBounded schedules fleets of which nothing is placed: of many reasons, each target has the nearest.
func TestReasonsAreBounded(t *testing.T) {
	const policies = 30
	for targets, want := range map[int]int{600: policies, explain.MaxRejections / policies: policies, 1000: 20, explain.MaxRejections + 1: 1} {
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
		e, problems := explain.New(t.Context(), f)
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		if len(e.Unscheduled) != targets {
			t.Errorf("%d of %d targets are unscheduled", len(e.Unscheduled), targets)
		}
		for _, u := range e.Unscheduled {
			if len(u.Rejections) != want || u.Rejections[0].Policy.Name != "p29" {
				t.Fatalf("%d targets: %d reasons, want %d; the first is that of %s", targets, len(u.Rejections), want, u.Rejections[0].Policy.Name)
			}
		}
	}
}
