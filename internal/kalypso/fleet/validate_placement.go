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

// validateTaints checks the taints of a cluster type, and that its properties are quantities.
func (ct *ClusterType) validateTaints() (ps objectProblems) {
	for i, taint := range ct.Taints {
		at := func(name string) []problem.Step {
			return []problem.Step{problem.Attr("taints"), problem.Index(i), problem.Attr(name)}
		}
		ps.taintKey(taint.Key, at("key"))
		ps.labelValue(taint.Value, fmt.Sprintf("Invalid value of taint %q", taint.Key), at("value")...)
		ps.oneOf("effect", taint.Effect, placement.Effects, at("effect"))
	}
	for _, name := range slices.Sorted(maps.Keys(ct.Properties)) {
		at := []problem.Step{problem.Attr("properties"), problem.Key(name)}
		if unknown.Is(name) {
			continue
		}
		ps.refuse("Invalid property name", name, validation.IsQualifiedName(name), at...)
		if text := ct.Properties[name]; !unknown.Is(text) {
			if _, err := resource.ParseQuantity(text); err != nil {
				ps.add("Invalid quantity", fmt.Sprintf("The property %q is %q. A property is a Kubernetes quantity: a number with "+
					"a suffix, such as 64, 500m or 256Gi.", name, text), at...)
			}
		}
	}
	return ps
}

func (ps *objectProblems) taintKey(key string, at []problem.Step) {
	switch {
	case unknown.Is(key):
	case key == "":
		ps.add("Missing key", "The taint has no key.", at...)
	default:
		ps.refuse("Invalid taint key", key, validation.IsQualifiedName(key), at...)
	}
}

// oneOf reports a value that is not set, or is not in the list.
func (ps *objectProblems) oneOf(name, value string, allowed []string, at []problem.Step) {
	switch {
	case unknown.Is(value) || slices.Contains(allowed, value):
	case value == "":
		ps.add("Missing "+name, fmt.Sprintf("%s is not set. Set it to one of %s.", name, strings.Join(allowed, ", ")), at...)
	default:
		ps.add("Invalid "+name, fmt.Sprintf("%q is not one of %s.", value, strings.Join(allowed, ", ")), at...)
	}
}

// validatePlacement checks the placement of a policy by itself.
func (p *SchedulingPolicy) validatePlacement() (ps objectProblems) {
	s := p.Placement
	if s == nil {
		return nil
	}
	at := func(steps ...problem.Step) []problem.Step {
		return append([]problem.Step{problem.Attr("placement")}, steps...)
	}
	number := p.field("number_of_cluster_types")
	if s.Number != nil && *s.Number < 1 && *s.Number != unknown.Number {
		ps.add("Invalid number of cluster types",
			fmt.Sprintf("%s is %d. It must be at least 1. Remove it to place on all cluster types that fit.", number, *s.Number),
			at(problem.Attr("number_of_cluster_types"))...)
	}
	for i, name := range s.Names {
		if name == "" {
			ps.add("Missing name", "The name of a cluster type is empty.", at(problem.Attr("names"), problem.Index(i))...)
		}
	}
	for i, t := range s.Tolerations {
		ps = append(ps, validateToleration(t, at(problem.Attr("tolerations"), problem.Index(i)))...)
	}
	for i, preference := range s.Prefer {
		ps = append(ps, validatePreference(preference, at(problem.Attr("prefer"), problem.Index(i)))...)
	}
	first := map[string]bool{}
	for i, spread := range s.Spread {
		at := at(problem.Attr("spread"), problem.Index(i))
		ps = append(ps, p.validateSpread(spread, at)...)
		if first[spread.Key] && spread.Key != "" && !unknown.Is(spread.Key) {
			ps.add("Duplicate spread key", fmt.Sprintf("The label %q has two spreads. Remove one of them.", spread.Key),
				append(at, problem.Attr("key"))...)
		}
		first[spread.Key] = true
	}
	return ps
}

func validateToleration(t placement.Toleration, at []problem.Step) (ps objectProblems) {
	below := func(name string) []problem.Step { return append(slices.Clone(at), problem.Attr(name)) }
	if t.Operator != "" {
		ps.oneOf("operator", t.Operator, placement.Operators, below("operator"))
	}
	if t.Effect != "" {
		ps.oneOf("effect", t.Effect, placement.Effects, below("effect"))
	}
	if slices.ContainsFunc([]string{t.Key, t.Operator, t.Value}, unknown.Is) {
		return ps
	}
	switch {
	case t.Key == "" && t.Operator != placement.Exists:
		ps.add("Toleration without a key", "A toleration without a key tolerates all taints, and needs the operator "+
			"Exists. Set the key, or operator = \"Exists\".", below("key")...)
	case t.Key != "":
		ps.taintKey(t.Key, below("key"))
	}
	if t.Operator == placement.Exists && t.Value != "" {
		ps.add("Toleration with a value", "The operator Exists tolerates all values. Remove the value, or use Equal.",
			below("value")...)
	}
	ps.labelValue(t.Value, "Invalid value of a toleration", below("value")...)
	return ps
}

