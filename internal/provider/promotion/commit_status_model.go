package promotion

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// commitStatusDeployment contains the attributes of the argument deployment.
type commitStatusDeployment struct {
	PromotedCommit types.String `tfsdk:"promoted_commit"`
	Verdict        types.String `tfsdk:"verdict"`
	Summary        types.String `tfsdk:"summary"`
}

// commitStatusModel contains the attributes of a commit status.
type commitStatusModel struct {
	Repo        types.String   `tfsdk:"repo"`
	Commit      types.String   `tfsdk:"commit"`
	Context     types.String   `tfsdk:"context"`
	State       types.String   `tfsdk:"state"`
	Description types.String   `tfsdk:"description"`
	TargetURL   types.String   `tfsdk:"target_url"`
	Deployment  types.Object   `tfsdk:"deployment"`
	RenewAfter  types.String   `tfsdk:"renew_after"`
	SetAt       types.String   `tfsdk:"set_at"`
	Timeouts    timeouts.Value `tfsdk:"timeouts"`
}

// arguments converts the attributes for the domain. An unknown deployment has unknown attributes.
func (m *commitStatusModel) arguments(ctx context.Context) status.Arguments {
	after, _ := time.ParseDuration(m.RenewAfter.ValueString()) // null, or unknown while it is planned: 0
	a := status.Arguments{
		Repo: tfvalue.Text(
			m.Repo,
		), Commit: tfvalue.Text(m.Commit), Context: tfvalue.Text(m.Context), State: tfvalue.Text(m.State),
		Description: tfvalue.Text(m.Description), TargetURL: tfvalue.Text(m.TargetURL), RenewAfter: after,
	}
	if !m.Deployment.IsNull() {
		d := tfvalue.Nested[commitStatusDeployment](ctx, m.Deployment)
		a.Deployment = &status.Deployment{
			PromotedCommit: tfvalue.Text(
				d.PromotedCommit,
			), Verdict: tfvalue.Text(d.Verdict), Summary: tfvalue.Text(d.Summary),
		}
	}
	return a
}

// observe sets the attributes that a read status may have changed.
func (m *commitStatusModel) observe(ctx context.Context, found hosting.Status, same status.Same) {
	a := m.arguments(ctx).Observe(found, same)
	m.TargetURL, m.SetAt = tfvalue.Nullable(a.TargetURL), tfvalue.NullableTime(found.SetAt)
	if a.Deployment == nil {
		m.State, m.Description = types.StringValue(a.State), tfvalue.Nullable(a.Description)
		return
	}
	attributes := maps.Clone(m.Deployment.Attributes())
	attributes["verdict"] = types.StringValue(a.Deployment.Verdict)
	m.Deployment = types.ObjectValueMust(deploymentTypes, attributes)
}
