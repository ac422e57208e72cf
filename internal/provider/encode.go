package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// values holds the arguments of one object as Go values: string, bool, *int, []string, exactStrings, map[string]string,
// values, []values, map[string]values.
type values map[string]any

// exactStrings is a list of strings in which empty and null differ.
type exactStrings []string

// encode converts v, which has a type of [values], to a value of type t. It makes absent and empty values null, so that
// generated configuration leaves them out. See [terraformJSON] for strings.
func encode(t attr.Type, v any) attr.Value {
	switch t := t.(type) {
	case basetypes.StringType:
		if s, _ := v.(string); s != "" {
			return types.StringValue(terraformJSON(s))
		}
		return types.StringNull()
	case basetypes.BoolType:
		if b, _ := v.(bool); b {
			return types.BoolValue(true)
		}
		return types.BoolNull()
	case basetypes.Int64Type:
		if n, _ := v.(*int); n != nil {
			return types.Int64Value(int64(*n))
		}
		return types.Int64Null()
	case types.MapType:
		return encodeMap(t, v)
	case types.ListType:
		return encodeList(t, v)
	case types.ObjectType:
		object, _ := v.(values)
		if object == nil {
			return types.ObjectNull(t.AttrTypes)
		}
		all := make(map[string]attr.Value, len(t.AttrTypes))
		for name, attribute := range t.AttrTypes {
			all[name] = encode(attribute, object[name])
		}
		return types.ObjectValueMust(t.AttrTypes, all)
	}
	panic(fmt.Sprintf("no model has an argument of type %s", t))
}

func encodeMap(t types.MapType, v any) attr.Value {
	all := map[string]attr.Value{}
	switch set := v.(type) {
	case map[string]string:
		for k, s := range set {
			all[k] = types.StringValue(s)
		}
	case map[string]values:
		for k, object := range set {
			all[k] = encode(t.ElemType, object)
		}
	}
	if len(all) == 0 {
		return types.MapNull(t.ElemType)
	}
	return types.MapValueMust(t.ElemType, all)
}

func encodeList(t types.ListType, v any) attr.Value {
	var all []attr.Value
	switch list := v.(type) {
	case []string:
		for _, s := range list {
			all = append(all, types.StringValue(s))
		}
	case exactStrings:
		if list != nil {
			return stringListOf(list)
		}
	case []values:
		for _, object := range list {
			all = append(all, encode(t.ElemType, object))
		}
	}
	if len(all) == 0 {
		return types.ListNull(t.ElemType)
	}
	return types.ListValueMust(t.ElemType, all)
}
