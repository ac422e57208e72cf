package explain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestReasonsOfRandomFleets compares the reasons in random fleets with their selectors. The reasons must not depend on
// the order of the objects.
func TestReasonsOfRandomFleets(t *testing.T) {
	unscheduled, idle := 0, 0
	for seed := range seeds.Of(t, 100, 200) {
		f := randomFleet(rand.New(rand.NewPCG(seed, 1)))
		e, problems := engine.Explain(t.Context(), f, placement.PriorResults{})
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
		again, _ := engine.Explain(t.Context(), f, placement.PriorResults{})
		if d := cmp.Diff(text, summary(again)); d != "" {
			t.Errorf("seed %d: shuffled (-before +after):\n%s", seed, d)
		}
	}
	if !seeds.Single() && (unscheduled < 100 || idle < 100) {
		t.Errorf("the fleets have only %d unscheduled targets and %d idle policies", unscheduled, idle)
	}
}

func swap[T any](r *rand.Rand, s []T) { r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] }) }

func places(e *engine.Explanation, policy *fleet.SchedulingPolicy) bool {
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
			e := metav1.LabelSelectorRequirement{
				Key:      one("a", "b", "c"),
				Operator: metav1.LabelSelectorOperator(one("In", "NotIn", "Exists", "DoesNotExist")),
			}
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
		f.ClusterTypes = append(
			f.ClusterTypes,
			&fleet.ClusterType{
				Meta:             fleet.Meta{Name: fmt.Sprint("ct", i), Labels: labels()},
				Reconciler:       "r",
				NamespaceService: "n",
			},
		)
	}
	for i := range r.IntN(4) {
		l := labels()
		l[fleet.WorkspaceLabel] = one("1", "2", "")
		f.Workloads = append(
			f.Workloads,
			&fleet.Workload{Meta: fleet.Meta{Name: fmt.Sprint("w", i), Labels: l}, Targets: []fleet.Target{
				{Name: "x", Environment: "dev", Labels: labels()}, {Name: "y", Environment: one("dev", "stage"), Labels: labels()},
			}},
		)
	}
	for i := range r.IntN(5) {
		f.Policies = append(f.Policies, &fleet.SchedulingPolicy{
			Meta: fleet.Meta{
				Name: fmt.Sprint("p", i),
			},
			Workspace:         one("", "", "1", "3"),
			DeploymentTargets: selector(),
			ClusterTypes:      selector(),
		})
	}
	return f
}
