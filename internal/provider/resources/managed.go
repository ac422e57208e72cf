package resources

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*managed)(nil)
	_ resource.ResourceWithValidateConfig = (*managed)(nil)
	_ resource.ResourceWithModifyPlan     = (*managed)(nil)
	_ resource.ResourceWithIdentity       = (*managed)(nil)
	_ resource.ResourceWithImportState    = (*importable)(nil)
)

// Managed defines a resource by what it does with its plan and its state. A function that is nil does nothing.
type Managed struct {
	Name string
	// Schema returns the attributes. The argument timeouts is added if they have none.
	Schema   func() schema.Schema
	Identity Identity
	// Identify returns the attributes of the identity that the state does not contain. A call has no plan in a refresh.
	Identify func(*Call, Model) map[string]string
	// Repo returns the URL of the repo whose host has the pull requests in errors. Nil: errors have none.
	Repo func(Model) string
	// The defaults of timeouts. Zero: there are none.
	ReadTimeout, WriteTimeout time.Duration
	// Check reports problems of a configuration, as far as it is known. It is the plan of the call.
	Check func(*Call)
	// Plan returns the plan. Nil: Terraform's plan stays.
	Plan        func(context.Context, *Call) Model
	PlanDestroy func(context.Context, *Call)
	// Apply creates or updates. It returns the new state, or nil after an error.
	Apply func(context.Context, *Call) Model
	// Read returns the refreshed state. Nil: it stays.
	Read func(context.Context, *Call) Model
	// Destroy removes what the resource made. Nil: it stays, as Left says in the log.
	Destroy func(context.Context, *Call)
	Left    string
	// Import returns the state of what an ID names, or an identity. The state of the call has only null attributes.
	Import func(ctx context.Context, c *Call, id string, identity map[string]string) Model
}

// Call is one call of Terraform on a resource.
type Call struct {
	Data    *configuration.Data // nil until the provider is configured
	Config  tfsdk.Config        // of a plan and an apply
	Plan    Model               // nil in a refresh and a destroy
	State   Model               // nil in a create
	Private PrivateState
	Bulk    *Bulk         // in the private state; nil if Terraform validates
	Limit   time.Duration // the timeout of an apply
	Removed bool          // a refresh sets it if what the resource made no longer exists
	Diags   *diag.Diagnostics
}

// Known reports whether the provider is configured, and its configuration is known.
func (c *Call) Known() bool { return c.Data != nil && c.Data.Known }

// Within limits ctx by the timeout of an operation, or by fallback if timeouts does not set it.
func (c *Call) Within(
	ctx context.Context, of timeoutGetter, fallback time.Duration,
) (context.Context, context.CancelFunc) {
	m := c.Plan
	if m == nil {
		m = c.State
	}
	if _, timed := m["timeouts"]; !timed {
		return ctx, func() {}
	}
	limit, ds := readTimeout(ctx, m, of, fallback)
	c.Limit = limit
	c.Diags.Append(ds...)
	return context.WithTimeout(ctx, limit)
}

// The default timeouts of most resources.
const (
	ReadTimeout  = 10 * time.Minute
	WriteTimeout = 30 * time.Minute
)

// managed calls the functions of a resource.
type managed struct {
	named
	of Managed
}

// importable is a resource that can be imported.
type importable struct{ managed }

// NewManaged returns a resource.
func NewManaged(of Managed) resource.Resource {
	r := managed{named{name: of.Name}, of}
	if of.Import != nil {
		return &importable{r}
	}
	return &r
}

// Schema adds the argument timeouts to the schema.
func (r *managed) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.of.Schema()
	if _, own := resp.Schema.Attributes["timeouts"]; own || r.of.WriteTimeout == 0 {
		return
	}
	text := func(limit time.Duration) string {
		return fmt.Sprintf("How long it may take, such as `90s` or `1h`. The default is `%dm`.", limit/time.Minute)
	}
	read, write := text(r.of.ReadTimeout), text(r.of.WriteTimeout)
	resp.Schema.Attributes["timeouts"] = schemas.Timeouts(timeouts.Opts{
		Create: true, Read: r.of.Read != nil, Update: true, Delete: r.of.Destroy != nil,
		CreateDescription: write, ReadDescription: read, UpdateDescription: write, DeleteDescription: write,
	})
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *managed) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = r.of.Identity.Schema()
}

// call reads a plan and a state, which may be nil.
func (r *managed) call(
	ctx context.Context, plan, state tfvalue.Getter, private PrivateState, diags *diag.Diagnostics,
) *Call {
	c := &Call{Data: r.Data, Private: private, Bulk: bulkOf(ctx), Diags: diags}
	if plan != nil {
		c.Plan = readModel(ctx, plan, diags)
	}
	if state != nil {
		c.State = readModel(ctx, state, diags)
	}
	return c
}

// translate gives the pull requests in errors the name that their host gives them.
func (r *managed) translate(c *Call) {
	m := c.Plan
	if m == nil {
		m = c.State
	}
	if r.of.Repo != nil && len(*c.Diags) > 0 {
		c.Data.TranslatePullRequest(r.of.Repo(m), c.Diags)
	}
}

