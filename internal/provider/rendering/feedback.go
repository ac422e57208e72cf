package rendering

import (
	"context"
	"encoding/json"
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

// feedbackKey is the key in private state of what teams heard: a [feedback.Said].
const feedbackKey = "feedback"

func feedbackArgument() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Tells teams, after each delivery, what became of their workloads; with pull requests, after " +
			"the merge. A host that fails is a warning, and the next apply tries again: see the guide Large fleets.",
		Attributes: map[string]schema.Attribute{
			"status": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Set a status on the commit of each workload's repo that `sources` names: `success`, " +
					"`failure`, or `pending` if no policy places a target.",
				Attributes: map[string]schema.Attribute{
					"context": schema.StringAttribute{
						Required: true, MarkdownDescription: "The name of the status, such as `kalypso/dev`. Each environment needs " +
							"its own.",
					},
				},
			},
			"issues": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Open an issue for each workload that fails to render, and close it once the workload " +
					"renders. Not on Azure DevOps.",
				Attributes: map[string]schema.Attribute{
					"repo": schemas.OptionalString("The URL of the repo of the issues. The default is each workload's own repo."),
					"labels": schema.SetAttribute{
						Optional: true, ElementType: types.StringType,
						MarkdownDescription: "Labels of new issues, without commas.",
					},
				},
			},
		},
	}
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

// planFeedback plans the attribute feedback_status: what the apply tells teams, or else what the last one told. If it
// tells something, the arguments that say where objects were read do not stay as they were: the apply needs their
// commits.
func (r *environmentRendering) planFeedback(
	ctx context.Context, private schemas.PrivateState, decision *delivery.Decision, state *environmentRenderingModel,
	diags *diag.Diagnostics,
) types.String {
	last, said, settings := state.feedbackStatus(), readSaid(ctx, private, state), decision.Applied.Wish.Feedback
	if settings == nil && len(said.Issues) == 0 {
		return last
	}
	due, known := feedback.Due(decision)
	if r.data == nil || !r.data.Known || !known {
		return types.StringUnknown()
	}
	host := r.data.HostFor(diags)
	if diags.HasError() {
		return last
	}
	ps, err := feedback.CheckRepo(host, settings)
	if tfvalue.AppendProblems(diags, ps); err != nil {
		configuration.AppendHostError(diags, path.Root("feedback").AtName("issues").AtName("repo"), err)
	}
	message, known := feedback.NewMessage(ctx, decision.Applied, decision.Before)
	switch {
	case !due || diags.HasError():
		return last
	case !known:
		return types.StringUnknown()
	}
	tfvalue.AppendProblems(diags, message.Reach(host, settings))
	line := feedback.NewPlan(message, said).Line()
	if line == "" {
		return last
	}
	decision.Stays = slices.DeleteFunc(slices.Clone(decision.Stays), func(name string) bool {
		return name == schemas.SourcesAttribute || name == "manifests"
	})
	if line == last.ValueString() {
		line += " again" // Terraform applies no plan without a change
	}
	return types.StringValue(line)
}

// setFeedback sets the planned attribute feedback_status, and adds it to the description of a change.
func (m *environmentRenderingModel) setFeedback(planned types.String, state *environmentRenderingModel) {
	m.FeedbackStatus = planned
	if d := m.Description; !planned.Equal(state.feedbackStatus()) && !planned.IsUnknown() && !d.IsNull() &&
		!d.IsUnknown() && (state == nil || !d.Equal(state.Description)) {
		m.Description = types.StringValue(describe.WithFeedback(d.ValueString(), planned.ValueString()))
	}
}

// feedbackStatus returns the attribute of a state; it is nil for a create.
func (m *environmentRenderingModel) feedbackStatus() types.String {
	if m == nil {
		return types.StringNull()
	}
	return m.FeedbackStatus
}

// sendFeedback tells teams what became of their workloads. It never fails: problems are warnings, and the next apply
// tries again. planned contains the planned results, and state the last ones; it is nil for a create. It reports
// whether the next plan has nothing to tell.
func (r *environmentRendering) sendFeedback(
	ctx context.Context, private schemas.PrivateState, m *environmentRenderingModel, result *remote.Result,
	planned deliveryResults, state *environmentRenderingModel, diags *diag.Diagnostics,
) (settled bool) {
	last, said, settings := state.feedbackStatus(), readSaid(ctx, private, state), result.Applied.Wish.Feedback
	if m.FeedbackStatus = planned.FeedbackStatus; m.FeedbackStatus.IsUnknown() {
		m.FeedbackStatus = last
	}
	if settings == nil && len(said.Issues) == 0 || feedback.Proposed(result.State) {
		return true
	}
	message, known := feedback.NewMessage(ctx, result.Applied, result.State)
	host := r.data.HostFor(diags)
	if !known || host == nil {
		return false
	}
	unreached := message.Reach(host, settings) // the plan has shown it
	plan := feedback.NewPlan(message, said)
	if plan.Empty() || planned.FeedbackStatus.Equal(last) {
		return plan.Empty() && len(unreached) == 0
	}
	if planned.FeedbackStatus.IsUnknown() {
		m.FeedbackStatus = types.StringValue(plan.Line())
	}
	if planned.Description.IsUnknown() {
		m.setFeedback(m.FeedbackStatus, state)
	}
	heard, errs := plan.Send(ctx, host)
	data, err := json.Marshal(heard)
	if err != nil {
		diags.AddError("Private state can't be written", err.Error())
		return false
	}
	diags.Append(private.SetKey(ctx, feedbackKey, data)...)
	left := feedback.NewPlan(message, heard)
	warnUnsent(errs, left, diags)
	if settled = left.Empty() && len(unreached) == 0; !settled {
		diags.Append(private.SetKey(ctx, nothingToDoKey, nil)...)
	}
	return settled
}

// warnUnsent warns of what teams did not hear.
func warnUnsent(errs []error, left *feedback.Plan, diags *diag.Diagnostics) {
	const summary, next = "Teams did not hear everything", "The delivery is complete, and the next apply tells them."
	for _, err := range errs {
		var failed diag.Diagnostics
		configuration.AppendHostError(&failed, path.Root("feedback"), err)
		for _, one := range failed {
			diags.AddAttributeWarning(path.Root("feedback"), summary+": "+one.Summary(), one.Detail()+"\n"+next)
		}
	}
	if len(errs) == 0 && !left.Empty() {
		diags.AddAttributeWarning(path.Root("feedback"), summary, "There was not enough time. "+next)
	}
}

// readSaid reads what teams heard so far. A create begins anew: it finds the issues of an earlier rendering on the host.
func readSaid(
	ctx context.Context, private schemas.PrivateState, state *environmentRenderingModel,
) (said feedback.Said) {
	if state == nil {
		return said
	}
	data, _ := private.GetKey(ctx, feedbackKey)
	if json.Unmarshal(data, &said) != nil { // absent, or of another version
		return feedback.Said{}
	}
	return said
}
