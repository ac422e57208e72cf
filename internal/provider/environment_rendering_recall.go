package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
)

// A private state of another version of the provider can't be read. Read writes it anew; without it, as with
// -refresh=false, plan and apply see to it themselves that nothing of others is overwritten unseen.

// forgotten reports whether a tree was delivered, and what was kept of that is of another version.
func forgotten(state map[string]attr.Value, before *delivery.State) bool {
	commit, _ := state["commit_sha"].(types.String)
	return !commit.IsNull() && !before.Current()
}

// recall reads from the branch what would have been kept.
func (r *environmentRendering) recall(ctx context.Context, state map[string]attr.Value) (*delivery.State, error) {
	request, _ := readRenderingRequest(map[string]attr.Value{
		"environment": state["environment"], "gitops_repo": state["gitops_repo"], "delivery": state["delivery"],
	})
	hash, _ := state["tree_hash"].(types.String)
	commit, _ := state["commit_sha"].(types.String)
	delivered, _ := state["delivered"].(types.Bool)
	if commit.IsNull() || request.strategy != strategyPush && !delivered.ValueBool() { // the tree may only have been proposed
		s, _, err := delivery.Import(ctx, r.data.Client, request.place, request.fleet.Environment)
		return s, err
	}
	return delivery.Recall(ctx, r.data.Client, request.place, request.fleet.Environment, hash.ValueString(), commit.ValueString())
}

// remember is recall for a change that is planned: what others did meanwhile is reported. It is nil where nothing of ours is
// there any more, or nothing is delivered.
func (r *environmentRendering) remember(ctx context.Context, state, planned map[string]attr.Value, diags *diag.Diagnostics) *delivery.State {
	request, _ := readRenderingRequest(planned)
	if request.strategy == strategyNone {
		return nil
	}
	ctx, cancel := within(ctx, planned, timeoutOf(state), writeTimeout, diags)
	defer cancel()
	s, err := r.recall(ctx, state)
	switch {
	case errors.Is(err, gitops.ErrBranchNotFound):
		return nil
	case errors.Is(err, delivery.ErrNoRendering):
		if s != nil && s.Drifted() {
			appendDrift(diags, request.onDrift, s)
		}
		return nil
	case err != nil:
		appendDeliveryError(diags, request.place, err)
	case s.Drifted():
		appendDrift(diags, request.onDrift, s)
	}
	return s
}