// identify sets the identity from a state.
func (r *managed) identify(ctx context.Context, c *Call, state *tfsdk.State, to *tfsdk.ResourceIdentity) {
	r.of.Identity.Set(ctx, state, to, c.Diags)
	if to == nil || state.Raw.IsNull() || r.of.Identify == nil {
		return
	}
	for name, value := range r.of.Identify(c, readModel(ctx, state, c.Diags)) {
		c.Diags.Append(to.SetAttribute(ctx, path.Root(name), value)...)
	}
}

// ValidateConfig reports problems of the known arguments.
func (r *managed) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	if r.of.Check == nil {
		return
	}
	if c := r.call(ctx, req.Config, nil, nil, &resp.Diagnostics); !c.Diags.HasError() {
		r.of.Check(c)
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan. Terraform calls it again during apply. So planned values that
// are known depend on the configuration, the prior state and the private state alone.
func (r *managed) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	c := r.call(ctx, req.Plan, req.State, resp.Private, &resp.Diagnostics)
	c.Config = req.Config
	defer r.translate(c)
	switch {
	case c.Diags.HasError():
	case c.Plan == nil && r.of.PlanDestroy != nil:
		r.of.PlanDestroy(ctx, c)
	case c.Plan != nil && r.of.Plan != nil:
		if planned := r.of.Plan(ctx, c); planned != nil && !c.Diags.HasError() {
			c.Diags.Append(resp.Plan.Set(ctx, planned.Object())...)
		}
	}
}

// Create implements resource.Resource. If it fails, there is no state.
func (r *managed) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	c := r.call(ctx, req.Plan, nil, resp.Private, &resp.Diagnostics)
	c.Config = req.Config
	r.apply(ctx, c, timeouts.Value.Create, &resp.State, resp.Identity)
}

// Update implements resource.Resource. If it fails, the state stays.
func (r *managed) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	c := r.call(ctx, req.Plan, req.State, resp.Private, &resp.Diagnostics)
	c.Config = req.Config
	r.apply(ctx, c, timeouts.Value.Update, &resp.State, resp.Identity)
}

func (r *managed) apply(
	ctx context.Context, c *Call, of timeoutGetter, state *tfsdk.State, identity *tfsdk.ResourceIdentity,
) {
	defer r.translate(c)
	defer func() { r.identify(ctx, c, state, identity) }()
	limited, cancel := c.Within(ctx, of, r.of.WriteTimeout)
	defer cancel()
	if c.Diags.HasError() {
		return
	}
	if after := r.of.Apply(limited, c); after != nil {
		c.Diags.Append(state.Set(ctx, after.Object())...)
	}
}

// Read implements resource.Resource.
func (r *managed) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	c := r.call(ctx, nil, req.State, resp.Private, &resp.Diagnostics)
	defer r.translate(c)
	r.identify(ctx, c, &req.State, resp.Identity)
	if c.Diags.HasError() || r.of.Read == nil {
		return
	}
	limited, cancel := c.Within(ctx, timeouts.Value.Read, r.of.ReadTimeout)
	defer cancel()
	now := r.of.Read(limited, c)
	explainTimeout(limited, c.Diags, refreshRanOut)
	explainGone(c.Diags)
	if c.Removed {
		resp.State.RemoveResource(ctx)
	} else if now != nil {
		c.Diags.Append(resp.State.Set(ctx, now.Object())...)
	}
}

// explainGone says how to give up a resource whose repo no longer exists. A destroy refreshes first, so a refresh says
// it too.
func explainGone(diags *diag.Diagnostics) {
	for i, d := range *diags {
		if d.Severity() == diag.SeverityError && d.Summary() == gitremote.Summary(gitremote.ErrRepoNotFound) {
			(*diags)[i] = tfvalue.Restate(d, d.Severity(), d.Summary(), d.Detail()+"\n\nIf the repo no longer exists, and "+
				"the resource should go too, remove it from the state: terraform state rm with the address of the resource.")
		}
	}
}

// Delete implements resource.Resource.
func (r *managed) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	if r.of.Destroy == nil {
		tflog.Info(ctx, r.of.Left)
		return
	}
	c := r.call(ctx, nil, req.State, resp.Private, &resp.Diagnostics)
	defer r.translate(c)
	limited, cancel := c.Within(ctx, timeouts.Value.Delete, r.of.WriteTimeout)
	defer cancel()
	if !c.Diags.HasError() {
		r.of.Destroy(limited, c)
		explainTimeout(limited, c.Diags, destroyRanOut)
		explainGone(c.Diags)
	}
}

// ImportState implements resource.ResourceWithImportState.
func (r *importable) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	defer cleanImport(&resp.Diagnostics)
	c := &Call{
		Data: r.Data, State: NullModel(resp.State.Schema.GetAttributes()), Private: resp.Private, Bulk: bulkOf(ctx),
		Diags: &resp.Diagnostics,
	}
	limited, cancel := context.WithTimeout(ctx, ReadTimeout)
	defer cancel()
	identity := r.of.Identity.Imported(ctx, req, c.Diags)
	if found := r.of.Import(limited, c, req.ID, identity); found != nil && !c.Diags.HasError() {
		c.Diags.Append(resp.State.Set(ctx, found.Object())...)
		r.identify(ctx, c, &resp.State, resp.Identity)
	}
}
