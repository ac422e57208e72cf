package tfvalue

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Result converts v to a value of type t for a data source. v is nil for null, an [attr.Value], or a type of [Values];
// int, map[string]values and map[string][]values are allowed too. Unlike [Encode], it keeps empty values empty.
func Result(t attr.Type, v any) attr.Value {
	switch v := v.(type) {
	case nil:
		return nullOf(t)
	case attr.Value:
		return v
	case string:
		return types.StringValue(v)
	case bool:
		return types.BoolValue(v)
	case int:
		return types.Int64Value(int64(v))
	case float64:
		return types.Float64Value(v)
	case []int:
		all := lists.Map(v, func(n int) attr.Value { return types.Int64Value(int64(n)) })
		return types.ListValueMust(types.Int64Type, all)
	case []string:
		return StringListOf(v)
	case map[string]string:
		return StringMapOf(v)
	case Values:
		o := ObjectTypeOf(t)
		all := make(map[string]attr.Value, len(o.AttrTypes))
		for name, attribute := range o.AttrTypes {
			all[name] = Result(attribute, v[name])
		}
		return types.ObjectValueMust(o.AttrTypes, all)
	case []Values:
		element := ElementTypeOf(t)
		all := lists.Map(v, func(e Values) attr.Value { return Result(element, e) })
		return types.ListValueMust(element, all)
	case map[string][]Values:
		return resultMap(t, v)
	case map[string]Values:
		return resultMap(t, v)
	}
	panic(fmt.Sprintf("a data source returns no %T", v))
}

func resultMap[V any](t attr.Type, v map[string]V) attr.Value {
	element := ElementTypeOf(t)
	all := make(map[string]attr.Value, len(v))
	for key, e := range v {
		all[key] = Result(element, e)
	}
	return types.MapValueMust(element, all)
}

// OrNil returns nil, which [Result] makes null, for the empty string.
func OrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func nullOf(t attr.Type) attr.Value {
	null, err := t.ValueFromTerraform(context.Background(), tftypes.NewValue(t.TerraformType(context.Background()), nil))
	if err != nil {
		panic(fmt.Sprintf("a data source returns no null of type %s: %s", t, err))
	}
	return null
}

// ObjectTypeOf returns t as an object type. It panics if t is no object type.
func ObjectTypeOf(t attr.Type) types.ObjectType {
	o, ok := t.(types.ObjectType)
	if !ok {
		panic(fmt.Sprintf("%s is not an object type", t))
	}
	return o
}

// ElementTypeOf returns the type of the elements of t. It panics if t has none.
func ElementTypeOf(t attr.Type) attr.Type {
	c, ok := t.(attr.TypeWithElementType)
	if !ok {
		panic(fmt.Sprintf("%s has no elements", t))
	}
	return c.ElementType()
}
