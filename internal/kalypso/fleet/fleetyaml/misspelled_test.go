package fleetyaml_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestMisspelledGroup: a document whose kind is Kalypso's but whose group is misspelled causes a warning. Documents of
// other software with the same kind cause none.
func TestMisspelledGroup(t *testing.T) {
	for _, tt := range []struct {
		apiVersion, kind string
		warns            bool
	}{
		{"scheduler.kalypso.io/v1alpha1", "ClusterType", false},
		{"scheduler.kalypso.io/v2", "ClusterType", false},
		{"schedular.kalypso.io/v1alpha1", "Template", true},
		{"kalypso.io/v1alpha1", "Workload", true},
		{"v1alpha1", "SchedulingPolicy", true},
		{"acme.io/v1", "ClusterType", true},
		{"scheduler.kalypso.ai/v1alpha1", "GitOpsRepo", true},
		{"kueue.x-k8s.io/v1beta1", "Workload", false},
		{"template.openshift.io/v1", "Template", false},
		{"v1", "ConfigMap", false},
		{"apps/v1", "Deployment", false},
		{"", "Template", false},
	} {
		_, skipped, ps := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "a.yaml"},
			"apiVersion: "+tt.apiVersion+"\nkind: "+tt.kind+"\nmetadata: {name: a}\n")
		if warns := len(ps) == 1 && ps[0].Severity == problem.Warning && ps[0].Summary == "Unknown apiVersion" &&
			strings.Contains(ps[0].Detail, "write apiVersion: scheduler.kalypso.io/v1alpha1") &&
			skipped == 1; warns != tt.warns {
			t.Errorf("%s %s: %v", tt.apiVersion, tt.kind, ps)
		}
	}
}

// TestSkippedConfigMapsAreOneWarning: all ConfigMaps without the label of platform configs are listed in one warning,
// since no deployment target gets their values.
func TestSkippedConfigMapsAreOneWarning(t *testing.T) {
	objects, _, _ := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "a.yaml"}, `
apiVersion: v1
kind: ConfigMap
metadata: {name: plain}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, labels: {platform-config: "yes"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ours, labels: {platform-config: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: azure-app-config}
`)
	f := &fleet.Fleet{}
	ps := fleet.CheckPassedOver(f.Add(objects...))
	if len(f.Configs) != 2 || len(ps) != 1 || ps.HasErrors() {
		t.Fatalf("%d configs, problems: %v", len(f.Configs), ps)
	}
	const want = "2 ConfigMaps are skipped, so no deployment target gets the values:\n  \"plain\" from a.yaml, " +
		"document 1, line 1\n  \"other\" from a.yaml, document 2, line 5: the label is \"yes\"\nIf they are platform " +
		"configs, add the label platform-config: \"true\". If not, remove them from manifests."
	if ps[0].Detail != want {
		t.Errorf("got\n%s\nwant\n%s", ps[0].Detail, want)
	}
	if ps := fleet.CheckPassedOver(nil); len(ps) > 0 {
		t.Error(ps)
	}
}
