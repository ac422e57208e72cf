package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// checkTaints checks the taints of a cluster type, and that its properties are quantities.
func (ct *ClusterType) checkTaints(c checker) {
	for i, taint := range ct.Taints {
		at := c.attr("taints").index(i)
		at.attr("key").taintKey(taint.Key)
		at.attr("value").labelValue(taint.Value, fmt.Sprintf("Invalid value of taint %q", taint.Key))
		at.attr("effect").oneOf("effect", taint.Effect, placement.Effects)
	}
	for _, name := range slices.Sorted(maps.Keys(ct.Properties)) {
		if unknown.Is(name) {
			continue
		}
		at := c.attr("properties").key(name)
		at.refuse("Invalid property name", name, validation.IsQualifiedName(name))
		if text := ct.Properties[name]; !unknown.Is(text) {
			if _, err := resource.ParseQuantity(text); err != nil {
				at.add("Invalid quantity", fmt.Sprintf("The property %q is %q. A property is a Kubernetes quantity: a number with "+
					"a suffix, such as 64, 500m or 256Gi.", name, text))
			}
		}
	}
}

func (c checker) taintKey(key string) {
	switch {
	case unknown.Is(key):
	case key == "":
		c.add("Missing key", "The taint has no key.")
	default:
		c.refuse("Invalid taint key", key, validation.IsQualifiedName(key))
	}
}

// oneOf reports a value that is not set, or is not in the list.
func (c checker) oneOf(name, value string, allowed []string) {
	switch {
	case unknown.Is(value) || slices.Contains(allowed, value):
	case value == "":
		c.add("Missing "+name, fmt.Sprintf("%s is not set. Set it to one of %s.", name, strings.Join(allowed, ", ")))
	default:
		c.add("Invalid "+name, fmt.Sprintf("%q is not one of %s.", value, strings.Join(allowed, ", ")))
	}
}

// checkPlacement checks the placement of a policy by itself.
func (p *SchedulingPolicy) checkPlacement(c checker) {
	s := p.Placement
	if s == nil {
		return
	}
	if s.Number != nil && *s.Number < 1 && *s.Number != unknown.Number {
		c.attr("number_of_cluster_types").add("Invalid number of cluster types",
			fmt.Sprintf("%s is %d. It must be at least 1. Remove it to place on all cluster types that fit.",
				p.field("number_of_cluster_types"), *s.Number))
	}
	for i, name := range s.Names {
		if name == "" {
			c.attr("names").index(i).add("Missing name", "The name of a cluster type is empty.")
		}
	}
	for i, t := range s.Tolerations {
		c.attr("tolerations").index(i).toleration(t)
	}
	for i, preference := range s.Prefer {
		c.attr("prefer").index(i).preference(preference)
	}
	first := map[string]bool{}
	for i, spread := range s.Spread {
		at := c.attr("spread").index(i)
		p.checkSpread(spread, at)
		if first[spread.Key] && spread.Key != "" && !unknown.Is(spread.Key) {
			at.attr("key").add("Duplicate spread key",
				fmt.Sprintf("The label %q has two spreads. Remove one of them.", spread.Key))
		}
		first[spread.Key] = true
	}
}

func (c checker) toleration(t placement.Toleration) {
	if t.Operator != "" {
		c.attr("operator").oneOf("operator", t.Operator, placement.Operators)
	}
	if t.Effect != "" {
		c.attr("effect").oneOf("effect", t.Effect, placement.Effects)
	}
	if slices.ContainsFunc([]string{t.Key, t.Operator, t.Value}, unknown.Is) {
		return
	}
	switch {
	case t.Key == "" && t.Operator != placement.Exists:
		c.attr("key").add("Toleration without a key", "A toleration without a key tolerates all taints, and needs the "+
			"operator Exists. Set the key, or operator = \"Exists\".")
	case t.Key != "":
		c.attr("key").taintKey(t.Key)
	}
	value := c.attr("value")
	if t.Operator == placement.Exists && t.Value != "" {
		value.add("Toleration with a value", "The operator Exists tolerates all values. Remove the value, or use Equal.")
	}
	value.labelValue(t.Value, "Invalid value of a toleration")
}

func (c checker) preference(p placement.Preference) {
	if (p.Weight < placement.MinWeight || p.Weight > placement.MaxWeight || p.Weight == 0) && p.Weight != unknown.Number {
		c.attr("weight").add("Invalid weight", fmt.Sprintf("The weight is %d. It must be from %d to %d, and not 0.",
			p.Weight, placement.MinWeight, placement.MaxWeight))
	}
	switch {
	case unknown.Is(p.Property):
	case p.Property == "" && !p.Balance:
		c.add("Preference without a property", "Set property, or balance = true.")
	case p.Property != "" && p.Balance:
		c.attr("balance").add("Preference with property and balance",
			fmt.Sprintf("property is %q, but balance is true. Give each an element of its own.", p.Property))
	case p.Property != "":
		c.attr("property").refuse("Invalid property name", p.Property, validation.IsQualifiedName(p.Property))
	}
}

