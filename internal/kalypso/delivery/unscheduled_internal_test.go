package delivery

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestWhyUnscheduled pins what a plan says about targets that no policy places, about policies that place no target,
// and about an empty tree.
func TestWhyUnscheduled(t *testing.T) {
	const (
		nearest = `shop-test: the nearest policy is "gold". The deployment target is not selected: label "tier" is ` +
			`"silver" and must be "gold".`
		idleTargets = `"gold": No deployment target in environment "dev" is selected; the closest is "shop-test": label ` +
			`"tier" is "silver" and must be "gold".`
		idleClusterTypes = `"gold": No cluster type is selected; the closest is "large": label "size" is "l" ` +
			`and must be "xl".`
	)
	for _, tt := range []struct {
		name     string
		change   func(*fleet.Fleet)
		reaction problem.Reaction
		problems []string // summaries
		texts    []string // parts of the problems, or of the error if the tree is empty
	}{
		{name: "placed target", change: func(f *fleet.Fleet) { f.Workloads[0].Targets[0].Labels["tier"] = "gold" },
			reaction: problem.Warn},
		{name: "policy for another label", change: func(*fleet.Fleet) {}, reaction: problem.Warn,
			problems: []string{"Deployment targets that no policy places", "Policies that place nothing"},
			texts:    []string{nearest, idleTargets}},
		{name: "empty tree, guardrail fail", change: func(*fleet.Fleet) {}, reaction: problem.Fail,
			problems: []string{"Deployment targets that no policy places", "Policies that place nothing"},
			texts:    []string{nearest}},
		{name: "empty tree, guardrail ignore", change: func(*fleet.Fleet) {}, reaction: problem.Ignore,
			texts: []string{nearest, idleTargets}},
		{name: "policy for another workspace", change: func(f *fleet.Fleet) {
			f.Policies[0].Workspace = "team-a"
			f.Workloads[0].Targets[0].Labels["tier"] = "gold"
		}, reaction: problem.Ignore, texts: []string{`workspace is missing and must be "team-a"`}},
		{name: "policy for another cluster type", change: func(f *fleet.Fleet) {
			f.Workloads[0].Targets[0].Labels["tier"] = "gold"
			f.Policies[0].ClusterTypes.MatchLabels = map[string]string{"size": "xl"}
		}, reaction: problem.Warn,
			problems: []string{"Deployment targets that no policy places", "Policies that place nothing"},
			texts:    []string{idleClusterTypes}},
		{name: "two policies, one of which selects the target", change: func(f *fleet.Fleet) {
			silver := &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: "silver"}}
			silver.DeploymentTargets.MatchLabels = map[string]string{"tier": "silver"}
			silver.ClusterTypes.MatchLabels = map[string]string{"size": "xl"}
			f.Policies = append(f.Policies, silver)
		}, reaction: problem.Warn,
			problems: []string{"Deployment targets that no policy places", "Policies that place nothing"},
			texts: []string{`shop-test: the nearest policy is "silver". No cluster type is selected; the closest is ` +
				`"large": label "size" is "l" and must be "xl".`}},
		{name: "two policies, one of which places no target", change: func(f *fleet.Fleet) {
			f.Policies = append(f.Policies, &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: "all"}})
		}, reaction: problem.Warn, problems: []string{"Policies that place nothing"}, texts: []string{idleTargets}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fleet.Fleet{
				Environment:  "dev",
				ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large", Labels: map[string]string{"size": "l"}}}},
				Policies:     []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "gold"}}},
				Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "shop"}, Targets: []fleet.Target{
					{Name: "test", Environment: "dev", Labels: map[string]string{"tier": "silver"}}}}},
				Templates: []*fleet.Template{
					{Meta: fleet.Meta{Name: "r"}, Type: fleet.TemplateReconciler, Manifests: []string{"a"}},
					{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace, Manifests: []string{"a"}}},
			}
			f.ClusterTypes[0].Reconciler, f.ClusterTypes[0].NamespaceService = "r", "n"
			f.Policies[0].DeploymentTargets.MatchLabels = map[string]string{"tier": "gold"}
			tt.change(f)
			a := &Arguments{Strategy: destination.Push, Environment: "dev", Fleet: f,
				Guardrails: Guardrails{Unscheduled: tt.reaction}}
			d, problems := Render(t.Context(), a, nil, nil, func(string, int, int) {})
			if problems.HasErrors() != (tt.reaction == problem.Fail) {
				t.Fatal(problems)
			}
			text := problems.Error()
			var summaries []string
			for _, p := range problems {
				summaries = append(summaries, p.Summary)
			}
			if strings.Join(summaries, "\n") != strings.Join(tt.problems, "\n") {
				t.Errorf("problems: %v", problems)
			}
			if d.Tree.Schedule.AssignmentCount == 0 {
				c := NewComparison(NewNextTree(d, nil, nil), nil, &Branch{})
				if err := c.checkFirstDelivery(nil); err != nil {
					t.Errorf("on an empty branch: %v", err)
				}
				c.Branch.Folders = inventory.Folders{"old": {}}
				err := c.checkFirstDelivery(nil)
				if err == nil || !strings.Contains(err.Error(), "The tree would be empty") {
					t.Fatalf("error: %v", err)
				}
				text = err.Error()
			}
			for _, want := range tt.texts {
				if !strings.Contains(text, want) {
					t.Errorf("the text does not contain %q:\n%s", want, text)
				}
			}
		})
	}
}
