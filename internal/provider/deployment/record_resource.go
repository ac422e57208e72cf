package deployment

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure  = (*deploymentRecord)(nil)
	_ resource.ResourceWithModifyPlan = (*deploymentRecord)(nil)
	_ resource.ResourceWithIdentity   = (*deploymentRecord)(nil)
)

// recordTimeout is the default of all timeouts.
const recordTimeout = 10 * time.Minute

// deploymentRecord records what the clusters of an environment run.
type deploymentRecord struct{ schemas.Resource }

// NewRecord returns the resource kalypso_deployment_record.
func NewRecord() resource.Resource {
	return &deploymentRecord{schemas.NewResource("deployment_record", deploymentRecordSchema, deploymentRecordIdentity)}
}

// deploymentRecordIdentity identifies a record by its environment in the store. Records are not imported.
var deploymentRecordIdentity = schemas.Identity{
	{Name: "environment", Required: true, Description: "Name of the environment in the store."},
}

// setIdentity sets the identity of a state. Without an environment in the state, it is the recorded one; "" before the
// first record.
func (m *deploymentRecordModel) setIdentity(
	ctx context.Context, memory recordMemory, to *tfsdk.ResourceIdentity, diags *diag.Diagnostics,
) {
	if to == nil || diags.HasError() {
		return
	}
	name := m.Environment.ValueString()
	if recorded := m.recorded(recordMemory{Present: memory.Present}, m.Store); name == "" && recorded != nil {
		name = recorded.Environment
	}
	diags.Append(to.SetAttribute(ctx, path.Root("environment"), name)...)
}

// ModifyPlan plans a record if one is due. Otherwise it keeps the state, including the observation. It contacts
// nothing.
func (r *deploymentRecord) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		return
	}
	diags := &resp.Diagnostics
	plan := schemas.Get[deploymentRecordModel](ctx, req.Plan, diags)
	last := schemas.GetState[deploymentRecordModel](ctx, req.State, diags)
	memory := schemas.GetPrivate[recordMemory](ctx, req.Private, recordMemoryKey, diags)
	if diags.HasError() {
		return
	}
	d := plan.decide(last, memory, diags)
	switch {
	case diags.HasError():
		return
	case d.unknown:
		r.checkStore(plan.Store, diags)
		plan.RecordedAt, plan.Changes, plan.Summary = types.StringUnknown(), types.Int64Unknown(), types.StringUnknown()
	case d.due:
		r.checkStore(plan.Store, diags)
		plan.set(d)
	default:
		plan.keep(last)
		if last != nil {
			plan.Deployment, plan.History = last.Deployment, last.History
		}
	}
	diags.Append(resp.Plan.Set(ctx, plan)...)
}

// checkStore reports a store that the apply could not open. It contacts nothing.
func (r *deploymentRecord) checkStore(store types.Object, diags *diag.Diagnostics) {
	if r.Data != nil && tfvalue.WhollyKnown(store) && r.Data.StoreKnown(store) {
		r.Data.OpenStore(store, diags)
	}
}

// Create records everything that the store does not have yet.
func (r *deploymentRecord) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	diags := &resp.Diagnostics
	plan := schemas.Get[deploymentRecordModel](ctx, req.Plan, diags)
	if plan == nil {
		return
	}
	if memory := r.record(ctx, plan, nil, recordMemory{}, timeouts.Value.Create, diags); !diags.HasError() {
		diags.Append(resp.State.Set(ctx, plan)...)
		schemas.SetPrivate(ctx, resp.Private, recordMemoryKey, memory, diags)
		plan.setIdentity(ctx, memory, resp.Identity, diags)
	}
}

