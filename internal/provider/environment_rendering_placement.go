package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// reactions are what a guardrail of placement does.
var reactions = enumeration(fleet.Reactions)

// runAfter is run with what the state knows of earlier decisions. state and before are nil for a create.
func (r *rendering) runAfter(ctx context.Context, state *environmentRenderingModel, before *delivery.State) fleet.Problems {
	if ps := r.takeEarlier(state, before); len(ps) > 0 {
		return ps
	}
	return r.run(ctx)
}

// takeEarlier hands the earlier decisions to the fleet. If they can't be read, a fleet that keeps them is refused.
func (r *rendering) takeEarlier(state *environmentRenderingModel, before *delivery.State) fleet.Problems {
	if state == nil || !schedule.Places(r.fleet) {
		return nil
	}
	earlier, known := before.Earlier()
	switch {
	case known:
		r.fleet.Earlier = earlier
	case !state.CommitSHA.IsNull() && schedule.KeepsEarlier(r.fleet):
		return fleet.Problems{{
			Summary: "Earlier decisions of placement can't be read",
			Detail: "The private state of the rendering is missing or of another version of the provider. Without the earlier decisions, " +
				"placement would decide anew and move deployment targets. Plan with a refresh, which reads them from the record on the " +
				"branch. If that does not help, remove the rendering from the state with \"terraform state rm\" and import it.",
		}}
	default:
		r.fleet.Earlier = placement.Earlier{Holds: state.holders()}
	}
	return nil
}

// holders returns the cluster types of each deployment target, by the assignments that the state shows.
func (m *environmentRenderingModel) holders() map[string][]string {
	all := map[string][]string{}
	for clusterType, v := range m.Assignments.Elements() {
		if targets, ok := v.(types.Map); ok {
			for target := range targets.Elements() {
				all[target] = append(all[target], clusterType)
			}
		}
	}
	for _, clusterTypes := range all {
		slices.Sort(clusterTypes)
	}
	return all
}
