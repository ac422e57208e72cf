package promotion

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*deploymentGate)(nil)
	_ resource.ResourceWithValidateConfig = (*deploymentGate)(nil)
	_ resource.ResourceWithModifyPlan     = (*deploymentGate)(nil)
	_ resource.ResourceWithIdentity       = (*deploymentGate)(nil)
)

// deploymentGate waits until clusters run a rendering.
type deploymentGate struct{ schemas.Resource }

// NewGate returns the resource kalypso_deployment_gate. The identity of a gate is that of the rendering that it waits
// for. Gates are not imported.
func NewGate() resource.Resource {
	return &deploymentGate{schemas.NewResource("deployment_gate", deploymentGateSchema, schemas.GitOpsIdentity)}
}

// ValidateConfig reports errors in the known arguments.
func (g *deploymentGate) ValidateConfig(
	ctx context.Context,
	req resource.ValidateConfigRequest,
	resp *resource.ValidateConfigResponse,
) {
	g.read(ctx, req.Config, &resp.Diagnostics)
}

// ModifyPlan checks the arguments and the provider's configuration together. It contacts nothing.
func (g *deploymentGate) ModifyPlan(
	ctx context.Context,
	req resource.ModifyPlanRequest,
	resp *resource.ModifyPlanResponse,
) {
	if !req.Plan.Raw.IsNull() {
		g.read(ctx, req.Plan, &resp.Diagnostics)
	}
}

// read reads the arguments and reports errors in the known ones.
func (g *deploymentGate) read(
	ctx context.Context,
	from tfvalue.Getter,
	diags *diag.Diagnostics,
) (tfvalue.Decoder, schemas.ObservedRequest) {
	var ps problem.Problems
	d := tfvalue.Decoder{Arguments: tfvalue.GetObject(ctx, from, diags), Problems: &ps}
	request := schemas.ReadObserved(g.Data, d)
	request.Goal = observe.Goal{TreeHash: d.String("tree_hash"), Commit: d.String("commit")}
	if request.Goal == (observe.Goal{}) {
		d.Report(
			"Nothing to wait for",
			"Both tree_hash and commit are null. The rendering's commit_sha is null until its pull request is "+
				"merged: create the gate after that, for example with count.",
			problem.Attr("commit"),
		)
	}
	if len(request.Sources) == 1 {
		if _, kept := request.Sources[0].(observe.Recorded); kept {
			d.Report(
				"Gate needs a live source",
				"source contains only reports, which don't change while the gate waits. Use kalypso_deployment_state for them, "+
					"or add another source.",
				problem.Attr("source"),
			)
		}
	}
	tfvalue.AppendProblems(diags, ps)
	return d, request
}

// Create waits for the deployment.
func (g *deploymentGate) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer schemas.GitOpsIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	g.apply(ctx, req.Plan, timeouts.Value.Create, &resp.State, &resp.Diagnostics)
}

// Update waits again, for another tree or with other expectations.
func (g *deploymentGate) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer schemas.GitOpsIdentity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	g.apply(ctx, req.Plan, timeouts.Value.Update, &resp.State, &resp.Diagnostics)
}

// Read keeps the result of the last wait. kalypso_deployment_state shows whether it is still true.
func (g *deploymentGate) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	schemas.GitOpsIdentity.Set(ctx, &req.State, resp.Identity, &resp.Diagnostics)
}

// Delete removes the gate from state only.
func (g *deploymentGate) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// apply waits for the deployment as long as the timeout of an operation allows, and sets the state after a success.
func (g *deploymentGate) apply(
	ctx context.Context, plan tfsdk.Plan, of schemas.TimeoutGetter, state *tfsdk.State, diags *diag.Diagnostics,
) {
	d, request := g.read(ctx, plan, diags)
	times, _ := d.Arguments["timeouts"].(timeouts.Value)
	limit, ds := of(times, ctx, defaultGateTimeout)
	if diags.Append(ds...); diags.HasError() {
		return
	}
	if !g.Data.Known || request.ConfigUnknown {
		diags.AddError(
			"Provider configuration not known",
			"The gate asks clusters, but the provider's configuration for that is not known.",
		)
		return
	}
	request.Client = g.Data.Client
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	interval := schemas.ReadDuration(d, "poll_interval", defaultPollInterval)
	seen, err := observe.Await(bounded, request.Request, interval, g.Data.Now,
		func(seen *observe.Observation, err error) { logWaiting(ctx, seen, err) })
	switch {
	case ctx.Err() != nil:
		diags.AddError("The gate was interrupted", "The next apply waits again.")
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddError(
			"The deployment did not complete in time",
			fmt.Sprintf(
				"After %s: %s The next apply waits again. To wait longer, raise timeouts.",
				limit,
				describeState(seen),
			),
		)
	case err != nil:
		schemas.AppendDeploymentError(diags, request.At, err)
	case seen.Outcome.Verdict != deployment.Success:
		diags.AddError("The deployment failed", describeState(seen)+" Fix the deployment and apply again.")
	default:
		tflog.Info(ctx, "the deployment is complete",
			map[string]any{"head": seen.Branch.Head, "summary": seen.Outcome.Summary})
		d.Arguments["head"] = types.StringValue(seen.Branch.Head)
		d.Arguments["summary"] = types.StringValue(seen.Outcome.Summary)
		d.Arguments["observed_at"] = tfvalue.NullableTime(seen.At)
		diags.Append(tfvalue.SetObject(ctx, state, d.Arguments)...)
	}
}

func logWaiting(ctx context.Context, seen *observe.Observation, err error) {
	fields := map[string]any{}
	if err != nil {
		fields["error"] = err.Error()
	} else {
		fields["summary"], fields["awaits"] = seen.Outcome.Summary, seen.Awaits
	}
	tflog.Info(ctx, "waiting for the deployment", fields)
}

// describeState describes the state and its problems for an error.
func describeState(seen *observe.Observation) string {
	if seen == nil {
		return "the deployment could not be read."
	}
	text := seen.Outcome.Summary
	if seen.Awaits != "" {
		text += " " + problem.Sentence(errors.New(seen.Awaits))
	}
	lines := lists.Map(seen.Outcome.Problems, func(p deployment.Problem) string {
		return fmt.Sprintf("%s: %s %s: %s", p.State, p.Folder, p.Cluster, p.Message)
	})
	if len(lines) > 0 {
		text += "\n" + problem.IndentedList(lines, problem.MaxListed) + "\n"
	}
	return text
}