// Update records what changed.
func (r *deploymentRecord) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	diags := &resp.Diagnostics
	plan := schemas.Get[deploymentRecordModel](ctx, req.Plan, diags)
	last := schemas.Get[deploymentRecordModel](ctx, req.State, diags)
	memory := schemas.GetPrivate[recordMemory](ctx, req.Private, recordMemoryKey, diags)
	if diags.HasError() {
		return
	}
	if kept := r.record(ctx, plan, last, memory, timeouts.Value.Update, diags); !diags.HasError() {
		diags.Append(resp.State.Set(ctx, plan)...)
		schemas.SetPrivate(ctx, resp.Private, recordMemoryKey, kept, diags)
		plan.setIdentity(ctx, kept, resp.Identity, diags)
	}
}

// record makes a record if one is due, sets the computed attributes, and returns what private state keeps.
func (r *deploymentRecord) record(
	ctx context.Context, plan, last *deploymentRecordModel, memory recordMemory, of schemas.TimeoutGetter,
	diags *diag.Diagnostics,
) recordMemory {
	d := plan.decide(last, memory, diags)
	if diags.HasError() {
		return memory
	}
	if !d.due {
		plan.keep(last)
		return memory
	}
	store := r.Data.OpenStore(plan.Store, diags)
	if diags.HasError() {
		return memory
	}
	limited, cancel := schemas.Within(ctx, plan.Timeouts, of, recordTimeout, diags)
	defer cancel()
	if diags.HasError() {
		return memory
	}
	done, err := store.Record(limited, d.recording)
	if err != nil {
		diags.AddAttributeError(path.Root("store"), "The record can't be stored", problem.Sentence(err)+
			" Nothing was recorded. The next apply records everything since the last record.")
		return memory
	}
	if now := d.recording.Observation; !done.StoredAt.IsZero() {
		text := fmt.Sprintf("The observation of %s was not recorded, because the store has an observation of %s from "+
			"another run.",
			now.ObservedAt.UTC().Format(time.RFC3339Nano), done.StoredAt.UTC().Format(time.RFC3339Nano))
		if done.StoredAt.After(r.Data.Now()) {
			text += " That time is in the future: the clock of that run was ahead, or this clock is behind. Nothing is " +
				"recorded until then. To record earlier, correct the clock, and " +
				store.RemovalSteps(now.Environment, now.ObservedAt)
		}
		diags.AddAttributeWarning(path.Root("deployment"), "A newer observation was already recorded", text)
	}
	plan.set(d)
	tflog.Info(ctx, "recorded what the clusters run", map[string]any{
		"environment": d.recording.Observation.Environment, "changes": done.Changes,
	})
	memory = recordMemory{Skipped: done.Differs}
	if done.Present != d.recording.Observation {
		memory.Present = done.Present.Encode()
	}
	return memory
}

// Read asks the store for its last record. If the store has no record, or an older one than the state, the next apply
// compares everything. If the store does not answer, the state stays the same.
func (r *deploymentRecord) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := schemas.Get[deploymentRecordModel](ctx, req.State, &resp.Diagnostics)
	memory := schemas.GetPrivate[recordMemory](ctx, req.Private, recordMemoryKey, &resp.Diagnostics)
	if state == nil {
		return
	}
	limited, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Read, recordTimeout, &resp.Diagnostics)
	defer cancel()
	state.setIdentity(ctx, memory, resp.Identity, &resp.Diagnostics)
	recorded := state.recorded(recordMemory{Present: memory.Present}, state.Store)
	if resp.Diagnostics.HasError() || recorded == nil || !r.Data.StoreKnown(state.Store) {
		return
	}
	store := r.Data.OpenStore(state.Store, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	last, err := store.Snapshot(limited, recorded.Environment)
	if err != nil {
		resp.Diagnostics.AddAttributeWarning(path.Root("store"), "The store can't be read", problem.Sentence(err)+
			" The plan uses the last state instead.")
		return
	}
	memory.Lost = last.ObservedAt.Before(recorded.ObservedAt)
	schemas.SetPrivate(ctx, resp.Private, recordMemoryKey, memory, &resp.Diagnostics)
}

// Delete leaves the history, and contacts nothing.
func (r *deploymentRecord) Delete(ctx context.Context, _ resource.DeleteRequest, _ *resource.DeleteResponse) {
	tflog.Info(ctx, "left the recorded history unchanged")
}
