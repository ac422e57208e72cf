package deployment

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// deploymentRecordModel contains the attributes of a record.
type deploymentRecordModel struct {
	Deployment  types.Object   `tfsdk:"deployment"`
	History     types.Object   `tfsdk:"history"`
	Environment types.String   `tfsdk:"environment"`
	Store       types.Object   `tfsdk:"store"`
	RenewAfter  types.String   `tfsdk:"renew_after"`
	RecordedAt  types.String   `tfsdk:"recorded_at"`
	Changes     types.Int64    `tfsdk:"changes"`
	Summary     types.String   `tfsdk:"summary"`
	Timeouts    timeouts.Value `tfsdk:"timeouts"`
}

// recordedState contains the attributes of the argument deployment.
type recordedState struct {
	Head        types.String `tfsdk:"head"`
	Observation types.String `tfsdk:"observation"`
}

// recordedHistory contains the attributes of the argument history.
type recordedHistory struct {
	Deployments types.List `tfsdk:"deployments"`
}

// recordedDeploymentTypes lists the attributes of a deployment that a store keeps.
var recordedDeploymentTypes = map[string]attr.Type{
	"first_commit": types.StringType, "commit": types.StringType, "started_at": types.StringType,
	"delivered_at": types.StringType, "author": types.StringType, "kind": types.StringType,
	"promoted_commit": types.StringType, "previous_commit": types.StringType, "commits": types.Int64Type,
	"reason": types.StringType, "lead_time_seconds": types.Int64Type, "running_at": types.StringType,
	"failed_at": types.StringType, "failed": types.BoolType, "restored_at": types.StringType,
}

// recordMemory is the content of the private state.
type recordMemory struct {
	// Lost says that the store had none of the state's records when it was read.
	Lost bool `json:"lost,omitempty"`
	// Skipped says that the state's observation was not recorded, since the store had a newer one with other content.
	Skipped bool `json:"skipped,omitempty"`
	// Present are the current instances as far as the store knows, if these are more than those of the state's
	// observation.
	Present string `json:"present,omitempty"`
}

// recordMemoryKey is the key of [recordMemory] in private state.
const recordMemoryKey = "record"

func parseRecordMemory(text []byte) (m recordMemory) {
	if json.Unmarshal(text, &m) != nil {
		return recordMemory{}
	}
	return m
}

func (m recordMemory) encode() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // it contains texts
	}
	return text
}

// recordDecision describes the record of an apply.
type recordDecision struct {
	unknown   bool // an argument is not known yet
	due       bool
	recording history.Recording
}

// changes returns what a due record adds, as far as the state shows.
func (d recordDecision) changes() []history.InstanceChange {
	return history.Compare(d.recording.Was, history.Carry(d.recording.Was, d.recording.Now))
}

// decide compares the arguments with those of the last apply; nil: there was none. It is a function of these and of the
// memory alone.
func (m *deploymentRecordModel) decide(
	ctx context.Context, last *deploymentRecordModel, memory recordMemory, diags *diag.Diagnostics,
) (d recordDecision) {
	given, store := tfvalue.Nested[recordedState](
		ctx,
		m.Deployment,
	), tfvalue.Nested[configuration.StoreModel](
		ctx,
		m.Store,
	)
	if !m.History.IsNull() && !store.Git.IsNull() && !store.Git.IsUnknown() {
		diags.AddAttributeError(path.Root("history"), "Conflicting arguments",
			"history goes to a table of store.postgres. With store.git, Git has the deployments: remove history.")
	}
	if !tfvalue.FullyKnown(ctx, m.Deployment, m.History, m.Environment, m.Store, m.RenewAfter) {
		d.unknown = true
		return d
	}
	switch {
	case given.Observation.IsNull() && given.Head.IsNull():
		return d
	case given.Observation.IsNull():
		diags.AddAttributeError(
			path.Root("deployment"),
			"No observation",
			"deployment does not tell what the clusters run. Set versions = true in the data source kalypso_deployment_state.",
		)
		return d
	}
	now, err := observation.Parse(given.Observation.ValueString())
	if err != nil {
		diags.AddAttributeError(path.Root("deployment"), "Invalid observation", problem.Sentence(err))
		return d
	}
	m.rename(now)
	d.recording = history.Recording{Now: now, Deliveries: m.rows(ctx, diags)}
	if was := last.recorded(ctx, memory, m.Store); was != nil && history.SamePlace(was, now) {
		d.recording.Was = was
	}
	var known []history.DeliveryRow
	if d.recording.Was != nil {
		known = last.rows(ctx, diags)
	}
	after, _ := time.ParseDuration(m.RenewAfter.ValueString()) // null: 0
	d.due = history.Due(d.recording.Was, now, after) || len(history.NewRows(known, d.recording.Deliveries)) > 0
	return d
}

