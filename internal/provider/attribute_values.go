package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// objectSetter writes a plan or a state.
type objectSetter interface {
	Set(ctx context.Context, val any) diag.Diagnostics
}

// getObject reads all attributes of a configuration, a plan or a state.
func getObject(ctx context.Context, from getter, diags *diag.Diagnostics) map[string]attr.Value {
	var v types.Object
	diags.Append(from.Get(ctx, &v)...)
	return v.Attributes()
}

// setObject writes all attributes of a plan or a state.
func setObject(ctx context.Context, to objectSetter, values map[string]attr.Value) diag.Diagnostics {
	valueTypes := make(map[string]attr.Type, len(values))
	for name, v := range values {
		valueTypes[name] = v.Type(ctx)
	}
	object, diags := types.ObjectValue(valueTypes, values)
	if diags.HasError() {
		return diags
	}
	return append(diags, to.Set(ctx, object)...)
}

// nullable returns a string, or null if it is empty.
func nullable(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

func stringMapOf(m map[string]string) types.Map {
	all := make(map[string]attr.Value, len(m))
	for k, v := range m {
		all[k] = types.StringValue(v)
	}
	return types.MapValueMust(types.StringType, all)
}

func stringListOf(texts []string) types.List {
	all := make([]attr.Value, len(texts))
	for i, s := range texts {
		all[i] = types.StringValue(s)
	}
	return types.ListValueMust(types.StringType, all)
}
