package fleet

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

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
