package rendering

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// nothingToDoKey is the key of a [nothingToDo] in private state.
const nothingToDoKey = "nothing_to_do"

// nothingToDo contains the result of a plan with nothing to do. An apply computes it at its end, because it has just
// rendered the fleet. A later plan with the same inputs uses this result, and need not render the fleet again.
type nothingToDo struct {
	Inputs   []byte    `json:"inputs"` // hash of all inputs of the plan, see [hashInputs]
	Tree     string    `json:"tree"`   // hash of the fleet's tree
	Warnings []warning `json:"warnings,omitempty"`
}

// warning is a warning of a plan.
type warning struct {
	Path    []string `json:"path,omitempty"` // the name of an attribute, and the key of an element
	Summary string   `json:"summary"`
	Detail  string   `json:"detail"`
}

// keepNothingToDo stores the result of the next plan if that plan has nothing to do, see [delivery.NothingToDo]. The
// plan of the call is by now the state after the apply, and s the delivery; last and found come from the apply, see
// [render]. A development build stores nothing, since the next build may render other files.
func keepNothingToDo(
	ctx context.Context, c *resources.Call, last delivery.Plan, found problem.Problems, s *delivery.State,
) {
	if c.Data.Version == "dev" {
		return
	}
	state := c.Plan
	prior, rendered := priorOf(state), last.All().Next.Rendered
	if len(found) > 0 || schedule.Places(rendered.Args.Fleet) { // both may depend on what was delivered before
		rendered, found = render(ctx, c.Data, state, prior, s)
	}
	if found.HasErrors() {
		return
	}
	next := delivery.NothingToDo(rendered, prior, s)
	if next == nil {
		return
	}
	var planned diag.Diagnostics
	tfvalue.AppendProblems(&planned, found)
	plan := maps.Clone(state)
	show(ctx, plan, next, state, false, &planned)
	warnings, ok := encodeWarnings(planned)
	if !ok || !reflect.DeepEqual(plan, state) {
		return
	}
	kept := nothingToDo{hashInputs(c, state), claimedTree(next.Next), warnings}
	resources.SetPrivate(ctx, c.Private, nothingToDoKey, kept, c.Diags)
}

// planNothing reports whether an apply has stored that this plan has nothing to do. Then it also reports the stored
// warnings. If a check that is not stored fails, it returns false, so that a whole plan reports all errors.
func planNothing(ctx context.Context, c *resources.Call) bool {
	if c.State == nil || c.Data == nil || !reflect.DeepEqual(c.Plan, c.State) {
		return false
	}
	kept := resources.GetPrivate[nothingToDo](ctx, c.Private, nothingToDoKey, c.Diags)
	if !bytes.Equal(kept.Inputs, hashInputs(c, c.State)) {
		return false
	}
	a := decodeArguments(c.State.Decoder())
	if c.Data.Known && operations(ctx, c.Data).CheckHost(a) != nil || c.Data.Claims.Plan(a, kept.Tree, false) != nil {
		return false
	}
	for _, w := range kept.Warnings {
		c.Diags.Append(w.diagnostic())
	}
	return true
}

// hashInputs returns the hash of all inputs of a plan without a change: the provider's version, the state, and the
// delivery in the private state.
func hashInputs(c *resources.Call, state resources.Model) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %s\n", c.Data.Version, c.Bulk.Data)
	for _, name := range slices.Sorted(maps.Keys(state)) {
		fmt.Fprintf(h, "%s %s\n", name, state[name])
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
