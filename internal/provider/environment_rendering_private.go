package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
)

// deliveryKey is the key of the delivery's state in private state.
const deliveryKey = "delivery"

// privateState is Terraform's private state of a resource.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readDelivery returns what the last run kept; nil where there is nothing, or nothing that this version reads.
func readDelivery(ctx context.Context, private privateState, diags *diag.Diagnostics) *delivery.State {
	data, ds := private.GetKey(ctx, deliveryKey)
	diags.Append(ds...)
	if len(data) == 0 {
		return nil
	}
	var s delivery.State
	if err := s.UnmarshalJSON(data); err != nil { // at once: encoding/json looks through all of it first
		return nil // of another version: Read fetches it anew from the branch
	}
	return &s
}

func writeDelivery(ctx context.Context, private privateState, s *delivery.State, diags *diag.Diagnostics) {
	data, err := s.MarshalJSON()
	if err != nil {
		diags.AddError("Private state can't be written", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, deliveryKey, data)...)
}

// getter is a configuration, a plan or a state.
type objectSetter interface {
	Set(ctx context.Context, val any) diag.Diagnostics
}

func getObject(ctx context.Context, from getter, diags *diag.Diagnostics) map[string]attr.Value {
	var v types.Object
	diags.Append(from.Get(ctx, &v)...)
	return v.Attributes()
}

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
