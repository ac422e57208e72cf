package schedule

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// NamesKnown reports whether the names of all cluster types and deployment targets are known. It ignores targets of
// other environments.
func NamesKnown(f *fleet.Fleet) bool { return len(unknownNames(f)) == 0 }

// UnknownInputs returns the unknown attributes that assignments depend on, sorted: names, selectors, the labels and
// workspaces that they select by, and the values that placement reads. It ignores targets of other environments.
// Without targets, it also ignores policies.
func UnknownInputs(f *fleet.Fleet) []string {
	inputs := unknownNames(f)
	ofClusterTypes, ofTargets, preferred := selectedKeys{}, selectedKeys{}, selectedKeys{}
	workspaces := false
	for _, p := range f.Policies {
		ofClusterTypes.add(&p.ClusterTypes)
		ofTargets.add(&p.DeploymentTargets)
		if p.Placement != nil {
			ofClusterTypes.addAll(lists.Map(p.Placement.Spread, func(s placement.Spread) string { return s.Key }))
			preferred.addAll(lists.Map(p.Placement.Prefer, func(p placement.Preference) string { return p.Property }))
		}
		workspaces = workspaces || p.Workspace != ""
	}
	for _, ct := range f.ClusterTypes {
		inputs.addLabels(ct, ".labels", ct.Labels, ofClusterTypes)
		inputs.addIf(slices.ContainsFunc(ct.Taints, fleet.TaintUnknown), ct, ".taints")
		inputs.addLabels(ct, ".properties", ct.Properties, preferred)
	}
	for _, w := range f.Workloads {
		rendered := false
		for i := range w.Targets {
			if t := &w.Targets[i]; f.MayRender(t) {
				rendered = true
				inputs.addLabels(w, fmt.Sprintf(".deployment_targets[%d].labels", i), t.Labels, ofTargets)
			}
		}
		if rendered {
			inputs.addLabels(w, ".labels", w.Labels, ofTargets)
		}
	}
	targets, _ := f.DeploymentTargets()
	for _, t := range targets {
		inputs.addIf(workspaces && unknown.Is(t.Workspace), t.Workload, ", whose workspace or registration")
	}
	if len(targets) > 0 {
		for _, p := range f.Policies {
			inputs.addIf(unknown.Is(p.Workspace), p, ".deployment_target_selector.workspace")
			inputs.addIf(fleet.SelectorUnknown(&p.DeploymentTargets), p, ".deployment_target_selector")
			inputs.addIf(fleet.SelectorUnknown(&p.ClusterTypes), p, ".cluster_type_selector")
			inputs.addIf(unknown.Is(p.Name) && p.Placement.Decides(), p, ".name")
			for _, attribute := range p.PlacementUnknown() {
				inputs.addIf(true, p, attribute)
			}
		}
	}
	slices.Sort(inputs)
	return slices.Compact(inputs)
}

// unknownNames returns the unknown attributes that determine the existence and the names of cluster types and
// deployment targets.
func unknownNames(f *fleet.Fleet) (inputs unknownInputs) {
	if f.Incomplete {
		inputs = append(inputs, "manifests")
	}
	if unknown.Is(f.Environment) {
		inputs = append(inputs, "environment")
	}
	for _, ct := range f.ClusterTypes {
		inputs.addIf(unknown.Is(ct.Name), ct, ".name")
	}
	for _, w := range f.Workloads {
		for i := range w.Targets {
			t := &w.Targets[i]
			if !f.MayRender(t) {
				continue
			}
			at := fmt.Sprintf(".deployment_targets[%d]", i)
			inputs.addIf(unknown.Is(t.Name), w, at+".name")
			inputs.addIf(unknown.Is(t.Environment), w, at+".environment")
			inputs.addIf(unknown.Is(w.Name), w, ".name")
		}
	}
	return inputs
}

// unknownInputs lists unknown attributes.
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

// addLabels adds the unknown labels that a policy selects by.
func (u *unknownInputs) addLabels(o fleet.Object, attribute string, labels map[string]string, selected selectedKeys) {
	for key, value := range labels {
		switch {
		case unknown.Is(key):
			u.addIf(len(selected) > 0, o, attribute)
		case unknown.Is(value):
			u.addIf(selected[key] || selected[unknown.Text], o, fmt.Sprintf("%s[%q]", attribute, key))
		}
	}
}

// selectedKeys contains the keys of the labels that policies select by, and [unknown.Text] if one is unknown.
type selectedKeys map[string]bool

func (k selectedKeys) add(s *fleet.Selector) {
	k.addAll(slices.Collect(maps.Keys(s.MatchLabels)))
	k.addAll(lists.Map(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) string { return e.Key }))
}

func (k selectedKeys) addAll(keys []string) {
	for _, key := range keys {
		if key != "" { // a preference for balance has no property
			k[key] = true
		}
	}
}
