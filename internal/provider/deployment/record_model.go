package deployment

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
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

// recordMemory is the content of the private state.
type recordMemory struct {
	// Lost means that the store had none of the state's records when it was read.
	Lost bool `json:"lost,omitempty"`
	// Skipped means that the state's observation was not recorded, because the store had a newer observation with other
	// content.
	Skipped bool `json:"skipped,omitempty"`
	// Present are the current instances in the store, if the store has more than the state's observation.
	Present string `json:"present,omitempty"`
}

// recordMemoryKey is the key of [recordMemory] in private state.
const recordMemoryKey = "record"

// recordDecision describes the record of an apply.
type recordDecision struct {
	unknown   bool // an argument is not known yet
	due       bool
	recording history.Write
}

// changes returns the changes that a due record adds, according to the state.
func (d recordDecision) changes() []history.InstanceChange {
	return history.Compare(d.recording.Previous, history.Carry(d.recording.Previous, d.recording.Observation))
}

// decide decides whether a record is due. It compares the arguments with the arguments of the last apply (nil: there
// was none), and uses nothing else but the memory.
func (m *deploymentRecordModel) decide(
	last *deploymentRecordModel, memory recordMemory, diags *diag.Diagnostics,
) (d recordDecision) {
	arguments := tfvalue.NewModelDecoder(m, new(problem.Problems)) // the schema has checked the types
	store, _ := arguments.Object("store")
	if _, git := store.Argument("git"); git && !m.History.IsNull() {
		diags.AddAttributeError(path.Root("history"), "Conflicting arguments",
			"history goes to a table of store.postgres. store.git needs no history, because the Git branch already contains "+
				"the deployments: remove history.")
	}
	if !arguments.Known("deployment", "history", "environment", "store", "renew_after") {
		d.unknown = true
		return d
	}
	given, _ := arguments.Object("deployment")
	_, observed := given.Argument("observation")
	switch _, head := given.Argument("head"); {
	case !observed && !head:
		return d
	case !observed:
		diags.AddAttributeError(
			path.Root("deployment"),
			"No observation",
			"deployment does not contain the versions that the clusters run. Set versions = true in the data source "+
				"kalypso_deployment_state.",
		)
		return d
	}
	now, err := observation.Parse(given.String("observation"))
	if err != nil {
		diags.AddAttributeError(path.Root("deployment"), "Invalid observation", problem.Sentence(err))
		return d
	}
	m.rename(now)
	d.recording = history.Write{Observation: now, Deliveries: m.rows(diags)}
	if was := last.recorded(memory, m.Store); was != nil && history.SamePlace(was, now) {
		d.recording.Previous = was
	}
	var known []history.DeliveryRow
	if d.recording.Previous != nil {
		known = last.rows(diags)
	}
	after, _ := time.ParseDuration(m.RenewAfter.ValueString()) // null: 0
	d.due = history.Due(d.recording.Previous, now, after) || len(history.NewRows(known, d.recording.Deliveries)) > 0
	return d
}

// rename gives an observation the name of the environment in the store.
func (m *deploymentRecordModel) rename(o *observation.Observation) {
	if name := m.Environment.ValueString(); name != "" {
		o.Environment = name
	}
}

// recorded returns the store's content according to the state; nil: nothing.
func (m *deploymentRecordModel) recorded(memory recordMemory, store types.Object) *observation.Observation {
	if m == nil || memory.Lost || memory.Skipped || m.RecordedAt.ValueString() == "" || !m.Store.Equal(store) {
		return nil
	}
	text := memory.Present
	if text == "" {
		text = tfvalue.NewDecoder(m.Deployment, new(problem.Problems)).String("observation")
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

// rows converts the deployments for the store. It reports times that can't be parsed.
func (m *deploymentRecordModel) rows(diags *diag.Diagnostics) []history.DeliveryRow {
	if m.History.IsNull() {
		return nil
	}
	var ps problem.Problems
	given := tfvalue.NewDecoder(m.History, &ps, problem.Attr("history"))
	var rows []history.DeliveryRow
	for _, d := range given.Objects("deployments") {
		moment := func(name string) time.Time {
			text := d.String(name)
			t, err := time.Parse(time.RFC3339, text)
			if err != nil && text != "" && !unknown.Is(text) {
				given.Report("Invalid time", problem.Sentence(checkTime(text)))
			}
			return t.UTC()
		}
		rows = append(rows, history.DeliveryRow{
			FirstCommit: d.String("first_commit"), Commit: d.String("commit"), Started: moment("started_at"),
			Delivered: moment("delivered_at"), Author: d.String("author"), Kind: d.String("kind"),
			PromotedCommit: d.String("promoted_commit"), PreviousCommit: d.String("previous_commit"),
			Reason: d.String("reason"), Commits: d.Int("commits"), LeadTimeSeconds: d.Int("lead_time_seconds"),
			Running: moment("running_at"), FailedAt: moment("failed_at"), Restored: moment("restored_at"),
			Failed: d.True("failed"),
		})
	}
	tfvalue.AppendProblems(diags, ps)
	return rows
}

// keep plans the attributes of the last record: its observation and its changes. If there was no record, they are null.
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
	m.RecordedAt = types.StringValue(d.recording.Observation.ObservedAt.UTC().Format(time.RFC3339Nano))
	m.Changes = types.Int64Value(int64(history.Count(changes)))
	m.Summary = types.StringValue(history.Summary(changes))
}