// rename gives an observation the name of the environment in the store.
func (m *deploymentRecordModel) rename(o *observation.Observation) {
	if name := m.Environment.ValueString(); name != "" {
		o.Environment = name
	}
}

// recorded returns the store's content according to the state; nil: nothing.
func (m *deploymentRecordModel) recorded(
	ctx context.Context, memory recordMemory, store types.Object,
) *observation.Observation {
	if m == nil || memory.Lost || memory.Skipped || m.RecordedAt.ValueString() == "" || !m.Store.Equal(store) {
		return nil
	}
	text := memory.Present
	if text == "" {
		text = tfvalue.Nested[recordedState](ctx, m.Deployment).Observation.ValueString()
	}
	was, err := observation.Parse(text)
	if err != nil {
		return nil // of another version of the provider
	}
	m.rename(was)
	if at, err := time.Parse(time.RFC3339Nano, m.RecordedAt.ValueString()); err == nil {
		was.ObservedAt = at
	}
	return was
}

// rows returns the deployments for the store. It reports times that can't be parsed.
func (m *deploymentRecordModel) rows(ctx context.Context, diags *diag.Diagnostics) []history.DeliveryRow {
	if m.History.IsNull() {
		return nil
	}
	var rows []history.DeliveryRow
	for _, v := range tfvalue.Nested[recordedHistory](ctx, m.History).Deployments.Elements() {
		object, ok := v.(types.Object)
		if !ok {
			continue
		}
		of := object.Attributes()
		text := func(name string) string { return of[name].(types.String).ValueString() } //nolint:forcetypeassert // schema
		number := func(name string) *int64 {
			return of[name].(types.Int64).ValueInt64Pointer() //nolint:forcetypeassert // schema
		}
		moment := func(name string) time.Time {
			t, err := time.Parse(time.RFC3339, text(name))
			if err != nil && text(name) != "" {
				diags.AddAttributeError(path.Root("history"), "Invalid time", problem.Sentence(checkTime(text(name))))
			}
			return t.UTC()
		}
		failed := of["failed"].(types.Bool).ValueBool() //nolint:forcetypeassert // schema
		rows = append(rows, history.DeliveryRow{
			FirstCommit: text("first_commit"), Commit: text("commit"), Started: moment("started_at"),
			Delivered: moment("delivered_at"), Author: text("author"), Kind: text("kind"),
			PromotedCommit: text("promoted_commit"), PreviousCommit: text("previous_commit"), Reason: text("reason"),
			Commits: number("commits"), LeadTimeSeconds: number("lead_time_seconds"), Running: moment("running_at"),
			FailedAt: moment("failed_at"), Restored: moment("restored_at"), Failed: failed,
		})
	}
	return rows
}

// keep keeps the last record: its observation, and what it changed. Without a last record there is none.
func (m *deploymentRecordModel) keep(last *deploymentRecordModel) {
	if last == nil {
		m.RecordedAt, m.Changes, m.Summary = types.StringNull(), types.Int64Value(0), types.StringNull()
		return
	}
	m.RecordedAt, m.Changes, m.Summary = last.RecordedAt, last.Changes, last.Summary
}

// set sets the computed attributes of a due record.
func (m *deploymentRecordModel) set(d recordDecision) {
	changes := d.changes()
	m.RecordedAt = types.StringValue(d.recording.Now.ObservedAt.UTC().Format(time.RFC3339Nano))
	m.Changes = types.Int64Value(int64(history.Count(changes)))
	m.Summary = types.StringValue(history.Summary(changes))
}
