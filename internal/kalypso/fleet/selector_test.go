package fleet_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

func TestSelectorMatches(t *testing.T) {
	set := map[string]string{"a": "b", "workspace": "team"}
	in := func(operator metav1.LabelSelectorOperator, key string, values ...string) fleet.Selector {
		return fleet.Selector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}},
		}
	}
	for name, test := range map[string]struct {
		workspace string
		selector  fleet.Selector
		want      bool
	}{
		"empty":             {want: true},
		"workspace":         {workspace: "team", want: true},
		"another workspace": {workspace: "other"},
		"label":             {selector: fleet.Selector{MatchLabels: map[string]string{"a": "b"}}, want: true},
		"another value":     {selector: fleet.Selector{MatchLabels: map[string]string{"a": "c"}}},
		"in":                {selector: in(metav1.LabelSelectorOpIn, "a", "c", "b"), want: true},
		"not in":            {selector: in(metav1.LabelSelectorOpNotIn, "a", "b")},
		"not in, missing":   {selector: in(metav1.LabelSelectorOpNotIn, "x", "b"), want: true},
		"exists":            {selector: in(metav1.LabelSelectorOpExists, "x")},
		"does not exist":    {selector: in(metav1.LabelSelectorOpDoesNotExist, "x"), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fleet.SelectorMatches(test.workspace, &test.selector, set)
			if err != nil || got != test.want {
				t.Errorf("got %v, %v; want %v", got, err, test.want)
			}
		})
	}
	wrong := in("Inn", "a", "b")
	if _, err := fleet.SelectorMatches("", &wrong, set); err == nil {
		t.Error("an unknown operator is no error")
	}
}
