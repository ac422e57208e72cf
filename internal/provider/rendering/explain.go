package rendering

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// explainErrors ends every error of a rendering with the decision of the promotion, and with the state of the waves. An
// error hides the plan, which would show both. step is the step of the rollout, or nil if it is not known.
// A refresh and a destroy know only the promotion in the state, which is older than the waves: it chose the commit for
// the last wave when the rollout was still under way.
func explainErrors(
	m resources.Model, diags *diag.Diagnostics, verbs verbs, before *delivery.State, step *rollout.Step,
) {
	if !diags.HasError() {
		return
	}
	text := explainPromotion(m.Decoder(), verbs)
	if !m.IsNull("rollout") {
		text += explainRollout(m.Text("rollout_status"), before, step)
	}
	if text == "" {
		return
	}
	for i, d := range *diags {
		if d.Severity() == diag.SeverityError {
			detail := strings.TrimRight(strings.TrimRight(d.Detail(), "\n")+"\n"+text, "\n")
			(*diags)[i] = tfvalue.Restate(d, diag.SeverityError, d.Summary(), detail)
		}
	}
}

// verbs describe what a promotion does with a commit, by its decision. begin is the beginning of the sentence, and keep
// the verb of all other decisions.
type verbs struct {
	begin, keep string
	of          map[promotion.Kind]string
}

var (
	wouldDo = verbs{"The promotion would", "stay at", map[promotion.Kind]string{
		promotion.Promote: "take", promotion.Rollback: "go back to", promotion.Pinned: "be pinned to",
	}}
	did = verbs{"When the last change was planned, the promotion", "stayed at", map[promotion.Kind]string{
		promotion.Promote: "took", promotion.Rollback: "went back to", promotion.Pinned: "was pinned to",
	}}
)

func explainPromotion(d tfvalue.Decoder, verbs verbs) string {
	p := schemas.ReadPromotion(d)
	if p == nil || p.Summary == "" || !d.Known("promotion") {
		return ""
	}
	verb, commit := cmp.Or(verbs.of[p.Decision], verbs.keep), "commit "+printable.Line(p.Commit)
	if p.Commit == "" {
		verb, commit = verbs.of[promotion.Promote], "no commit"
	}
	lines := strings.Split(strings.TrimSpace(printable.Text(p.Summary)), "\n")
	return fmt.Sprintf("\n%s %s %s:\n%s", verbs.begin, verb, commit, problem.IndentedList(lines, problem.MaxListed))
}

func explainRollout(status string, before *delivery.State, step *rollout.Step) string {
	text := "no wave was written yet"
	switch {
	case before == nil && status != "": // the private state can't be read
		text = "the last commit wrote " + printable.Line(status)
	case before != nil && before.Rollout != nil:
		text = "the last commit wrote " + printable.Line(before.Rollout.Status())
		if before.Rollout.UnderWay() {
			text += ", and the rollout is under way"
		} else {
			text += ", and completed the rollout"
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
	if len(step.Written) > 0 {
		lines = append(lines, "the next wave: "+strings.Join(step.Written, ", "))
	}
	if len(lines) == 0 {
		return text
	}
	return text + problem.IndentedList(lines, problem.MaxListed)
}
