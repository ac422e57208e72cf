package fleetyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

const placedYAML = `apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata:
  name: large
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    kalypso.io/taints: |
      - key: pci
        value: "true"
        effect: NoSelect
      - {key: old, effect: NoSelectIfNew}
    kalypso.io/properties: "{cpu: 64, memory: 256Gi, cost: 0.5}"
spec:
  reconciler: r
  namespaceService: ns
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata:
  name: web
  annotations:
    kalypso.io/placement: |
      numberOfClusterTypes: 2
      names: []
      tolerations: [{operator: Exists}]
      prefer: [{property: cost, weight: -2}, {balance: true}]
      spread: [{key: region}, {key: zone, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway}]
      generation: 2
spec:
  deploymentTargetSelector: {}
  clusterTypeSelector: {}
`

func TestPlacementYAML(t *testing.T) {
	objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, placedYAML)
	if len(ps) > 0 || len(objects) != 2 {
		t.Fatalf("%d objects, %v", len(objects), ps)
	}
	want := []fleet.Object{
		&fleet.ClusterType{
			Meta: fleet.Meta{Name: "large"}, Reconciler: "r", NamespaceService: "ns",
			Taints: []placement.Taint{
				{Key: "pci", Value: "true", Effect: placement.NoSelect}, {Key: "old", Effect: placement.NoSelectIfNew},
			},
			Properties: map[string]string{"cpu": "64", "memory": "256Gi", "cost": "0.5"},
		},
		&fleet.SchedulingPolicy{Meta: fleet.Meta{Name: "web"}, Placement: &placement.Spec{
			Number: new(2), Names: []string{}, Tolerations: []placement.Toleration{{Operator: placement.Exists}},
			Prefer: []placement.Preference{{Property: "cost", Weight: -2}, {Balance: true, Weight: placement.DefaultWeight}},
			Spread: []placement.Spread{
				{Key: "region", MaxSkew: placement.DefaultMaxSkew},
				{Key: "zone", MaxSkew: 2, WhenUnsatisfiable: placement.ScheduleAnyway},
			},
			Generation: "2",
		}},
	}
	for i, o := range objects {
		o.Metadata().Origin = problem.Origin{}
		if diff := cmp.Diff(want[i], o); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		text, err := fleetyaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		again, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
		if len(ps) > 0 {
			t.Fatalf("%v in:\n%s", ps, text)
		}
		again[0].Metadata().Origin = problem.Origin{}
		if diff := cmp.Diff(want[i], again[0]); diff != "" {
			t.Errorf("written and read (-want +got):\n%s\n%s", diff, text)
		}
	}
}

func TestPlacementYAMLErrors(t *testing.T) {
	for annotation, want := range map[string]string{
		`kalypso.io/taints: "[{key: a, effects: NoSelect}]"`:  `annotation kalypso.io/taints: it has no field [0].effects`,
		`kalypso.io/taints: "{key: a}"`:                       `annotation kalypso.io/taints: `,
		`kalypso.io/taints: "- key: [}"`:                      `annotation kalypso.io/taints: did not find expected node`,
		`kalypso.io/taints: "[{key: a, value: true}]"`:        `expected a string, got a bool; quote it`,
		`kalypso.io/properties: "{cpu: [1]}"`:                 `annotation kalypso.io/properties: `,
		`kalypso.io/placement: "{numberOfClusterType: 2}"`:    `it has no field numberOfClusterType`,
		`kalypso.io/placement: "{numberOfClusterTypes: two}"`: `numberOfClusterTypes: expected `,
		`kalypso.io/placement: "[]"`:                          `annotation kalypso.io/placement: `,
	} {
		kind := "ClusterType"
		if strings.Contains(annotation, "placement") {
			kind = "SchedulingPolicy"
		}
		text := fmt.Sprintf("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata:\n  name: a\n  annotations:\n   "+
			" %s\n",
			kind, annotation)
		objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
		if len(objects) > 0 || !strings.Contains(ps.Error(), want) {
			t.Errorf("%s: %d objects, %v; want %s", annotation, len(objects), ps, want)
		}
	}
}

