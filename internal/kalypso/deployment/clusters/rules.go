package clusters

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Rule assigns a cluster type to the clusters that it selects. If several rules select a cluster, the first one
// decides.
type Rule struct {
	ClusterType string
	Selector    fleet.Selector
}

// selectors are the compiled rules.
type selectors []struct {
	clusterType string
	labels.Selector
}

func compile(rules []Rule) (selectors, error) {
	all := make(selectors, len(rules))
	for i, r := range rules {
		selector, err := metav1.LabelSelectorAsSelector(&r.Selector)
		if err != nil {
			return nil, err
		}
		all[i].clusterType, all[i].Selector = r.ClusterType, selector
	}
	return all, nil
}

// match returns the cluster type of labels, or "".
func (all selectors) match(set map[string]string) string {
	for _, s := range all {
		if s.Matches(labels.Set(set)) {
			return s.clusterType
		}
	}
	return ""
}

// CheckRules returns the errors of rules, at the paths match[i]. It skips rules with unknown values.
func CheckRules(rules []Rule) (ps problem.Problems) {
	parsed := make([][]requirement, len(rules)) // nil: not valid, or not known yet
	for i, r := range rules {
		at := []problem.Step{problem.Attr("match"), problem.Index(i)}
		report := func(summary, detail string, steps ...problem.Step) {
			ps = append(ps, problem.Problem{Summary: summary, Detail: detail, Path: append(slices.Clone(at), steps...)})
		}
		before := len(ps)
		switch {
		case r.ClusterType == "":
			report("Missing cluster type", "A rule needs cluster_type: the name of the cluster type of the clusters that it "+
				"selects.", problem.Attr("cluster_type"))
		case unknown.Is(r.ClusterType):
		case len(validation.IsDNS1123Subdomain(r.ClusterType)) > 0:
			report("Invalid cluster type", fmt.Sprintf("%q is no valid name of a cluster type: use lower-case letters, "+
				"digits, \"-\" and \".\".", r.ClusterType), problem.Attr("cluster_type"))
		}
		ps = append(ps, fleet.ValidateSelector(&r.Selector, at...)...)
		if len(ps) > before {
			continue
		}
		parsed[i] = requirementsOf(&r.Selector)
		if a, b, found := contradiction(parsed[i]); found {
			report("Rule selects nothing", fmt.Sprintf("No cluster has both %s and %s. Remove one of them.", a.text, b.text))
			continue
		}
		if summary, detail := conflict(rules, parsed, i); summary != "" {
			report(summary, detail)
		}
	}
	return ps
}

// conflict describes the first rule before rule i that contradicts rule i, or selects all of its clusters.
func conflict(rules []Rule, parsed [][]requirement, i int) (summary, detail string) {
	for j := range i {
		switch {
		case parsed[j] == nil || parsed[i] == nil:
		case rules[j].ClusterType == rules[i].ClusterType && len(parsed[j]) == 1 && len(parsed[i]) == 1 &&
			parsed[j][0].not().implies(parsed[i][0]):
			return "Contradictory rules", fmt.Sprintf("match[%d] and match[%d] give the cluster type %q for %s and for %s, so "+
				"together they select every cluster. Remove one, or write one rule with match_all = true.", j, i,
				rules[i].ClusterType, parsed[j][0].text, parsed[i][0].text)
		case covers(parsed[j], parsed[i]):
			return "Rule is never reached", fmt.Sprintf("match[%d] comes first and selects every cluster that match[%d] "+
				"selects, for the cluster type %q. Put the rule that selects fewer clusters first, or remove it.", j, i,
				rules[j].ClusterType)
		}
	}
	return "", ""
}

// requirement is a requirement of a selector on one label: the values that it allows.
type requirement struct {
	text   string // as Kubernetes writes it
	key    string
	values []string
	others bool // it allows all values but these
	absent bool // it allows that the label is absent
}

// requirementsOf returns the requirements of a valid selector, sorted by label. It returns nil if one of them is
// unknown.
func requirementsOf(s *fleet.Selector) []requirement {
	var expressions []metav1.LabelSelectorRequirement
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		expressions = append(expressions, metav1.LabelSelectorRequirement{
			Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{s.MatchLabels[key]},
		})
	}
	all := []requirement{}
	for _, e := range slices.Concat(expressions, s.MatchExpressions) {
		if unknown.Is(e.Key) || unknown.Is(string(e.Operator)) || slices.ContainsFunc(e.Values, unknown.Is) {
			return nil
		}
		all = append(all, requirement{
			text: metav1.FormatLabelSelector(&fleet.Selector{MatchExpressions: []metav1.LabelSelectorRequirement{e}}),
			key:  e.Key, values: e.Values,
			others: e.Operator == metav1.LabelSelectorOpNotIn || e.Operator == metav1.LabelSelectorOpExists,
			absent: e.Operator == metav1.LabelSelectorOpNotIn || e.Operator == metav1.LabelSelectorOpDoesNotExist,
		})
	}
	return all
}

// implies reports whether each cluster that meets r meets other.
func (r requirement) implies(other requirement) bool {
	among := func(of []string) func(string) bool {
		return func(value string) bool { return slices.Contains(of, value) }
	}
	switch {
	case r.key != other.key, r.absent && !other.absent, r.others && !other.others:
		return false
	case r.others:
		return every(other.values, among(r.values))
	case other.others:
		return !slices.ContainsFunc(r.values, among(other.values))
	}
	return every(r.values, among(other.values))
}

// not returns the opposite of r: the requirement that a cluster meets if and only if it does not meet r.
func (r requirement) not() requirement {
	r.others, r.absent = !r.others, !r.absent
	return r
}

// covers reports whether the first rule selects every cluster that the later one selects.
func covers(first, later []requirement) bool {
	return every(first, func(wanted requirement) bool {
		return slices.ContainsFunc(later, func(r requirement) bool { return r.implies(wanted) })
	})
}

// contradiction returns two requirements that no cluster can meet at the same time.
func contradiction(all []requirement) (a, b requirement, found bool) {
	for i, a := range all {
		for _, b := range all[:i] {
			if a.implies(b.not()) || b.implies(a.not()) {
				return b, a, true
			}
		}
	}
	return a, b, false
}

func every[T any](all []T, is func(T) bool) bool {
	return !slices.ContainsFunc(all, func(e T) bool { return !is(e) })
}
