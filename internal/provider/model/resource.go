package model

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*modelResource)(nil)
	_ resource.ResourceWithValidateConfig = (*modelResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*modelResource)(nil)
	_ resource.ResourceWithImportState    = (*modelResource)(nil)
	_ resource.ResourceWithIdentity       = (*modelResource)(nil)
)

// modelResource is the resource of one kind of Kalypso object. It exists in state only and contacts nothing, but an
// import may read a repo.
type modelResource struct {
	*model
	data *configuration.Data
}

// NewResource returns the resource of a kind.
func NewResource(m *model) func() resource.Resource {
	return func() resource.Resource { return &modelResource{model: m} }
}

// Configure stores the provider's configuration.
func (r *modelResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.data = configuration.DataOf(req.ProviderData, &resp.Diagnostics)
}

func (r *modelResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName, resp.ResourceBehavior = req.ProviderTypeName+"_"+r.name, schemas.MutableIdentity
}

// modelIdentity identifies an object by its name. Like an import ID, an import names the file that contains it.
var modelIdentity = schemas.Identity{
	{Name: "name", State: path.Root("name"),
		Description: "Name of the object. An import needs it only if the file contains several objects of the kind."},
	{Name: "file", Required: true,
		Description: "Path of the file with Kalypso YAML that an import reads, relative to Terraform's working directory, " +
			"or to the root of repo. The state does not keep it."},
	{Name: "repo", Description: "URL of the repo with the file. Null for a file on this machine."},
	{Name: "branch", Description: "Branch of the repo, whose head is read unless commit is set."},
	{Name: "commit", Description: "Full hash of the commit to read. With branch, servers that serve no commit by its " +
		"hash can be read too."},
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *modelResource) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = modelIdentity.Schema()
}

func (r *modelResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: r.description, Attributes: schemas.Typed(r.Attributes())}
}

// read converts the arguments of a request to the domain's object.
func (r *modelResource) read(
	ctx context.Context, from tfvalue.Getter, diags *diag.Diagnostics,
) (types.Object, fleet.Object, problem.Problems) {
	var v types.Object
	diags.Append(from.Get(ctx, &v)...)
	if diags.HasError() {
		return v, nil, nil
	}
	o, ps := r.Object(problem.Origin{}, v)
	return v, o, ps
}

// ValidateConfig implements resource.ResourceWithValidateConfig. Terraform calls it for every plan too, with what is
// known by then.
func (r *modelResource) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	v, o, ps := r.read(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ps = append(ps, engine.Check(o)...)
	ps.Sort()
	if r.argument != nil {
		d := tfvalue.NewDecoder(v, new(problem.Problems))
		for i := range ps {
			ps[i].Path = r.argument(d, ps[i].Path)
		}
	}
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

// manifest returns the object's document. It is unknown if any of its values is.
func (r *modelResource) manifest(o fleet.Object, diags *diag.Diagnostics) types.String {
	if fleet.HasUnknown(o) {
		return types.StringUnknown()
	}
	text, err := fleet.MarshalYAML(o)
	if err != nil {
		diags.AddAttributeError(path.Root(ManifestAttribute), "The object can't be written as YAML", err.Error())
	}
	return types.StringValue(text)
}

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (r *modelResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		return // destroy
	}
	_, o, ps := r.read(ctx, req.Plan, &resp.Diagnostics)
	tfvalue.AppendProblems(&resp.Diagnostics, ps)
	if resp.Diagnostics.HasError() {
		return
	}
	manifest := r.manifest(o, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root(ManifestAttribute), manifest)...)
}

// Create implements resource.Resource.
func (r *modelResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.Diagnostics.Append(resp.State.Set(ctx, r.planned(ctx, req.Plan, &resp.Diagnostics))...)
	modelIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// Read implements resource.Resource: the object exists in the state only.
func (r *modelResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	modelIdentity.Set(ctx, &req.State, resp.Identity, &resp.Diagnostics)
}

// Update implements resource.Resource.
func (r *modelResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.Diagnostics.Append(resp.State.Set(ctx, r.planned(ctx, req.Plan, &resp.Diagnostics))...)
	modelIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// Delete implements resource.Resource: the framework removes the state.
func (r *modelResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// planned returns the plan, in which everything is known.
func (r *modelResource) planned(ctx context.Context, plan tfvalue.Getter, diags *diag.Diagnostics) types.Object {
	v, o, ps := r.read(ctx, plan, diags)
	tfvalue.AppendProblems(diags, ps)
	if diags.HasError() {
		return v
	}
	return r.withManifest(v.Attributes(), r.manifest(o, diags))
}

func (r *modelResource) withManifest(arguments map[string]attr.Value, manifest types.String) types.Object {
	arguments[ManifestAttribute] = manifest
	attributeTypes := r.argumentTypes()
	attributeTypes[ManifestAttribute] = types.StringType
	return types.ObjectValueMust(attributeTypes, arguments)
}
