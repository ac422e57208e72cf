package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// awkward is a string with all kinds of characters that Terraform, YAML or JSON treat specially.
const awkward = "a\n\tb: \"c\" \\ ${d} %{e} {{ .F }} 'ü' 日本 \u2028\r\n"

func meta(name string, labels map[string]string) fleet.Meta {
	return fleet.Meta{Name: name, Labels: labels}
}

// objects contains at least two objects of each kind: one without optional parts, and one with all optional parts.
var objects = map[string][]fleet.Object{
	"cluster_type": {
		&fleet.ClusterType{Meta: meta("a", nil), Reconciler: "r", NamespaceService: "n"},
		&fleet.ClusterType{
			Meta: meta("a", map[string]string{"x": "", "y": "z"}), Reconciler: "r", NamespaceService: "n", ConfigType: "c",
			SecretType: "s",
			Taints: []placement.Taint{
				{Key: "pci", Value: "true", Effect: placement.NoSelect}, {Key: "old", Effect: placement.NoSelectIfNew},
			},
			Properties: map[string]string{"cpu": "64", "memory": "256Gi"},
		},
	},
	"template": {
		&fleet.Template{Meta: meta("a", nil), Type: "config", Manifests: []string{""}},
		&fleet.Template{Meta: meta("a", map[string]string{"x": "y"}), Type: "namespace", ContentType: "sh",
			FileName:  "env.sh",
			Manifests: []string{awkward, `{"b": 1}`}},
	},
	"config": {
		&fleet.Config{Meta: meta("a", map[string]string{"platform-config": "true"})},
		&fleet.Config{Meta: meta("azure-app-config", nil), Data: map[string]string{"a.b.c": "d"}},
		&fleet.Config{Meta: meta("azure-app-config", map[string]string{"platform-config": "true"})},
		&fleet.Config{Meta: meta("a", map[string]string{"platform-config": "false"})},
		&fleet.Config{Meta: meta("a", map[string]string{"platform-config": "true", "x": "y"}), Data: map[string]string{
			"A": awkward, "B": "", "C": `{ "b": 1 }`, "D": "'5'",
		}},
	},
	"config_schema": {
		&fleet.ConfigSchema{Meta: meta("a", nil), Schema: "true"},
		&fleet.ConfigSchema{Meta: meta("a", map[string]string{"x": "y"}), Schema: `{"type":"object"}`},
	},
	"secret": {
		&fleet.Secret{Meta: meta("a", nil)},
		&fleet.Secret{Meta: meta("a", map[string]string{"x": "y"}), Data: map[string]fleet.SecretReference{
			"A": {Store: "vault", Key: "k"}, "B": {Store: "vault", Key: awkward, Property: "p"},
			"C": {Store: "vault", Key: `{"b":1}`, Property: awkward},
		}},
	},
	"scheduling_policy": {
		&fleet.SchedulingPolicy{Meta: meta("a", nil)},
		&fleet.SchedulingPolicy{Meta: meta("a", nil), Workspace: "w"},
		&fleet.SchedulingPolicy{Meta: meta("a", nil), Placement: &placement.Spec{}},
		&fleet.SchedulingPolicy{Meta: meta("a", nil), Placement: &placement.Spec{Names: []string{}}},
		&fleet.SchedulingPolicy{
			Meta: meta("a", map[string]string{"x": "y"}), Workspace: "w",
			DeploymentTargets: fleet.Selector{MatchLabels: map[string]string{"x": ""}},
			ClusterTypes: fleet.Selector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "k", Operator: "In", Values: []string{"a", ""}}, {Key: "l", Operator: "Exists"},
			}},
			Placement: &placement.Spec{
				Number: new(2), Names: []string{"large", "small"},
				Tolerations: []placement.Toleration{
					{
						Operator: placement.Exists,
					}, {Key: "pci", Operator: placement.Equal, Value: "true", Effect: placement.NoSelect},
				},
				Prefer: []placement.Preference{{Property: "cost", Weight: -2}, {Balance: true, Weight: 1}},
				Spread: []placement.Spread{
					{Key: "region", MaxSkew: 1}, {Key: "zone", MaxSkew: 2, WhenUnsatisfiable: placement.ScheduleAnyway},
				},
				Generation: "2",
			},
		},
	},
	"workload": {
		&fleet.Workload{Meta: meta("a", nil)},
		&fleet.Workload{Meta: meta("a", map[string]string{"workspace": ""})},
		&fleet.Workload{
			Meta: meta("a", map[string]string{"workspace": "w", "x": "y"}),
			Targets: []fleet.Target{
				{Name: "t", Environment: "dev"},
				{
					Name: "u", Environment: "dev", Labels: map[string]string{"x": "y"},
					Manifests: map[string]string{
						"repo":   "r",
						"values": `{"b": 1, "a": 2}`,
					}, ConfigSchemas: []string{`{ }`, "true"},
				},
			},
			ConfigSchemas: []string{`{"type": "object"}`},
		},
	},
	"workload_registration": {
		&fleet.WorkloadRegistration{Meta: meta("a", nil), Repo: "r", Branch: "b"},
		&fleet.WorkloadRegistration{Meta: meta("a", map[string]string{"x": "y"}), Repo: "r", Branch: "b", Path: "p",
			Workspace: "w"},
	},
}

