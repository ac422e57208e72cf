package model

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*modelResource)(nil)
	_ resource.ResourceWithValidateConfig = (*modelResource)(nil)
	_ resource.ResourceWithImportState    = (*modelResource)(nil)
	_ resource.ResourceWithIdentity       = (*modelResource)(nil)
)

// modelResource is the resource of one kind of Kalypso object. It exists in state only and contacts nothing, but an
// import may read a repo.
type modelResource struct {
	*model
	schemas.Resource
}

// NewResource returns the resource of a kind.
func NewResource(m *model) func() resource.Resource {
	return func() resource.Resource { return newModelResource(m) }
}

func newModelResource(m *model) *modelResource {
	all := func(context.Context) schema.Schema {
		return schema.Schema{MarkdownDescription: m.description, Attributes: m.Attributes()}
	}
	return &modelResource{m, schemas.NewResource(m.name, all, modelIdentity)}
}

// modelIdentity identifies an object by its name. For an import, it also names the file that contains the object, like
// an import ID.
var modelIdentity = schemas.Identity{
	{Name: "name", State: path.Root("name"),
		Description: "Name of the object. An import needs it only if the file contains several objects of the kind."},
	{Name: "file", Required: true,
		Description: "Path of the file with Kalypso YAML that an import reads, relative to Terraform's working directory, " +
			"or to the root of repo. The state does not keep it."},
	{Name: "repo", Description: "URL of the repo with the file. Null for a file on this machine."},
	{Name: "branch", Description: "Branch of the repo, whose head is read unless commit is set."},
	{Name: "commit", Description: "Full hash of the commit to read. Set branch too if the server does not serve " +
		"commits by their hash."},
}

// ValidateConfig implements resource.ResourceWithValidateConfig. Terraform calls it for every plan too, with what is
// known by then.
func (r *modelResource) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	var v types.Object
	if resp.Diagnostics.Append(req.Config.Get(ctx, &v)...); resp.Diagnostics.HasError() {
		return
	}
	_, ps := r.checked(v)
	ps = slices.DeleteFunc(ps, func(p problem.Problem) bool { return missingRequired(r.Attributes(), v, p.Path) })
	tfvalue.AppendProblems(&resp.Diagnostics, ps)
}

// missingRequired reports whether a problem is about a required argument that is null. The framework reports that
// itself.
func missingRequired(attributes map[string]schema.Attribute, v attr.Value, steps []problem.Step) bool {
	arguments, ok := tfvalue.Members(v)
	if !ok || len(steps) == 0 {
		return false
	}
	a := attributes[steps[0].Attribute]
	nested, ok := a.(schema.SingleNestedAttribute)
	switch value := arguments[steps[0].Attribute]; {
	case a == nil:
		return false
	case tfvalue.IsNull(value):
		return a.IsRequired()
	case ok:
		return missingRequired(nested.Attributes, value, steps[1:])
	}
	return false
}

// Create implements resource.Resource.
func (r *modelResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.apply(ctx, req.Plan, &resp.State, resp.Identity, &resp.Diagnostics)
}

// Read implements resource.Resource: the object exists in the state only.
func (r *modelResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	modelIdentity.Set(ctx, &req.State, resp.Identity, &resp.Diagnostics)
}

// Update implements resource.Resource.
func (r *modelResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.apply(ctx, req.Plan, &resp.State, resp.Identity, &resp.Diagnostics)
}

// Delete implements resource.Resource: the framework removes the state.
func (r *modelResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// apply stores the plan, in which all values are known by now.
func (r *modelResource) apply(
	ctx context.Context, plan tfsdk.Plan, state *tfsdk.State, identity *tfsdk.ResourceIdentity, diags *diag.Diagnostics,
) {
	var v types.Object
	diags.Append(plan.Get(ctx, &v)...)
	_, ps := r.Object(problem.Origin{}, v)
	if tfvalue.AppendProblems(diags, ps); diags.HasError() {
		return
	}
	diags.Append(state.Set(ctx, v)...)
	modelIdentity.Set(ctx, state, identity, diags)
}