func validatePreference(p placement.Preference, at []problem.Step) (ps objectProblems) {
	below := func(name string) []problem.Step { return append(slices.Clone(at), problem.Attr(name)) }
	if (p.Weight < placement.MinWeight || p.Weight > placement.MaxWeight || p.Weight == 0) && p.Weight != unknown.Number {
		ps.add("Invalid weight", fmt.Sprintf("The weight is %d. It must be from %d to %d, and not 0.",
			p.Weight, placement.MinWeight, placement.MaxWeight), below("weight")...)
	}
	switch {
	case unknown.Is(p.Property):
	case p.Property == "" && !p.Balance:
		ps.add("Preference without a property", "Set property, or balance = true.", at...)
	case p.Property != "" && p.Balance:
		ps.add("Preference with property and balance",
			fmt.Sprintf("property is %q, but balance is true. Give each an element of its own.",
				p.Property), below("balance")...)
	case p.Property != "":
		ps.refuse("Invalid property name", p.Property, validation.IsQualifiedName(p.Property), below("property")...)
	}
	return ps
}

func (p *SchedulingPolicy) validateSpread(s placement.Spread, at []problem.Step) (ps objectProblems) {
	below := func(name string) []problem.Step { return append(slices.Clone(at), problem.Attr(name)) }
	switch {
	case s.Key == "":
		ps.add("Missing key", "The spread has no key. Set key to the label over whose values the placement "+
			"spreads.", below("key")...)
	case !unknown.Is(s.Key):
		ps.labelKey(s.Key, below("key")...)
	}
	if s.MaxSkew < 1 && s.MaxSkew != unknown.Number {
		ps.add("Invalid maximum skew", fmt.Sprintf("%s is %d. It must be at least 1.", p.field("max_skew"), s.MaxSkew),
			below("max_skew")...)
	}
	if s.WhenUnsatisfiable != "" {
		ps.oneOf(p.field("when_unsatisfiable"), s.WhenUnsatisfiable, placement.Unsatisfiables, below("when_unsatisfiable"))
	}
	return ps
}

// checkPlacements reports names and spread keys in placements that no cluster type has, and warns of preferred
// properties that no cluster type has.
func (f *Fleet) checkPlacements() (ps problem.Problems) {
	if f.Incomplete || slices.ContainsFunc(f.ClusterTypes, (*ClusterType).unnamed) {
		return nil
	}
	has := func(contains func(*ClusterType) bool) bool {
		return len(f.ClusterTypes) == 0 || slices.ContainsFunc(f.ClusterTypes, contains)
	}
	for _, p := range f.Policies {
		if p.Placement == nil {
			continue
		}
		var own objectProblems
		for i, name := range p.Placement.Names {
			if name != "" && !unknown.Is(name) && !has(func(ct *ClusterType) bool { return ct.Name == name }) {
				own.add("Unknown cluster type", fmt.Sprintf("There is no cluster type %q. Check the spelling, or remove the "+
					"name. The cluster types are:\n%s", name, problem.IndentedList(f.clusterTypeNames(), problem.MaxListed)),
					problem.Attr("placement"), problem.Attr("names"), problem.Index(i))
			}
		}
		for i, spread := range p.Placement.Spread {
			key := spread.Key
			if key != "" && !unknown.Is(key) && !has(func(ct *ClusterType) bool { return mayHave(ct.Labels, key) }) {
				own.add("Unknown spread key", fmt.Sprintf("No cluster type has the label %q. Check the spelling, or set the label.",
					key), problem.Attr("placement"), problem.Attr("spread"), problem.Index(i), problem.Attr("key"))
			}
		}
		for i, preference := range p.Placement.Prefer {
			name := preference.Property
			if name != "" && !unknown.Is(name) && !has(func(ct *ClusterType) bool { return mayHave(ct.Properties, name) }) {
				own.warn("Unknown property", fmt.Sprintf("No cluster type has the property %q, so the preference has no effect. "+
					"Check the spelling, or set the property.", name),
					problem.Attr("placement"), problem.Attr("prefer"), problem.Index(i), problem.Attr("property"))
			}
		}
		ps = append(ps, own.of(p)...)
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