// If an object is converted to arguments and back, the result equals the object.
func TestModelRoundTrip(t *testing.T) {
	for _, m := range All {
		if len(objects[m.name]) == 0 {
			t.Errorf("no object of %s is tested", m.name)
		}
		for _, want := range objects[m.name] {
			arguments := m.values(want)
			got, ps := m.Object(problem.Origin{}, types.ObjectValueMust(m.argumentTypes(), arguments))
			if diff := cmp.Diff(want, got); diff != "" || len(ps) > 0 {
				t.Errorf("%s: problems %v; the object changed (-want +got):\n%s", m.name, ps, diff)
			}
			again := m.values(got)
			if diff := cmp.Diff(arguments, again); diff != "" {
				t.Errorf("%s: the arguments changed (-want +got):\n%s", m.name, diff)
			}
		}
	}
}

// An object in a map of a rendering equals the object of its resource, except for the origin.
func TestObjectsOf(t *testing.T) {
	for _, m := range All {
		if m.attribute == "" {
			continue
		}
		nested := m.nestedAttributes("")
		if diff := cmp.Diff(types.ObjectType{AttrTypes: m.argumentTypes()}, nested.NestedObject.Type(),
			cmpopts.EquateComparable()); diff != "" {
			t.Errorf("%s: the type of the nested object differs from the type of the arguments:\n%s", m.name, diff)
		}
		object := types.ObjectType{AttrTypes: m.argumentTypes()}
		want := objects[m.name][len(objects[m.name])-1]
		v := types.MapValueMust(object, map[string]attr.Value{
			"b": types.ObjectValueMust(m.argumentTypes(), m.values(want)),
			"a": types.ObjectNull(m.argumentTypes()),
			"c": types.ObjectUnknown(m.argumentTypes()),
		})
		got, ps := m.Objects(m.attribute, v)
		if len(got) != 2 || len(ps) != 1 || ps[0].Origin != (problem.Origin{Attribute: m.attribute, Key: "a"}) {
			t.Fatalf("%s: got %d objects, problems %v", m.name, len(got), ps)
		}
		if origin := got[0].Metadata().Origin; origin != (problem.Origin{Attribute: m.attribute, Key: "b"}) {
			t.Errorf("%s: the origin is %v", m.name, origin)
		}
		got[0].Metadata().Origin = problem.Origin{}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", m.name, diff)
		}
		if o := got[1]; !unknown.Is(o.Metadata().Name) || len(o.Validate()) > 0 {
			t.Errorf("%s: an unknown object is %v, with problems: %v", m.name, o, o.Validate())
		}
	}
}

