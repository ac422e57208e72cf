package tfvalue

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

// GetObject reads all attributes of a configuration, a plan or a state.
func GetObject(ctx context.Context, from Getter, diags *diag.Diagnostics) map[string]attr.Value {
	var v types.Object
	diags.Append(from.Get(ctx, &v)...)
	return v.Attributes()
}

// SetObject writes all attributes of a plan or a state.
func SetObject(ctx context.Context, to objectSetter, values map[string]attr.Value) diag.Diagnostics {
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

// Getter reads the configuration, plan or state of a request.
type Getter interface {
	Get(ctx context.Context, target any) diag.Diagnostics
}
