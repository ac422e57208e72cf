package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
)

// explainErrors ends every error of a rendering with what the promotion would do, and with the state of the waves: an
// error hides the plan that would show them. step is the step of the rollout, or nil if it is not known.
func (m *environmentRenderingModel) explainErrors(
	ctx context.Context, diags *diag.Diagnostics, before *delivery.State, step *rollout.Step,
) {
	if !diags.HasError() {
		return
	}
	more := m.explainPromotion(ctx) + m.explainRollout(before, step)
	if more == "" {
		return
	}
	for i, d := range *diags {
		if d.Severity() != diag.SeverityError {
			continue
		}
		detail := strings.TrimRight(strings.TrimRight(d.Detail(), "\n")+"\n"+more, "\n")
		if at, ok := d.(diag.DiagnosticWithPath); ok {
			(*diags)[i] = diag.NewAttributeErrorDiagnostic(at.Path(), d.Summary(), detail)
		} else {
			(*diags)[i] = diag.NewErrorDiagnostic(d.Summary(), detail)
		}
	}
}

func (m *environmentRenderingModel) explainPromotion(ctx context.Context) string {
	if m.Promotion.IsNull() || !fullyKnown(ctx, m.Promotion) {
		return ""
	}
	var ps problem.Problems
	p := readPromotion(decoder{arguments: map[string]attr.Value{"promotion": m.Promotion}, problems: &ps})
	if p == nil || p.Summary == "" {
		return ""
	}
	verb := "stay at"
	switch p.Decision {
	case promotion.Promote:
		verb = "take"
	case promotion.Rollback:
		verb = "go back to"
	case promotion.Pinned:
		verb = "be pinned to"
	case promotion.Frozen, promotion.Hold, promotion.UpToDate:
	}
	commit := "commit " + printable.Line(p.Commit)
	if p.Commit == "" {
		verb, commit = "take", "no commit"
	}
	lines := strings.Split(strings.TrimSpace(printable.Text(p.Summary)), "\n")
	return fmt.Sprintf("\nThe promotion would %s %s:\n%s", verb, commit, problem.IndentedList(lines, shown))
}

func (m *environmentRenderingModel) explainRollout(before *delivery.State, step *rollout.Step) string {
	if m.Rollout.IsNull() {
		return ""
	}
	text := "no wave was written yet"
	if before != nil && before.Rollout != nil {
		text = "the last commit was of " + printable.Line(before.Rollout.Status())
		if before.Rollout.UnderWay() {
			text += ", and the rollout is under way"
		} else {
			text += ", and the rollout is complete"
		}
	}
	text = "\nThe waves: " + text + ".\n"
	if step == nil {
		return text
	}
	lines := append(append([]string{}, step.Stopped...), step.Waiting...)
	if step.Paused != "" {
		lines = append(lines, "paused: "+printable.Line(step.Paused))
	}
	if len(step.Taken) > 0 {
		lines = append(lines, "the next wave: "+strings.Join(step.Taken, ", "))
	}
	if len(lines) == 0 {
		return text
	}
	return text + problem.IndentedList(lines, shown)
}