// TestPlacementProblems checks that each invalid value is an error at its field in YAML.
func TestPlacementProblems(t *testing.T) {
	policy := func(s placement.Spec) fleet.Object {
		return &fleet.SchedulingPolicy{Meta: fleet.Meta{Name: "web"}, Placement: &s}
	}
	clusterType := func(taints []placement.Taint, properties map[string]string) fleet.Object {
		return &fleet.ClusterType{
			Meta: fleet.Meta{Name: "large"}, Reconciler: "r", NamespaceService: "n", Taints: taints, Properties: properties,
		}
	}
	for name, c := range map[string]struct {
		object               fleet.Object
		summary, field, more string
	}{
		"taint without effect": {
			clusterType([]placement.Taint{{Key: "a"}}, nil), "Missing effect", "kalypso.io/taints][0].effect", "NoSelectIfNew",
		},
		"taint with another effect": {
			clusterType([]placement.Taint{{Key: "a", Effect: "NoSchedule"}}, nil),
			"Invalid effect", "kalypso.io/taints][0].effect", `"NoSchedule" is not one of NoSelect, NoSelectIfNew`,
		},
		"taint without key": {
			clusterType([]placement.Taint{{Effect: "NoSelect"}}, nil), "Missing key", "kalypso.io/taints][0].key", "",
		},
		"a property that is not a quantity": {
			clusterType(nil, map[string]string{"cpu": "many"}), "Invalid quantity", `kalypso.io/properties]["cpu"]`, `"many"`,
		},
		"number 0": {
			policy(placement.Spec{Number: new(0)}), "Invalid number of cluster types", "].numberOfClusterTypes", "is 0",
		},
		"weight 0": {
			policy(placement.Spec{Prefer: []placement.Preference{{Balance: true}}}), "Invalid weight", "].prefer[0].weight",
			"is 0",
		},
		"weight 11": {
			policy(placement.Spec{Prefer: []placement.Preference{{Property: "cpu", Weight: 11}}}),
			"Invalid weight", "].prefer[0].weight", "from -10 to 10",
		},
		"a preference for nothing": {
			policy(placement.Spec{Prefer: []placement.Preference{{Weight: 1}}}), "Preference without a property", "].prefer[0]",
			"",
		},
		"a preference for two things": {
			policy(placement.Spec{Prefer: []placement.Preference{{Property: "cpu", Balance: true, Weight: 1}}}),
			"Preference with property and balance", "].prefer[0].balance", "",
		},
		"two spreads of one key": {
			policy(placement.Spec{Spread: []placement.Spread{{Key: "region", MaxSkew: 1}, {Key: "region", MaxSkew: 2}}}),
			"Duplicate spread key", "].spread[1].key", `"region"`,
		},
		"skew 0": {
			policy(placement.Spec{Spread: []placement.Spread{{Key: "region"}}}), "Invalid maximum skew", "].spread[0].maxSkew",
			"is 0",
		},
		"an invalid when_unsatisfiable": {
			policy(placement.Spec{Spread: []placement.Spread{{Key: "region", MaxSkew: 1, WhenUnsatisfiable: "Never"}}}),
			"Invalid ", "].spread[0].whenUnsatisfiable", `"Never" is not one of DoNotSchedule, ScheduleAnyway`,
		},
		"toleration without a key": {
			policy(placement.Spec{Tolerations: []placement.Toleration{{Operator: placement.Equal}}}),
			"Toleration without a key", "].tolerations[0].key", "Exists",
		},
		"empty toleration": {
			policy(placement.Spec{Tolerations: []placement.Toleration{{}}}),
			"Toleration without a key", "].tolerations[0].key", "Exists",
		},
		"a value in a toleration of any value": {
			policy(placement.Spec{Tolerations: []placement.Toleration{{Key: "a", Operator: placement.Exists, Value: "b"}}}),
			"Toleration with a value", "].tolerations[0].value", "",
		},
		"an invalid operator": {
			policy(placement.Spec{Tolerations: []placement.Toleration{{Key: "a", Operator: "In"}}}),
			"Invalid operator", "].tolerations[0].operator", "Equal, Exists",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.object.Metadata().Origin = problem.Origin{Key: "a.yaml", Document: 1, Line: 1}
			ps := c.object.Validate()
			if len(ps) != 1 || !strings.HasPrefix(ps[0].Summary, c.summary) || !strings.Contains(ps[0].Detail, c.more) {
				t.Fatalf("%v", ps)
			}
			if field := fleet.YAMLPath(ps[0]); !strings.HasSuffix(field, c.field) ||
				!strings.HasPrefix(field, "metadata.annotations[") {
				t.Errorf("field %s, want %s", field, c.field)
			}
		})
	}
}

func TestPlacementErrorsListKnownNames(t *testing.T) {
	f := &fleet.Fleet{
		Environment: "dev",
		ClusterTypes: []*fleet.ClusterType{{
			Meta:       fleet.Meta{Name: "large", Labels: map[string]string{"region": "west"}},
			Reconciler: "r", NamespaceService: "n", Properties: map[string]string{"cpu": "1"},
		}},
		Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "web"}, Placement: &placement.Spec{
			Names: []string{"large", "lagre"}, Spread: []placement.Spread{{Key: "region", MaxSkew: 1},
				{Key: "zone", MaxSkew: 1}},
			Prefer: []placement.Preference{{Property: "cpu", Weight: 1}, {Property: "cost", Weight: 1}},
		}}},
	}
	ps := f.Validate(t.Context())
	var got []string
	for _, p := range ps {
		got = append(got, fmt.Sprint(p.Severity, " ", p.Summary, " ", p.Name))
	}
	want := []string{"0 Unknown cluster type web", "0 Unknown spread key web", "1 Unknown property web"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%v", diff, ps)
	}
	f.ClusterTypes[0].Name = unknown.Text
	if ps := f.Validate(t.Context()); len(ps) > 0 {
		t.Errorf("with a name that is not known yet: %v", ps)
	}
}