func TestObjectsOfUnknownMap(t *testing.T) {
	for _, m := range All {
		if m.attribute == "" {
			continue
		}
		got, ps := m.Objects(m.attribute, types.MapUnknown(types.ObjectType{AttrTypes: m.argumentTypes()}))
		if len(got) != 1 || len(ps) > 0 || !unknown.Is(got[0].Metadata().Name) || len(got[0].Validate()) > 0 {
			t.Errorf("%s: an unknown map is %v, with %v", m.name, got, ps)
		}
		if ps := engine.CheckObject(got[0]); len(ps) > 0 {
			t.Errorf("%s: an unknown map causes problems: %v", m.name, ps)
		}
		none, ps := m.Objects(m.attribute, types.MapNull(types.ObjectType{AttrTypes: m.argumentTypes()}))
		if len(none) > 0 || len(ps) > 0 {
			t.Errorf("%s: a null map is %v, with %v", m.name, none, ps)
		}
	}
}

// An unknown argument makes only its part of the object unknown, and causes no problem.
func TestModelUnknownArguments(t *testing.T) {
	for _, m := range All {
		known := m.values(objects[m.name][len(objects[m.name])-1])
		for name, argumentType := range m.argumentTypes() {
			arguments := map[string]attr.Value{}
			for k, v := range known {
				arguments[k] = v
			}
			unknown, err := argumentType.ValueFromTerraform(t.Context(),
				tftypes.NewValue(argumentType.TerraformType(t.Context()), tftypes.UnknownValue))
			if err != nil {
				t.Fatal(err)
			}
			arguments[name] = unknown
			o, ps := m.Object(problem.Origin{}, types.ObjectValueMust(m.argumentTypes(), arguments))
			ps = append(ps, engine.CheckObject(o)...)
			if len(ps) > 0 || !fleet.HasUnknown(o) {
				t.Errorf("%s.%s: HasUnknown is %v; problems: %v", m.name, name, fleet.HasUnknown(o), ps)
			}
		}
	}
}

// Each nested attribute of a rendering is only optional, so that an object of nulls is valid.
func TestNestedAttributesAreOptional(t *testing.T) {
	var walk func(t *testing.T, at string, attributes map[string]schema.Attribute)
	walk = func(t *testing.T, at string, attributes map[string]schema.Attribute) {
		for name, a := range attributes {
			if a.IsRequired() || a.IsComputed() || !a.IsOptional() {
				t.Errorf("%s.%s is not only optional", at, name)
			}
			switch a := a.(type) {
			case schema.SingleNestedAttribute:
				walk(t, at+"."+name, a.Attributes)
			case schema.ListNestedAttribute:
				walk(t, at+"."+name, a.NestedObject.Attributes)
			}
		}
	}
	for _, m := range All {
		if m.attribute == "" {
			continue
		}
		nested := m.nestedAttributes("")
		walk(t, m.attribute, nested.NestedObject.Attributes)
		if _, ok := m.Attributes()["name"].(schema.StringAttribute); !ok || !m.Attributes()["name"].IsRequired() {
			t.Errorf("%s: nesting changed the resource's own schema", m.name)
		}
	}
}

// Every argument has a description, no argument is sensitive or forces replacement, and the framework finds no errors.
func TestSchemas(t *testing.T) {
	var walk func(t *testing.T, at string, attributes map[string]schema.Attribute)
	walk = func(t *testing.T, at string, attributes map[string]schema.Attribute) {
		for name, a := range attributes {
			if a.GetMarkdownDescription() == "" || a.IsSensitive() || a.IsComputed() && (a.IsOptional() || a.IsRequired()) {
				t.Errorf("%s.%s has no description, is sensitive, or is both an argument and computed", at, name)
			}
			switch a := a.(type) {
			case schema.StringAttribute:
				if len(a.PlanModifiers) > 0 || a.Default != nil {
					t.Errorf("%s.%s has a plan modifier or a default", at, name)
				}
			case schema.SingleNestedAttribute:
				walk(t, at+"."+name, a.Attributes)
			case schema.ListNestedAttribute:
				walk(t, at+"."+name, a.NestedObject.Attributes)
			}
		}
	}
	for _, m := range All {
		walk(t, m.name, m.Attributes())
		s := schema.Schema{Attributes: m.Attributes()}
		if diags := s.ValidateImplementation(t.Context()); diags.HasError() {
			t.Errorf("%s: %v", m.name, diags)
		}
		if m.description == "" {
			t.Errorf("%s is not described", m.name)
		}
	}
}