func (p *SchedulingPolicy) checkSpread(s placement.Spread, c checker) {
	switch {
	case s.Key == "":
		c.attr("key").add("Missing key", "The spread has no key. Set key to the label over whose values the placement "+
			"spreads.")
	case !unknown.Is(s.Key):
		c.attr("key").labelKey(s.Key)
	}
	if s.MaxSkew < 1 && s.MaxSkew != unknown.Number {
		c.attr("max_skew").add("Invalid maximum skew",
			fmt.Sprintf("%s is %d. It must be at least 1.", p.field("max_skew"), s.MaxSkew))
	}
	if s.WhenUnsatisfiable != "" {
		c.attr("when_unsatisfiable").oneOf(p.field("when_unsatisfiable"), s.WhenUnsatisfiable, placement.Unsatisfiables)
	}
}

// checkPlacements reports names and spread keys in placements that no cluster type has, and warns of preferred
// properties that no cluster type has.
func (f *Fleet) checkPlacements() (ps problem.Problems) {
	if f.Incomplete || slices.ContainsFunc(f.ClusterTypes, (*ClusterType).unnamed) {
		return nil
	}
	lacking := func(name string, has func(*ClusterType) bool) bool {
		return name != "" && !unknown.Is(name) && len(f.ClusterTypes) > 0 && !slices.ContainsFunc(f.ClusterTypes, has)
	}
	for _, p := range f.Policies {
		if p.Placement == nil {
			continue
		}
		c := checkerOf(p)
		at := c.attr("placement")
		for i, name := range p.Placement.Names {
			if lacking(name, func(ct *ClusterType) bool { return ct.Name == name }) {
				at.attr("names").index(i).add("Unknown cluster type", fmt.Sprintf("There is no cluster type %q. Check the "+
					"spelling, or remove the name. The cluster types are:\n%s",
					name, problem.IndentedList(f.clusterTypeNames(), problem.MaxListed)))
			}
		}
		for i, s := range p.Placement.Spread {
			if lacking(s.Key, func(ct *ClusterType) bool { return mayHave(ct.Labels, s.Key) }) {
				at.attr("spread").index(i).attr("key").add("Unknown spread key",
					fmt.Sprintf("No cluster type has the label %q. Check the spelling, or set the label.", s.Key))
			}
		}
		for i, s := range p.Placement.Prefer {
			if lacking(s.Property, func(ct *ClusterType) bool { return mayHave(ct.Properties, s.Property) }) {
				at.attr("prefer").index(i).attr("property").warn("Unknown property", fmt.Sprintf("No cluster type has the "+
					"property %q, so the preference has no effect. Check the spelling, or set the property.", s.Property))
			}
		}
		ps = append(ps, c.problems()...)
	}
	return ps
}

func (ct *ClusterType) unnamed() bool { return unknown.Is(ct.Name) }

// mayHave reports whether the map has the key, or may have it once all keys are known.
func mayHave(m map[string]string, key string) bool {
	_, ok := m[key]
	_, maybe := m[unknown.Text]
	return ok || maybe
}

func (f *Fleet) clusterTypeNames() []string {
	return lists.Map(f.ClusterTypes, func(ct *ClusterType) string { return ct.Name })
}

// TaintUnknown reports whether any field of a taint is not known yet.
func TaintUnknown(t placement.Taint) bool {
	return slices.ContainsFunc([]string{t.Key, t.Value, t.Effect}, unknown.Is)
}

// TolerationUnknown reports whether any field of a toleration is not known yet.
func TolerationUnknown(t placement.Toleration) bool {
	return slices.ContainsFunc([]string{t.Key, t.Operator, t.Value, t.Effect}, unknown.Is)
}

// PlacementUnknown returns the attributes of the placement that are not known yet, such as .placement.names.
func (p *SchedulingPolicy) PlacementUnknown() (attributes []string) {
	s := p.Placement
	if s == nil {
		return nil
	}
	for _, a := range []struct {
		name    string
		unknown bool
	}{
		{"number_of_cluster_types", s.Number != nil && *s.Number == unknown.Number},
		{"names", slices.ContainsFunc(s.Names, unknown.Is)},
		{"tolerations", slices.ContainsFunc(s.Tolerations, TolerationUnknown)},
		{"prefer", slices.ContainsFunc(s.Prefer, func(p placement.Preference) bool {
			return unknown.Is(p.Property) || p.Weight == unknown.Number
		})},
		{"spread", slices.ContainsFunc(s.Spread, func(s placement.Spread) bool {
			return unknown.Is(s.Key) || s.MaxSkew == unknown.Number || unknown.Is(s.WhenUnsatisfiable)
		})},
		{"generation", unknown.Is(s.Generation)},
	} {
		if a.unknown {
			attributes = append(attributes, ".placement."+a.name)
		}
	}
	return attributes
}
