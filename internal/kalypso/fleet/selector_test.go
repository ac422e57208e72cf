package fleet_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
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
		"empty selector":       {want: true},
		"workspace":            {workspace: "team", want: true},
		"another workspace":    {workspace: "other"},
		"label":                {selector: fleet.Selector{MatchLabels: map[string]string{"a": "b"}}, want: true},
		"another value":        {selector: fleet.Selector{MatchLabels: map[string]string{"a": "c"}}},
		"In":                   {selector: in(metav1.LabelSelectorOpIn, "a", "c", "b"), want: true},
		"NotIn":                {selector: in(metav1.LabelSelectorOpNotIn, "a", "b")},
		"NotIn, missing label": {selector: in(metav1.LabelSelectorOpNotIn, "x", "b"), want: true},
		"Exists":               {selector: in(metav1.LabelSelectorOpExists, "x")},
		"DoesNotExist":         {selector: in(metav1.LabelSelectorOpDoesNotExist, "x"), want: true},
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
		t.Error("there is no error for an unknown operator")
	}
}

// TestMatchAll checks that an empty selector is an error, unless match_all is true.
func TestMatchAll(t *testing.T) {
	label := fleet.Selector{MatchLabels: map[string]string{"a": "b"}}
	for name, test := range map[string]struct {
		all       *bool
		workspace string
		selector  fleet.Selector
		want      string
		unknown   bool
	}{
		"empty selector":                    {all: new(false), want: "Selector selects everything"},
		"empty selector, match_all":         {all: new(true)},
		"empty selector, unknown match_all": {unknown: true},
		"a label":                           {all: new(false), selector: label},
		"a label, match_all":                {all: new(true), selector: label, want: "Contradictory selector"},
		"a label, unknown match_all":        {selector: label},
		"a workspace":                       {all: new(false), workspace: "team"},
		"a workspace, match_all":            {all: new(true), workspace: "team"},
		"a workspace, unknown match_all":    {workspace: "team"},
	} {
		t.Run(name, func(t *testing.T) {
			ps := fleet.MatchAll{Value: test.all, Partly: len(test.selector.MatchLabels) > 0}.
				Complete(test.workspace, &test.selector)
			got := ""
			for _, p := range ps {
				got += p.Summary
			}
			if _, u := test.selector.MatchLabels[unknown.Text]; got != test.want || u != test.unknown {
				t.Errorf("got %q, unknown: %t", got, u)
			}
		})
	}
}
