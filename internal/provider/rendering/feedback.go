package rendering

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/feedback"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// feedbackKey is the key in private state of the feedback of earlier applies: a [feedback.Sent].
const feedbackKey = "feedback"

func feedbackArgument() schema.SingleNestedAttribute {
	return schemas.OptionalObject(
		"Shows teams, after each delivery, what became of their workloads; with pull requests, after "+
			"the merge. A host that fails is a warning, and the next apply tries again: see the guide Large fleets.",
		map[string]schema.Attribute{
			"status": schemas.OptionalObject(
				"Set a status on the commit of each workload's repo that `sources` names: `success`, "+
					"`failure`, or `pending` if no policy places a target.",
				map[string]schema.Attribute{
					"context": schemas.RequiredString("The name of the status, such as `kalypso/dev`. Each environment needs " +
						"its own."),
				},
			),
			"issues": schemas.OptionalObject(
				"Open an issue for each workload that fails to render, and close it once the workload "+
					"renders. Not on Azure DevOps.",
				map[string]schema.Attribute{
					"repo":   schemas.OptionalString("The URL of the repo of the issues. The default is each workload's own repo."),
					"labels": schemas.OptionalSet("Labels of new issues, without commas."),
				},
			),
		},
	)
}

// readFeedback reads the argument feedback; nil: it is not set.
func readFeedback(d tfvalue.Decoder) *wish.Feedback {
	given, ok := d.Object("feedback")
	if !ok {
		return nil
	}
	f := &wish.Feedback{Unknown: !d.Known("feedback")}
	if status, ok := given.Object("status"); ok {
		f.Context = status.String("context")
	}
	if issues, ok := given.Object("issues"); ok {
		f.Issues = &wish.IssueTarget{Repo: issues.String("repo"), Labels: issues.Strings("labels")}
	}
	return f
}

// feedbackGiver gives the feedback of a rendering in one operation.
type feedbackGiver struct {
	data    *configuration.Data
	private schemas.PrivateState
	state   *environmentRenderingModel // before the operation; nil for a create
	diags   *diag.Diagnostics
}

// last returns the value of feedback_status before the operation.
func (g feedbackGiver) last() types.String {
	if g.state == nil {
		return types.StringNull()
	}
	return g.state.FeedbackStatus
}

// sent returns the feedback of earlier applies. A create has none: it finds the issues of an earlier rendering on
// the host.
func (g feedbackGiver) sent(ctx context.Context) (said feedback.Sent) {
	if g.state == nil {
		return said
	}
	return schemas.GetPrivate[feedback.Sent](ctx, g.private, feedbackKey, g.diags)
}

// plan plans the attribute feedback_status: the feedback that the apply gives, or else the last feedback. If the apply
// gives any, it needs the commits of the objects, so the plan does not keep the old values of sources and the like.
func (g feedbackGiver) plan(ctx context.Context, decision *delivery.Decision) types.String {
	last, said, settings := g.last(), g.sent(ctx), decision.Applied.Wish.Feedback
	if settings == nil && len(said.Issues) == 0 {
		return last
	}
	due, known := feedback.Due(decision)
	if g.data == nil || !g.data.Known {
		if known && !due {
			return last
		}
		return types.StringUnknown()
	}
	host := g.data.HostFor(g.diags)
	if host == nil {
		return last
	}
	ps, err := feedback.CheckRepo(host, settings)
	if tfvalue.AppendProblems(g.diags, ps); err != nil {
		configuration.AppendHostError(g.diags, path.Root("feedback").AtName("issues").AtName("repo"), err)
	}
	switch {
	case !known:
		return types.StringUnknown()
	case !due || g.diags.HasError():
		return last
	}
	message, known := feedback.NewMessage(ctx, decision.Applied, decision.Before)
	if !known {
		return types.StringUnknown()
	}
	tfvalue.AppendProblems(g.diags, message.Reach(host, settings, g.data.HasCredential))
	line := feedback.NewPlan(message, said).Line()
	if line == "" {
		return last
	}
	decision.KeptArguments = slices.DeleteFunc(slices.Clone(decision.KeptArguments), func(name string) bool {
		return name == schemas.SourcesAttribute || name == "manifests"
	})
	if line == last.ValueString() {
		line += " again" // Terraform applies no plan without a change
	}
	return types.StringValue(line)
}

// set sets the attribute feedback_status, and adds it to the description of a change.
func (g feedbackGiver) set(m *environmentRenderingModel, status types.String) {
	m.FeedbackStatus = status
	d := m.Description
	switch {
	case status.Equal(g.last()), d.IsNull(), d.IsUnknown(), g.state != nil && d.Equal(g.state.Description):
	case status.IsUnknown():
		m.Description = types.StringUnknown()
	default:
		m.Description = types.StringValue(describe.WithFeedback(d.ValueString(), status.ValueString()))
	}
}

// send gives the feedback of an apply. It never fails: problems are warnings, and the next apply tries again. planned
// contains the planned results. It reports whether all feedback was given, so that the next plan has none.
func (g feedbackGiver) send(
	ctx context.Context, m *environmentRenderingModel, result *remote.Result, planned deliveryResults,
) (settled bool) {
	last, said, settings := g.last(), g.sent(ctx), result.Applied.Wish.Feedback
	if m.FeedbackStatus = planned.FeedbackStatus; m.FeedbackStatus.IsUnknown() {
		m.FeedbackStatus = last
	}
	if settings == nil && len(said.Issues) == 0 || feedback.Proposed(result.State) {
		return true
	}
	message, known := feedback.NewMessage(ctx, result.Applied, result.State)
	host := g.data.HostFor(g.diags)
	if !known || host == nil {
		return false
	}
	unreached := message.Reach(host, settings, g.data.HasCredential) // the plan has shown it
	plan := feedback.NewPlan(message, said)
	if plan.Empty() || planned.FeedbackStatus.Equal(last) {
		return plan.Empty() && len(unreached) == 0
	}
	if planned.FeedbackStatus.IsUnknown() {
		m.FeedbackStatus = types.StringValue(plan.Line())
	}
	if planned.Description.IsUnknown() {
		g.set(m, m.FeedbackStatus)
	}
	heard, errs := plan.Send(ctx, host)
	schemas.SetPrivate(ctx, g.private, feedbackKey, heard, g.diags)
	left := feedback.NewPlan(message, heard)
	g.warn(errs, left)
	if settled = left.Empty() && len(unreached) == 0; !settled {
		g.diags.Append(g.private.SetKey(ctx, nothingToDoKey, nil)...)
	}
	return settled
}

// end closes the issues of a rendering that was destroyed.
func (g feedbackGiver) end(ctx context.Context, environment string) {
	plan := feedback.NewPlan(&feedback.Message{Environment: environment}, g.sent(ctx))
	if plan.Empty() {
		return
	}
	if host := g.data.HostFor(g.diags); host != nil {
		_, errs := plan.Send(ctx, host)
		g.warn(errs, plan)
	}
}

// warn warns of the feedback that was not given.
func (g feedbackGiver) warn(errs []error, left *feedback.Plan) {
	const summary, next = "Some feedback to teams was not sent", "The delivery is complete, and the next apply tries " +
		"again."
	at := path.Root("feedback")
	for _, err := range errs {
		var failed diag.Diagnostics
		configuration.AppendHostError(&failed, at, err)
		for _, one := range failed {
			g.diags.AddAttributeWarning(at, summary+": "+one.Summary(), one.Detail()+"\n"+next)
		}
	}
	if len(errs) == 0 && !left.Empty() {
		g.diags.AddAttributeWarning(at, summary, "There was not enough time. "+next)
	}
}
