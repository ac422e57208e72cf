package fleet

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// SelectorMatches reports whether s matches these labels. If workspace is not empty, the label [WorkspaceLabel] must
// equal it too. It returns an error if the selector is invalid; see [ValidateSelector].
func SelectorMatches(workspace string, s *Selector, set map[string]string) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, err
	}
	return (workspace == "" || set[WorkspaceLabel] == workspace) && selector.Matches(labels.Set(set)), nil
}

// SelectsAll reports whether a selector is empty, and so selects everything.
func SelectsAll(workspace string, s *Selector) bool {
	return workspace == "" && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// MatchAll is the argument match_all of a selector. A selector that selects everything must set it, because an empty
// selector may be a mistake: its labels may come from a variable that is null.
type MatchAll struct {
	Value  *bool // nil: it is not known yet
	Partly bool  // there are known labels or expressions, so the selector is not empty
}

// Complete reports a selector that contradicts match_all. If match_all is not known yet, the selection of an empty
// selector becomes unknown.
func (a MatchAll) Complete(workspace string, s *Selector) problem.Problems {
	empty := SelectsAll(workspace, s)
	switch {
	case a.Value == nil && empty:
		s.MatchLabels = map[string]string{unknown.Text: unknown.Text}
	case a.Value == nil:
	case *a.Value && a.Partly:
		return problem.Problems{problem.At("Contradictory selector",
			"match_all = true selects everything, but match_labels or match_expressions do not. Remove one of them.",
			"match_all")}
	case !*a.Value && empty:
		return problem.Problems{problem.At("Selector selects everything",
			"The selector has no labels and no expressions, so it would select everything. If that is intended, set "+
				"match_all = true; if not, check whether a variable in it is null or empty.")}
	}
	return nil
}

// HasUnknown reports whether any value of o is [unknown.Text].
func HasUnknown(o Object) bool {
	if p, ok := o.(*SchedulingPolicy); ok && len(p.PlacementUnknown()) > 0 { // also the mark of unknown numbers
		return true
	}
	text, err := json.Marshal(o)
	quoted, _ := json.Marshal(unknown.Text)
	return err != nil || strings.Contains(string(text), strings.Trim(string(quoted), `"`))
}

// SelectorUnknown reports whether a part of a selector is not known yet.
func SelectorUnknown(s *Selector) bool {
	return unknown.Any(s.MatchLabels) || slices.ContainsFunc(s.MatchExpressions, RequirementUnknown)
}

// RequirementUnknown reports whether a part of a match expression is not known yet.
func RequirementUnknown(r metav1.LabelSelectorRequirement) bool {
	return unknown.Is(r.Key) || unknown.Is(string(r.Operator)) || slices.ContainsFunc(r.Values, unknown.Is)
}
