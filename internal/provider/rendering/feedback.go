package rendering

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/feedback"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// feedbackKey is the key in private state of the feedback of earlier applies: a [feedback.Sent].
const feedbackKey = "feedback"

func feedbackArgument() schema.SingleNestedAttribute {
	return schemas.OptionalObject(
		"Shows teams, after each delivery, what became of their workloads; with pull requests, after "+
			"the merge. A host that fails is a warning, and the next apply tries again: see the guide Several teams.",
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
					"renders. Issues of other accounts are never edited. Not on Azure DevOps.",
				map[string]schema.Attribute{
					"repo":   schemas.OptionalString("The URL of the repo of the issues. The default is each workload's own repo."),
					"labels": schemas.OptionalSet("Labels of new issues, without commas."),
				},
			),
		},
	)
}

// readFeedback reads the argument feedback; nil: it is not set.
func readFeedback(d tfvalue.Decoder) *delivery.Feedback {
	given, ok := d.Object("feedback")
	if !ok {
		return nil
	}
	f := new(delivery.Feedback)
	given.Read(f)
	f.Unknown = !d.Known("feedback")
	if status, ok := given.Object("status"); ok {
		f.Context = status.String("context")
	}
	return f
}

// sentFeedback returns the feedback of earlier applies. A create has none: it finds the issues of an earlier rendering
// on the host.
func sentFeedback(ctx context.Context, c *resources.Call) (sent feedback.Sent) {
	if c.State == nil {
		return sent
	}
	return resources.GetPrivate[feedback.Sent](ctx, c.Private, feedbackKey, c.Diags)
}

// lastFeedback returns the value of feedback_status before the operation.
func lastFeedback(c *resources.Call) types.String {
	return tfvalue.Nullable(c.State.Text("feedback_status"))
}

// planFeedback plans the attribute feedback_status: the feedback that the apply gives, or else the last feedback. tells
// says that the apply is known to give any.
func planFeedback(ctx context.Context, c *resources.Call, plan delivery.Plan) (status types.String, tells bool) {
	p := plan.All()
	last, sent, settings := lastFeedback(c), sentFeedback(ctx, c), p.Args.Feedback
	if settings == nil && !sent.HasIssues() {
		return last, false
	}
	due, known := feedback.Due(plan)
	if !c.Known() {
		if known && !due {
			return last, false
		}
		return types.StringUnknown(), false
	}
	host := c.Data.HostFor(c.Diags)
	if host == nil {
		return last, false
	}
	ps, err := feedback.CheckRepo(host, settings)
	tfvalue.AppendProblems(c.Diags, ps)
	if err != nil {
		configuration.AppendHostError(c.Diags, path.Root("feedback").AtName("issues").AtName("repo"), err)
	}
	switch {
	case !known:
		return types.StringUnknown(), false
	case !due || c.Diags.HasError():
		return last, false
	}
	message, known := feedback.NewMessage(ctx, p.Next, p.State)
	if !known {
		return types.StringUnknown(), false
	}
	tfvalue.AppendProblems(c.Diags, message.Reach(host, settings, c.Data.HasCredential))
	message.Before = sent.Basis // a create does not know the branch
	if p.State != nil {
		message.Before = feedback.Basis(p.Args, p.State.LastRead.RecordHash)
	}
	line := feedback.NewPlan(message, sent).Line()
	if line == "" {
		return last, false
	}
	if line == last.ValueString() {
		line += " again" // Terraform applies no plan without a change
	}
	return tfvalue.Text(line), true
}

// setFeedback sets the attribute feedback_status, and adds it to the description of a change.
func setFeedback(c *resources.Call, status attr.Value) {
	m, d := c.Plan, c.Plan["description"]
	m["feedback_status"] = status
	switch {
	case status.Equal(lastFeedback(c)), d.IsNull(), d.IsUnknown(), c.State != nil && d.Equal(c.State["description"]):
	case status.IsUnknown():
		m.SetUnknown("description")
	default:
		m.Set(tfvalue.Values{"description": describe.WithFeedback(m.Text("description"), m.Text("feedback_status"))})
	}
}

