package schedule

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// AssignmentsKnown reports whether all values that the assignments, their labels and workspaces depend on are known.
// Targets of other environments do not count. Without targets, policies do not count either.
func AssignmentsKnown(f *fleet.Fleet) bool {
	if f.Incomplete || fleet.IsUnknown(f.Environment) {
		return false
	}
	for _, ct := range f.ClusterTypes {
		if fleet.IsUnknown(ct.Name) || fleet.AnyUnknown(ct.Labels) {
			return false
		}
	}
	for _, w := range f.Workloads {
		for i := range w.Targets {
			if t := &w.Targets[i]; f.MayRender(t) &&
				(targetUnknown(t) || fleet.IsUnknown(w.Name) || fleet.AnyUnknown(w.Labels)) {
				return false
			}
		}
	}
	targets, _ := f.DeploymentTargets()
	for _, t := range targets {
		if fleet.IsUnknown(t.Workspace) {
			return false
		}
	}
	return len(targets) == 0 || !slices.ContainsFunc(f.Policies, policyUnknown)
}

func targetUnknown(t *fleet.Target) bool {
	return fleet.IsUnknown(t.Name) || fleet.IsUnknown(t.Environment) || fleet.AnyUnknown(t.Labels)
}

func policyUnknown(p *fleet.SchedulingPolicy) bool {
	return fleet.IsUnknown(p.Workspace) || selectorUnknown(&p.DeploymentTargets) || selectorUnknown(&p.ClusterTypes)
}

func selectorUnknown(s *fleet.Selector) bool {
	return fleet.AnyUnknown(s.MatchLabels) ||
		slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
			return fleet.IsUnknown(r.Key) || fleet.IsUnknown(string(r.Operator)) ||
				slices.ContainsFunc(r.Values, fleet.IsUnknown)
		})
}
