package provider

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// nullable returns a string, or null if it is empty.
func nullable(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// stringMapOf returns a map of strings.
func stringMapOf(m map[string]string) types.Map {
	all := make(map[string]attr.Value, len(m))
	for k, v := range m {
		all[k] = types.StringValue(v)
	}
	return types.MapValueMust(types.StringType, all)
}

// stringListOf returns a list of strings.
func stringListOf(texts []string) types.List {
	all := make([]attr.Value, len(texts))
	for i, s := range texts {
		all[i] = types.StringValue(s)
	}
	return types.ListValueMust(types.StringType, all)
}

// scalarText returns a number or a bool as Terraform converts it to a string.
func scalarText(v attr.Value) (text string, ok bool) {
	if isNull(v) {
		return "", false
	}
	switch v := v.(type) {
	case basetypes.BoolValue:
		return fmt.Sprint(v.ValueBool()), true
	case basetypes.NumberValue:
		return v.ValueBigFloat().Text('f', -1), true
	}
	return "", false
}

// isNull reports whether v is null, or missing.
func isNull(v attr.Value) bool { return v == nil || v.IsNull() }

// underlying unwraps a value of a dynamic type.
func underlying(v attr.Value) attr.Value {
	if d, ok := v.(types.Dynamic); ok && !d.IsNull() && !d.IsUnknown() {
		return d.UnderlyingValue()
	}
	return v
}

// members returns the attributes of an object, or the elements of a map.
func members(v attr.Value) (map[string]attr.Value, bool) {
	switch v := v.(type) {
	case basetypes.ObjectValue:
		return v.Attributes(), true
	case basetypes.MapValue:
		return v.Elements(), true
	}
	return nil, false
}

// elements returns the elements of a list, a tuple or a set.
func elements(v attr.Value) ([]attr.Value, bool) {
	switch v := v.(type) {
	case basetypes.ListValue:
		return v.Elements(), true
	case basetypes.TupleValue:
		return v.Elements(), true
	case basetypes.SetValue:
		return v.Elements(), true
	}
	return nil, false
}

// nullableTime returns a time as RFC 3339 in UTC, or null if it is zero.
func nullableTime(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(t.UTC().Format(time.RFC3339))
}
