package deployment

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

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

// decideRecord decides whether a record is due. It compares the arguments with the arguments of the last apply (nil:
// there was none), and uses nothing else but the memory.
func decideRecord(m, last resources.Model, memory recordMemory, diags *diag.Diagnostics) (d recordDecision) {
	arguments := m.Decoder()
	store, _ := arguments.Object("store")
	if _, git := store.Argument("git"); git && !m.IsNull("history") {
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
	rename(now, m)
	d.recording = history.Write{Observation: now, Deliveries: deliveriesOf(m, diags)}
	if was := recorded(last, memory, m["store"]); was != nil && history.SamePlace(was, now) {
		d.recording.Previous = was
	}
	after := schemas.ReadDuration(arguments, "renew_after", 0)
	d.due = history.Due(d.recording.Previous, now, after) ||
		history.HasNews(deliveriesOf(last, diags), d.recording.Deliveries)
	return d
}

// rename gives an observation the name of the environment in the store.
func rename(o *observation.Observation, m resources.Model) {
	if name := m.Text("environment"); name != "" {
		o.Environment = name
	}
}

// recorded returns the content of a store according to the state; nil: nothing.
func recorded(m resources.Model, memory recordMemory, store attr.Value) *observation.Observation {
	if memory.Lost || memory.Skipped || m.Text("recorded_at") == "" || !m["store"].Equal(store) {
		return nil
	}
	text := memory.Present
	if text == "" {
		deployment, _ := m.Decoder().Object("deployment")
		text = deployment.String("observation")
	}
	was, err := observation.Parse(text)
	if err != nil {
		return nil // of another version of the provider
	}
	rename(was, m)
	if at, err := time.Parse(time.RFC3339Nano, m.Text("recorded_at")); err == nil {
		was.ObservedAt = at
	}
	return was
}

// deliveriesOf returns the deployments for the store. It reports times that can't be parsed.
func deliveriesOf(m resources.Model, diags *diag.Diagnostics) []history.Delivery {
	var ps problem.Problems
	given, _ := m.Reporting(&ps).Object("history")
	all := tfvalue.ListOf[history.Delivery](given, "deployments")
	tfvalue.AppendProblems(diags, ps)
	return all
}

// recordResults are the computed attributes: the last recorded observation and its changes.
var recordResults = []string{"recorded_at", "changes", "summary"}

// keepRecord plans the results of the last record. If there was no record, they are null.
func keepRecord(m, last resources.Model) {
	m.Set(tfvalue.Values{"recorded_at": nil, "changes": 0, "summary": nil})
	if last != nil {
		m.Keep(last, recordResults...)
	}
}

// setRecord sets the results of a due record.
func setRecord(m resources.Model, d recordDecision) {
	changes := d.changes()
	m.Set(tfvalue.Values{
		"recorded_at": d.recording.Observation.ObservedAt.UTC().Format(time.RFC3339Nano),
		"changes":     history.Count(changes), "summary": history.Summary(changes),
	})
}
