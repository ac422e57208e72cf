package rendering

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// nothingToDoKey is the key of a [nothingToDo] in private state.
const nothingToDoKey = "nothing_to_do"

// nothingToDo contains the result of a plan with nothing to do. An apply computes it at its end, because it has just
// rendered the fleet. A later plan with the same inputs uses this result, and need not render the fleet again.
type nothingToDo struct {
	Inputs   []byte    `json:"inputs"` // hash of all inputs of the plan, see [environmentRendering.hashInputs]
	Tree     string    `json:"tree"`   // hash of the fleet's tree
	Warnings []warning `json:"warnings,omitempty"`
}

// warning is a warning of a plan.
type warning struct {
	Path    []string `json:"path,omitempty"` // the name of an attribute, and the key of an element
	Summary string   `json:"summary"`
	Detail  string   `json:"detail"`
}

// keepNothingToDo stores the result of the next plan if that plan has nothing to do, see [delivery.Settled]. state and
// s are the state and the delivery after the apply; decision and found come from the apply, see
// [environmentRendering.render]. A development build stores nothing, since the next build may render other files.
func (r *environmentRendering) keepNothingToDo(
	ctx context.Context, private schemas.PrivateState, state *environmentRenderingModel, decision *delivery.Decision,
	found problem.Problems, s *past.State, diags *diag.Diagnostics,
) {
	if r.Data.Version == "dev" {
		return
	}
	prior, rendered := state.prior(), decision.Applied.Rendered
	if len(found) > 0 || schedule.Places(rendered.Wish.Fleet) { // both may depend on what was delivered before
		rendered, found = r.render(ctx, state, prior, s)
	}
	if found.HasErrors() {
		return
	}
	next := delivery.Settled(rendered, prior, s)
	if next == nil {
		return
	}
	var planned diag.Diagnostics
	tfvalue.AppendProblems(&planned, found)
	plan := *state
	plan.plan(ctx, next, state, &planned)
	warnings, ok := encodeWarnings(planned)
	if !ok || !plan.sameAs(state) {
		return
	}
	kept := nothingToDo{r.hashInputs(ctx, state), claimedTree(next.Applied), warnings}
	schemas.SetPrivate(ctx, private, nothingToDoKey, kept, diags)
}

// planNothing reports whether an apply has stored that this plan has nothing to do. Then it also reports the stored
// warnings. If a check that is not stored fails, it returns false, so that a whole plan reports all errors. state is
// nil for a create.
func (r *environmentRendering) planNothing(
	ctx context.Context, private schemas.PrivateState, plan, state *environmentRenderingModel, diags *diag.Diagnostics,
) bool {
	if state == nil || r.Data == nil || !plan.sameAs(state) {
		return false
	}
	kept := schemas.GetPrivate[nothingToDo](ctx, private, nothingToDoKey, diags)
	if !bytes.Equal(kept.Inputs, r.hashInputs(ctx, state)) {
		return false
	}
	a := state.arguments()
	if r.Data.Known && r.remote(ctx).CheckHost(a) != nil || r.Data.Claims.Plan(a, kept.Tree, false) != nil {
		return false
	}
	for _, w := range kept.Warnings {
		diags.Append(w.diagnostic())
	}
	return true
}

// hashInputs returns the hash of all inputs of a plan without a change: the provider's version, the state, and the
// delivery in the private state.
func (r *environmentRendering) hashInputs(ctx context.Context, state *environmentRenderingModel) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %s\n", r.Data.Version, *schemas.Bulk(ctx))
	all := tfvalue.Attributes(state)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(h, "%s %s\n", name, all[name])
	}
	return h.Sum(nil)
}

// encodeWarnings returns the diagnostics as warnings. ok is false if one of them is an error, or has a path other than
// an attribute or an element of a map.
func encodeWarnings(diags diag.Diagnostics) (warnings []warning, ok bool) {
	for _, d := range diags {
		w := warning{Summary: d.Summary(), Detail: d.Detail()}
		if at, ok := d.(diag.DiagnosticWithPath); ok {
			for _, step := range at.Path().Steps() {
				switch s := step.(type) {
				case path.PathStepAttributeName:
					w.Path = append(w.Path, string(s))
				case path.PathStepElementKeyString:
					w.Path = append(w.Path, string(s))
				default:
					return nil, false
				}
			}
		}
		warnings = append(warnings, w)
	}
	return warnings, !diags.HasError()
}

func (w warning) diagnostic() diag.Diagnostic {
	if len(w.Path) == 0 {
		return diag.NewWarningDiagnostic(w.Summary, w.Detail)
	}
	at := path.Root(w.Path[0])
	for _, key := range w.Path[1:] {
		at = at.AtMapKey(key)
	}
	return diag.NewAttributeWarningDiagnostic(at, w.Summary, w.Detail)
}
