package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Mismatch is a label requirement that is not met. A policy's workspace is a requirement on the label
// [fleet.WorkspaceLabel]. An entry of match_labels is a requirement with the operator In.
type Mismatch struct {
	Key      string `attribute:"label"`
	Operator metav1.LabelSelectorOperator
	Values   []string // sorted
	Found    *string  // the label's value; nil: the label or the workspace is missing

	meant string // the value that was probably meant, or ""; see [suggest]
}

// String states the actual and the required value.
func (m Mismatch) String() string {
	what := fmt.Sprintf("label %q", m.Key)
	if m.Key == fleet.WorkspaceLabel {
		what = m.Key
	}
	switch {
	case m.Found == nil:
		what += " is missing"
	case unknown.Is(*m.Found):
		what += " is not known yet"
	default:
		what += fmt.Sprintf(" is %q", *m.Found)
	}
	what += " and must be " + m.wanted()
	if m.meant != "" {
		what += fmt.Sprintf(" (did you mean %q?)", m.meant)
	}
	return what
}

func (m Mismatch) wanted() string {
	quoted := lists.Map(m.Values, func(v string) string { return fmt.Sprintf("%q", v) })
	switch m.Operator {
	case metav1.LabelSelectorOpExists:
		return "present"
	case metav1.LabelSelectorOpDoesNotExist:
		return "absent"
	case metav1.LabelSelectorOpNotIn:
		return "none of " + strings.Join(quoted, ", ")
	}
	if len(quoted) > 1 {
		return "one of " + strings.Join(quoted, ", ")
	}
	return strings.Join(quoted, "")
}

// requirements returns the label requirements of a valid policy's selector, in display order. A workspace comes first.
type requirements []labels.Requirement

func requirementsOf(workspace string, s *fleet.Selector) requirements {
	with := fleet.Selector{MatchLabels: s.MatchLabels, MatchExpressions: slices.Clone(s.MatchExpressions)}
	if workspace != "" {
		with.MatchExpressions = append(with.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: fleet.WorkspaceLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{workspace},
		})
	}
	selector, err := metav1.LabelSelectorAsSelector(&with)
	if err != nil {
		return nil // the fleet's validation reports it
	}
	rs, _ := selector.Requirements()
	key := func(r labels.Requirement) string {
		if r.Key() == fleet.WorkspaceLabel {
			return ""
		}
		return r.Key()
	}
	slices.SortFunc(rs, func(a, b labels.Requirement) int {
		return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.String(), b.String()))
	})
	return requirements(rs)
}

// mismatches returns the requirements that these labels do not meet.
func (rs requirements) mismatches(set map[string]string) (all []Mismatch) {
	for _, r := range rs {
		if r.Matches(labels.Set(set)) {
			continue
		}
		operator := cmp.Or(operators[r.Operator()], metav1.LabelSelectorOpIn)
		m := Mismatch{Key: r.Key(), Operator: operator, Values: r.Values().List()}
		if found, there := set[r.Key()]; there && (found != "" || r.Key() != fleet.WorkspaceLabel) {
			m.Found = &found
		}
		all = append(all, m)
	}
	return all
}

// operators contains operators as written in a policy. All others are [metav1.LabelSelectorOpIn].
var operators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.NotIn:        metav1.LabelSelectorOpNotIn,
	selection.Exists:       metav1.LabelSelectorOpExists,
	selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

func joinMismatches(mismatches []Mismatch) string {
	return strings.Join(lists.Map(mismatches, Mismatch.String), "; ")
}
