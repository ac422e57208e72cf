package model

import (
	"maps"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// A resource of each kind is recognized by its type alone, even if all arguments except the name are null.
func TestKindOfResources(t *testing.T) {
	for _, m := range All {
		found, ps := kindOf(types.ObjectType{AttrTypes: m.argumentTypes()}, nil)
		if found != m {
			t.Errorf("%s is %v: %v", m.name, found, ps)
		}
	}
}

// object returns an object of the type that Terraform infers for an inline object.
func object(attributes map[string]attr.Value) types.Object {
	attributeTypes := map[string]attr.Type{}
	for name, v := range attributes {
		attributeTypes[name] = v.Type(nil) //nolint:staticcheck // no type of the framework uses the context
	}
	return types.ObjectValueMust(attributeTypes, attributes)
}

func tuple(elements ...attr.Value) types.Tuple {
	elementTypes := make([]attr.Type, len(elements))
	for i, e := range elements {
		elementTypes[i] = e.Type(nil) //nolint:staticcheck // see above
	}
	return types.TupleValueMust(elementTypes, elements)
}

func TestObjectOfInline(t *testing.T) {
	text := func(s string) attr.Value { return types.StringValue(s) }
	one, half := big.NewFloat(1), big.NewFloat(0.5)
	type with = map[string]attr.Value
	named := func(more with) attr.Value {
		all := with{"name": text("a")}
		maps.Copy(all, more)
		return types.DynamicValue(object(all))
	}
	selectAll := object(with{"match_all": types.BoolValue(true)})
	reference := object(with{"store": text("s"), "key": text("k")})
	for name, tt := range map[string]struct {
		object attr.Value
		want   fleet.Kind
		errors []string // path: summary
	}{
		"cluster type": {object: named(with{"reconciler": text("r"), "namespace_service": text("n")}),
			want: fleet.KindClusterType},
		"template": {object: named(with{"type": text("config"), "manifests": tuple(text("a"))}), want: fleet.KindTemplate},
		"config": {object: named(with{"data": object(with{"a": text("b"), "n": types.NumberValue(nil)})}),
			want: fleet.KindConfig, errors: []string{`data["n"]: Null element`}},
		"secret":   {object: named(with{"data": object(with{"a": reference})}), want: fleet.KindSecret},
		"schema":   {object: named(with{"schema": text("{}")}), want: fleet.KindConfigSchema},
		"workload": {object: named(with{"deployment_targets": tuple()}), want: fleet.KindWorkload},
		"registration": {
			object: named(with{"workload": object(with{"repo": text("https://a/b"), "branch": text("main")})}),
			want:   fleet.KindWorkloadRegistration,
		},
		"policy": {object: named(with{"deployment_target_selector": selectAll, "cluster_type_selector": selectAll,
			"placement": object(with{"number_of_cluster_types": types.NumberValue(one)})}), want: fleet.KindSchedulingPolicy},
		"policy with half a cluster type": {object: named(with{"deployment_target_selector": selectAll,
			"cluster_type_selector": selectAll,
			"placement":             object(with{"number_of_cluster_types": types.NumberValue(half)})}),
			want: fleet.KindSchedulingPolicy, errors: []string{"placement.number_of_cluster_types: Wrong type"}},
		"null argument": {object: named(with{"schema": text("{}"), "labels": types.DynamicNull()}),
			want: fleet.KindConfigSchema},
		"invalid object": {object: named(with{"schema": text("{")}), want: fleet.KindConfigSchema,
			errors: []string{"schema: Invalid JSON Schema"}},

		"not an object": {object: types.DynamicValue(text("a")), errors: []string{": Wrong type"}},
		"only a name":   {object: named(nil), errors: []string{": Ambiguous object"}},
		"workspace":     {object: named(with{"workspace": text("w")}), errors: []string{": Ambiguous object"}},
		"empty data":    {object: named(with{"data": object(nil)}), errors: []string{": Ambiguous object"}},
		"unknown kind":  {object: named(with{"kind": text("k")}), errors: []string{": Unknown kind of object"}},
		"misspelled argument": {object: named(with{"reconciler": text("r"), "namespace": text("n")}),
			errors: []string{"namespace: Unsupported attribute"}},
		"misspelled nested argument": {object: named(with{"deployment_targets": tuple(object(with{"lables": text("n")}))}),
			errors: []string{"deployment_targets[0].lables: Unsupported attribute"}},
		"text as data": {object: named(with{"data": text("a")}), errors: []string{": Unknown kind of object"}},
		"wrong type": {object: named(with{"deployment_targets": text("a")}),
			errors: []string{"deployment_targets: Wrong type"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, ps := ObjectOf(tt.object)
			var kind fleet.Kind
			if o != nil {
				kind = o.Kind()
			}
			if diff := cmp.Diff(tt.want, kind); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tt.errors, summaries(ps)); diff != "" {
				t.Errorf("errors (-want +got):\n%s\n%v", diff, ps)
			}
		})
	}
}

func summaries(ps problem.Problems) (all []string) {
	for _, p := range ps {
		all = append(all, tfvalue.PathOf(p).String()+": "+p.Summary)
	}
	return all
}
