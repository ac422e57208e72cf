package promotion

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewGate returns the resource kalypso_deployment_gate, which waits until clusters run a rendering. The identity of a
// gate is that of the rendering. Gates are not imported, and a refresh keeps the result of the last wait:
// kalypso_deployment_state shows whether it is still true.
func NewGate() resource.Resource {
	return resources.NewManaged(resources.Managed{
		Name: "deployment_gate", Schema: deploymentGateSchema, Identity: resources.GitOpsIdentity,
		WriteTimeout: defaultGateTimeout, Check: func(c *resources.Call) { readGate(c) }, Apply: waitAtGate,
		Left: "left the clusters unchanged",
	})
}

// readGate reads the arguments and reports errors in the known ones. During a plan, Terraform checks them with the
// provider's configuration.
func readGate(c *resources.Call) (tfvalue.Decoder, schemas.ObservedRequest) {
	var ps problem.Problems
	d := c.Plan.Reporting(&ps)
	request := schemas.ReadObserved(c.Data, d)
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
	tfvalue.AppendProblems(c.Diags, ps)
	return d, request
}

// waitAtGate waits for the deployment as long as the timeout allows. An update waits again, for another tree or with
// other expectations.
func waitAtGate(ctx context.Context, c *resources.Call) resources.Model {
	d, request := readGate(c)
	if c.Diags.HasError() {
		return nil
	}
	if !c.Data.Known || request.ConfigUnknown {
		c.Diags.AddError(
			"Provider configuration not known",
			"The gate asks clusters, but the provider's configuration for that is not known.",
		)
		return nil
	}
	request.Client = c.Data.Client
	interval := schemas.ReadDuration(d, "poll_interval", defaultPollInterval)
	seen, err := observe.Await(ctx, request.Request, interval, c.Data.Now,
		func(seen *observe.Observation, err error) { logWaiting(ctx, seen, err) })
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		c.Diags.AddError("The gate was interrupted", "The next apply waits again.")
	case errors.Is(err, context.DeadlineExceeded):
		c.Diags.AddError(
			"The deployment did not complete in time",
			fmt.Sprintf(
				"After %s: %s The next apply waits again. To wait longer, raise timeouts.",
				c.Limit,
				describeState(seen),
			),
		)
	case err != nil:
		schemas.AppendDeploymentError(c.Diags, request.At, err)
	case seen.Outcome.Verdict != deployment.Success:
		c.Diags.AddError("The deployment failed", describeState(seen)+" Fix the deployment and apply again.")
	default:
		tflog.Info(ctx, "the deployment is complete",
			map[string]any{"head": seen.Branch.Head, "summary": seen.Outcome.Summary})
		c.Plan.Set(tfvalue.Values{
			"head": seen.Branch.Head, "summary": seen.Outcome.Summary, "observed_at": seen.At,
		})
		return c.Plan
	}
	return nil
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
