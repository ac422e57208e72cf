package resources

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// Identity contains the attributes by which Terraform identifies a resource, from Terraform and OpenTofu 1.12
// on.
type Identity []identityAttribute

// identityAttribute is one attribute of a resource's identity.
type identityAttribute struct {
	Name string
	// State is the state's attribute with the same value. The zero value means that only an import uses the attribute.
	State       path.Path
	Required    bool // for an import
	Description string
}

// GitOpsIdentity identifies a resource by the destination of a rendering, its argument gitops_repo.
var GitOpsIdentity = Identity{
	{Name: "repo", State: path.Root("gitops_repo").AtName("repo"), Required: true,
		Description: "URL of the GitOps repo."},
	{Name: "branch", State: path.Root("gitops_repo").AtName("branch"), Required: true,
		Description: "Branch of the repo."},
	{Name: "path", State: path.Root("gitops_repo").AtName("path"),
		Description: "Path of the rendering in the repo. Null for the root."},
}

// Schema returns the identity's schema.
func (identity Identity) Schema() identityschema.Schema {
	attributes := make(map[string]identityschema.Attribute, len(identity))
	for _, a := range identity {
		attributes[a.Name] = identityschema.StringAttribute{
			RequiredForImport: a.Required, OptionalForImport: !a.Required, Description: a.Description,
		}
	}
	return identityschema.Schema{Attributes: attributes}
}

// Set copies the identity from a state. Without a state, it leaves the identity unchanged.
func (identity Identity) Set(
	ctx context.Context, state *tfsdk.State, to *tfsdk.ResourceIdentity, diags *diag.Diagnostics,
) {
	if to == nil || state.Raw.IsNull() {
		return
	}
	for _, a := range identity {
		value := types.StringNull()
		if len(a.State.Steps()) > 0 {
			diags.Append(state.GetAttribute(ctx, a.State, &value)...)
		}
		diags.Append(to.SetAttribute(ctx, path.Root(a.Name), value)...)
	}
}

// Imported returns the attributes of the identity in an import, or nil if the import has an ID instead.
func (identity Identity) Imported(
	ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics,
) map[string]string {
	if req.ID != "" || req.Identity == nil {
		return nil
	}
	values := make(map[string]string, len(identity))
	for _, a := range identity {
		var value types.String
		diags.Append(req.Identity.GetAttribute(ctx, path.Root(a.Name), &value)...)
		values[a.Name] = value.ValueString()
	}
	return values
}

// cleanImport makes the errors and warnings of an import safe to show: users may type any ID, even a URL with a
// password.
func cleanImport(diags *diag.Diagnostics) {
	for i, d := range *diags {
		summary, detail := printable.Line(redact.UserInfo(d.Summary())), printable.Text(redact.UserInfo(d.Detail()))
		(*diags)[i] = tfvalue.Restate(d, d.Severity(), summary, detail)
	}
}
