package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// resourceIdentity contains the attributes by which Terraform identifies a resource, from Terraform and OpenTofu 1.12
// on.
type resourceIdentity []identityAttribute

// identityAttribute is one attribute of a resource's identity.
type identityAttribute struct {
	name string
	// state is the state's attribute with the same value. The zero value means that only an import uses the attribute.
	state       path.Path
	required    bool // for an import
	description string
}

// mutableIdentity lets the identity change with the arguments: no argument replaces a resource.
var mutableIdentity = resource.ResourceBehavior{MutableIdentity: true}

// schema returns the identity's schema.
func (identity resourceIdentity) schema() identityschema.Schema {
	attributes := make(map[string]identityschema.Attribute, len(identity))
	for _, a := range identity {
		attributes[a.name] = identityschema.StringAttribute{
			RequiredForImport: a.required, OptionalForImport: !a.required, Description: a.description,
		}
	}
	return identityschema.Schema{Attributes: attributes}
}

// set copies the identity from a state. It leaves the identity alone if there is no state.
func (identity resourceIdentity) set(
	ctx context.Context, state *tfsdk.State, to *tfsdk.ResourceIdentity, diags *diag.Diagnostics,
) {
	if to == nil || state.Raw.IsNull() {
		return
	}
	for _, a := range identity {
		value := types.StringNull()
		if len(a.state.Steps()) > 0 {
			diags.Append(state.GetAttribute(ctx, a.state, &value)...)
		}
		diags.Append(to.SetAttribute(ctx, path.Root(a.name), value)...)
	}
}

// imported returns the attributes of the identity that an import gives, or nil if it gives an ID.
func (identity resourceIdentity) imported(
	ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics,
) map[string]string {
	if req.ID != "" || req.Identity == nil {
		return nil
	}
	values := make(map[string]string, len(identity))
	for _, a := range identity {
		var value types.String
		diags.Append(req.Identity.GetAttribute(ctx, path.Root(a.name), &value)...)
		values[a.name] = value.ValueString()
	}
	return values
}
