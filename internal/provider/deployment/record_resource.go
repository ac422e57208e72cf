package deployment

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// recordTimeout is the default of all timeouts.
const recordTimeout = 10 * time.Minute

// NewRecord returns the resource kalypso_deployment_record, which records what the clusters of an environment run.
func NewRecord() resource.Resource {
	return resources.NewManaged(resources.Managed{
		Name: "deployment_record", Schema: deploymentRecordSchema, Identity: deploymentRecordIdentity,
		Identify: identifyRecord, ReadTimeout: recordTimeout, WriteTimeout: recordTimeout,
		Plan: planRecord, Apply: applyRecord, Read: readRecord, Left: "left the recorded history unchanged",
	})
}

// deploymentRecordIdentity identifies a record by its environment in the store. Records are not imported.
var deploymentRecordIdentity = resources.Identity{
	{Name: "environment", Required: true, Description: "Name of the environment in the store."},
}

// identifyRecord returns the environment. Without an environment in the state, it is the recorded one; "" before the
// first record.
func identifyRecord(c *resources.Call, m resources.Model) map[string]string {
	name, memory := m.Text("environment"), readMemory(c)
	if last := recorded(m, recordMemory{Present: memory.Present}, m["store"]); name == "" && last != nil {
		name = last.Environment
	}
	return map[string]string{"environment": name}
}

func readMemory(c *resources.Call) recordMemory {
	return resources.GetPrivate[recordMemory](context.Background(), c.Private, recordMemoryKey, c.Diags)
}

// planRecord plans a record if one is due. Otherwise it keeps the state, including the observation. It contacts
// nothing.
func planRecord(_ context.Context, c *resources.Call) resources.Model {
	d := decideRecord(c.Plan, c.State, readMemory(c), c.Diags)
	switch {
	case c.Diags.HasError():
		return nil
	case d.unknown:
		checkStore(c)
		c.Plan.SetUnknown(recordResults...)
	case d.due:
		checkStore(c)
		setRecord(c.Plan, d)
	default:
		keepRecord(c.Plan, c.State)
		if c.State != nil {
			c.Plan.Keep(c.State, "deployment", "history")
		}
	}
	return c.Plan
}

// checkStore reports a store that the apply could not open. It contacts nothing.
func checkStore(c *resources.Call) {
	if store := storeOf(c.Plan); c.Data != nil && tfvalue.WhollyKnown(store) && c.Data.StoreKnown(store) {
		c.Data.OpenStore(store, c.Diags)
	}
}

func storeOf(m resources.Model) types.Object {
	store, _ := m["store"].(types.Object)
	return store
}

// applyRecord records what changed, and without a state everything that the store does not have yet.
func applyRecord(ctx context.Context, c *resources.Call) resources.Model {
	memory := readMemory(c)
	d := decideRecord(c.Plan, c.State, memory, c.Diags)
	switch {
	case c.Diags.HasError():
		return nil
	case d.due:
		return makeRecord(ctx, c, d)
	}
	keepRecord(c.Plan, c.State)
	resources.SetPrivate(ctx, c.Private, recordMemoryKey, memory, c.Diags)
	return c.Plan
}

// makeRecord makes a record, and sets the computed attributes and the private state.
func makeRecord(ctx context.Context, c *resources.Call, d recordDecision) resources.Model {
	store := c.Data.OpenStore(storeOf(c.Plan), c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	done, err := store.Record(ctx, d.recording)
	if err != nil {
		c.Diags.AddAttributeError(path.Root("store"), "The record can't be stored", problem.Sentence(err)+
			" Nothing was recorded. The next apply records everything since the last record.")
		return nil
	}
	if now := d.recording.Observation; !done.StoredAt.IsZero() {
		text := fmt.Sprintf("The observation of %s was not recorded, because the store has an observation of %s from "+
			"another run.",
			now.ObservedAt.UTC().Format(time.RFC3339Nano), done.StoredAt.UTC().Format(time.RFC3339Nano))
		if done.StoredAt.After(c.Data.Now()) {
			text += " That time is in the future: the clock of that run was ahead, or this clock is behind. Nothing is " +
				"recorded until then. To record earlier, correct the clock, and " +
				store.RemovalSteps(now.Environment, now.ObservedAt)
		}
		c.Diags.AddAttributeWarning(path.Root("deployment"), "A newer observation was already recorded", text)
	}
	setRecord(c.Plan, d)
	tflog.Info(ctx, "recorded what the clusters run", map[string]any{
		"environment": d.recording.Observation.Environment, "changes": done.Changes,
	})
	memory := recordMemory{Skipped: done.Differs}
	if done.Present != d.recording.Observation {
		memory.Present = done.Present.Encode()
	}
	resources.SetPrivate(ctx, c.Private, recordMemoryKey, memory, c.Diags)
	return c.Plan
}

// readRecord asks the store for its last record. If the store has no record, or an older one than the state, the next
// apply compares everything. If the store does not answer, the state stays the same.
func readRecord(ctx context.Context, c *resources.Call) resources.Model {
	memory, at := readMemory(c), storeOf(c.State)
	was := recorded(c.State, recordMemory{Present: memory.Present}, at)
	if c.Diags.HasError() || was == nil || !c.Data.StoreKnown(at) {
		return nil
	}
	store := c.Data.OpenStore(at, c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	last, err := store.Snapshot(ctx, was.Environment)
	if err != nil {
		c.Diags.AddAttributeWarning(path.Root("store"), "The store can't be read", problem.Sentence(err)+
			" The plan uses the last state instead.")
		return nil
	}
	memory.Lost = last.ObservedAt.Before(was.ObservedAt)
	resources.SetPrivate(ctx, c.Private, recordMemoryKey, memory, c.Diags)
	return nil
}