// sendFeedback gives the feedback of an apply. It never fails: problems are warnings, and the next apply tries again.
// before is the state before the apply, and planned contains the planned results. It reports whether all feedback was
// given, so that the next plan has none.
func sendFeedback(
	ctx context.Context, c *resources.Call, result *remote.Result, before *delivery.State, planned resources.Model,
) (settled bool) {
	last, sent, settings := lastFeedback(c), sentFeedback(ctx, c), result.Applied.Args.Feedback
	status := planned["feedback_status"]
	c.Plan["feedback_status"] = status
	if status.IsUnknown() {
		c.Plan["feedback_status"] = last
	}
	arguments := result.Applied.Args
	if settings == nil && !sent.HasIssues() {
		return true
	}
	if feedback.Proposed(result.State) {
		if p := result.State.Proposal; p != nil && p.Head != nil {
			sent.Proposed = feedback.Basis(arguments, p.Head.DeliveredRecord)
			resources.SetPrivate(ctx, c.Private, feedbackKey, sent, c.Diags)
		}
		return true
	}
	message, known := feedback.NewMessage(ctx, result.Applied, result.State)
	host := c.Data.HostFor(c.Diags)
	if !known || host == nil {
		return false
	}
	unreached := message.Reach(host, settings, c.Data.HasCredential) // the plan has shown it
	found := result.FoundRecord
	if found == "" && before != nil {
		found = before.LastRead.RecordHash
	}
	message.Before = feedback.Basis(arguments, found)
	message.After = feedback.Basis(arguments, result.State.LastRead.RecordHash)
	plan := feedback.NewPlan(message, sent)
	// The plan of a create does not know whether an earlier rendering left issues.
	adopts := c.State == nil && len(plan.Statuses)+len(plan.Opened)+len(plan.Edited)+len(plan.Closed) == 0
	switch {
	case plan.Empty():
		sent.Basis, sent.Proposed = message.After, ""
		resources.SetPrivate(ctx, c.Private, feedbackKey, sent, c.Diags)
		return len(unreached) == 0
	case status.Equal(last) && !adopts: // the plan did not show it
		return false
	}
	if status.IsUnknown() {
		c.Plan.Set(tfvalue.Values{"feedback_status": plan.Line()})
	}
	if planned["description"].IsUnknown() {
		setFeedback(c, c.Plan["feedback_status"])
	}
	now, errs := plan.Send(ctx, host)
	resources.SetPrivate(ctx, c.Private, feedbackKey, now, c.Diags)
	left := feedback.NewPlan(message, now)
	warnOfFeedback(c, errs, left)
	settled = left.Empty() && len(unreached) == 0
	if !settled {
		c.Diags.Append(c.Private.SetKey(ctx, nothingToDoKey, nil)...)
	}
	return settled
}

// endFeedback closes the issues of a rendering that was destroyed.
func endFeedback(ctx context.Context, c *resources.Call, a *delivery.Arguments) {
	sent := sentFeedback(ctx, c)
	plan := feedback.NewPlan(&feedback.Message{
		Environment: a.Environment, Key: feedback.Key(a), Before: sent.Basis,
	}, sent)
	if plan.Empty() {
		return
	}
	if host := c.Data.HostFor(c.Diags); host != nil {
		_, errs := plan.Send(ctx, host)
		warnOfFeedback(c, errs, plan)
	}
}

// warnOfFeedback warns of the feedback that was not given.
func warnOfFeedback(c *resources.Call, errs []error, left *feedback.Plan) {
	const summary, next = "Some feedback to teams was not sent", "The delivery is complete, and the next apply tries " +
		"again."
	at := path.Root("feedback")
	for _, err := range errs {
		var failed diag.Diagnostics
		configuration.AppendHostError(&failed, at, err)
		for _, one := range failed {
			c.Diags.AddAttributeWarning(at, summary+": "+one.Summary(), one.Detail()+"\n"+next)
		}
	}
	if len(errs) == 0 && !left.Empty() {
		c.Diags.AddAttributeWarning(at, summary, "An apply opens a limited number of issues, and takes a limited time for "+
			"them. "+next)
	}
}
