package schedule

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// AssignmentsKnown reports whether all values that the assignments, their labels and workspaces depend on are known.
func AssignmentsKnown(f *fleet.Fleet) bool { return len(UnknownInputs(f)) == 0 }

// UnknownInputs returns the attributes that the assignments depend on and that are not known yet, sorted. Targets of
// other environments do not count, nor do labels of cluster types that nothing selects by. Without targets, policies do
// not count either.
func UnknownInputs(f *fleet.Fleet) []string {
	var inputs unknownInputs
	if f.Incomplete {
		inputs = append(inputs, "manifests")
	}
	if fleet.IsUnknown(f.Environment) {
		inputs = append(inputs, "environment")
	}
	selected := selectedLabelsOf(f)
	for _, ct := range f.ClusterTypes {
		inputs.addIf(fleet.IsUnknown(ct.Name), ct, ".name")
		inputs.addLabels(ct, ".labels", ct.Labels, selected.contains)
	}
	all := func(string) bool { return true }
	for _, w := range f.Workloads {
		rendered := false
		for i := range w.Targets {
			t := &w.Targets[i]
			if !f.MayRender(t) {
				continue
			}
			rendered = true
			at := fmt.Sprintf(".deployment_targets[%d]", i)
			inputs.addIf(fleet.IsUnknown(t.Name), w, at+".name")
			inputs.addIf(fleet.IsUnknown(t.Environment), w, at+".environment")
			inputs.addLabels(w, at+".labels", t.Labels, all)
		}
		if rendered {
			inputs.addIf(fleet.IsUnknown(w.Name), w, ".name")
			inputs.addLabels(w, ".labels", w.Labels, all)
		}
	}
	targets, _ := f.DeploymentTargets()
	for _, t := range targets {
		inputs.addIf(fleet.IsUnknown(t.Workspace), t.Workload, ", whose workspace or registration")
	}
	if len(targets) > 0 {
		for _, p := range f.Policies {
			inputs.addIf(fleet.IsUnknown(p.Workspace), p, ".deployment_target_selector.workspace")
			inputs.addIf(selectorUnknown(&p.DeploymentTargets), p, ".deployment_target_selector")
			inputs.addIf(selectorUnknown(&p.ClusterTypes), p, ".cluster_type_selector")
		}
	}
	slices.Sort(inputs)
	return slices.Compact(inputs)
}

// unknownInputs are attributes that are not known.
type unknownInputs []string

func (u *unknownInputs) addIf(unknown bool, o fleet.Object, attribute string) {
	if !unknown {
		return
	}
	at := o.Metadata().Origin.String()
	if at == "" {
		at = fmt.Sprintf("%s %q", o.Kind(), o.Metadata().Name)
	}
	*u = append(*u, at+attribute)
}

// addLabels adds the labels that are not known and that something looks at.
func (u *unknownInputs) addLabels(
	o fleet.Object, attribute string, labels map[string]string, lookedAt func(key string) bool,
) {
	for key, value := range labels {
		switch {
		case fleet.IsUnknown(key):
			u.addIf(lookedAt(key), o, attribute)
		case fleet.IsUnknown(value):
			u.addIf(lookedAt(key), o, fmt.Sprintf("%s[%q]", attribute, key))
		}
	}
}

// selectedLabels are the labels of cluster types that something looks at.
type selectedLabels struct {
	keys  map[string]bool
	paths []string // the keys of azure-app-configs, which have labels in them
}

func selectedLabelsOf(f *fleet.Fleet) selectedLabels {
	s := selectedLabels{keys: map[string]bool{}}
	for _, p := range f.Policies {
		for key := range p.ClusterTypes.MatchLabels {
			s.keys[key] = true
		}
		for _, e := range p.ClusterTypes.MatchExpressions {
			s.keys[e.Key] = true
		}
	}
	for _, c := range f.Configs {
		for key := range c.Labels {
			s.keys[key] = true
		}
		for key := range c.Data {
			if c.IsAzureAppConfig() || fleet.IsUnknown(c.Name) {
				s.paths = append(s.paths, key)
			}
		}
	}
	for _, schema := range f.ConfigSchemas {
		for key := range schema.Labels {
			s.keys[key] = true
		}
	}
	delete(s.keys, fleet.PlatformConfigLabel)
	return s
}

// contains reports whether something looks at the label; of labels that are not known, whether it looks at any.
func (s selectedLabels) contains(key string) bool {
	if fleet.IsUnknown(key) || s.keys[fleet.Unknown] {
		return len(s.keys)+len(s.paths) > 0
	}
	return s.keys[key] || slices.ContainsFunc(s.paths, func(path string) bool {
		return fleet.IsUnknown(path) || strings.Contains(path, key+".")
	})
}

func selectorUnknown(s *fleet.Selector) bool {
	return fleet.AnyUnknown(s.MatchLabels) ||
		slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
			return fleet.IsUnknown(r.Key) || fleet.IsUnknown(string(r.Operator)) ||
				slices.ContainsFunc(r.Values, fleet.IsUnknown)
		})
}
