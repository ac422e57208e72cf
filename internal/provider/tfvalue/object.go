package tfvalue

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// GetObject reads all attributes of a configuration, a plan or a state.
func GetObject(ctx context.Context, from Getter, diags *diag.Diagnostics) map[string]attr.Value {
	var v types.Object
	diags.Append(from.Get(ctx, &v)...)
	return v.Attributes()
}

// Getter reads the configuration, plan or state of a request.
type Getter interface {
	Get(ctx context.Context, target any) diag.Diagnostics
}
