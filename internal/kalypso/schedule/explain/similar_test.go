package explain_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
)

// TestNearest checks which policy is the nearest to the target "app-test" with the labels app: web and size: large in
// the workspace shop, and which value an error suggests.
func TestNearest(t *testing.T) {
	const labelsOfTarget = "app: web, size: large, zone: zone-1, pool: east"
	other := document("Workload", "other", "workspace: other",
		"deploymentTargets: [{name: test, environment: dev, labels: {size: larger}}]")
	policies := func(selectors ...string) []string {
		texts := []string{clusterType("large", "region: west-europe"), target("shop", labelsOfTarget), other}
		for i, selector := range selectors {
			texts = append(texts, schedulingPolicy("p"+string(rune('1'+i)), selector, "labelSelector: {}"))
		}
		return texts
	}
	labels := func(all string) string { return "workspace: shop, labelSelector: {matchLabels: {" + all + "}}" }
	for _, tt := range []struct {
		name  string
		fleet []string
		want  string
	}{
		{"a typing error in the policy", policies("workspace: data", labels("app: webb")),
			`p2: The deployment target is not selected: label "app" is "web" and must be "webb" (did you mean "web"?).`},
		{"two letters changed places", policies("workspace: data", labels("app: wbe")),
			`p2: The deployment target is not selected: label "app" is "web" and must be "wbe" (did you mean "web"?).`},
		{"two edits", policies("workspace: data", labels("size: largest")),
			`p2: The deployment target is not selected: label "size" is "large" and must be "largest".`},
		{"a typing error in the target, since another target has the value",
			policies("workspace: data", labels("size: larger")),
			`p2: The deployment target is not selected: label "size" is "large" and must be "larger" (did you mean "larger"?).`},
		{"another number is no typing error", policies("workspace: shop, labelSelector: {matchLabels: {zone: zone-2}}",
			labels("app: webb, size: largee")),
			`p2: The deployment target is not selected: label "app" is "web" and must be "webb" (did you mean "web"?); label ` +
				`"size" is "large" and must be "largee" (did you mean "large"?).`},
		{"a typing error beside another mismatch", policies(labels("app: webb, team: a, tier: b"), labels("team: a")),
			`p2: The deployment target is not selected: label "team" is missing and must be "a".`},
		{"the most similar value", policies(labels("app: api"), labels("app: webb")),
			`p2: The deployment target is not selected: label "app" is "web" and must be "webb" (did you mean "web"?).`},
		{"the fewest edits", policies(labels("size: largest"), labels("size: largee")),
			`p2: The deployment target is not selected: label "size" is "large" and must be "largee" (did you mean "large"?).`},
		{"short values are not similar", policies(labels("pool: west"), labels("app: web2")),
			`p1: The deployment target is not selected: label "pool" is "east" and must be "west".`},
		{"names last", policies(labels("team: a"), labels("team: b")),
			`p1: The deployment target is not selected: label "team" is missing and must be "a".`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, problems := engine.Explain(t.Context(), read(t, tt.fleet...), placement.PriorResults{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			for _, u := range e.Unscheduled {
				if u.Target.Name != "app-test" {
					continue
				}
				if got := u.Rejections[0].Policy.Name + ": " + u.Rejections[0].Reason; got != tt.want {
					t.Errorf("got %s\nwant %s", got, tt.want)
				}
				return
			}
			t.Error("the target is placed")
		})
	}
}

// A selector of cluster types with a typing error names the cluster type that was meant.
func TestNearestClusterType(t *testing.T) {
	e, problems := engine.Explain(t.Context(), read(t,
		clusterType("a", "region: north"), clusterType("b", "region: west-europe, size: large"), target("", ""),
		schedulingPolicy("p", "", "labelSelector: {matchLabels: {region: west-europ, size: large}}")),
		placement.PriorResults{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const want = `the closest is "b": label "region" is "west-europe" and must be "west-europ" (did you mean ` +
		`"west-europe"?).`
	if got := e.IdlePolicies[0].Reason; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
