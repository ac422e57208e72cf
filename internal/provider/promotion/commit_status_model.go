package promotion

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/types"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

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
func (m *commitStatusModel) arguments() status.Arguments {
	d := tfvalue.NewModelDecoder(m, new(problem.Problems))     // the schema has checked the types
	after, _ := time.ParseDuration(m.RenewAfter.ValueString()) // null, or unknown while it is planned: 0
	a := status.Arguments{
		Repo: d.String("repo"), Commit: d.String("commit"), Context: d.String("context"), State: d.String("state"),
		Description: d.String("description"), TargetURL: d.String("target_url"), RenewAfter: after,
	}
	if given, ok := d.Object("deployment"); ok {
		a.Deployment = &status.Deployment{
			PromotedCommit: given.String("promoted_commit"), Verdict: given.String("verdict"),
			Summary: given.String("summary"),
		}
	}
	return a
}

// observe sets the attributes that a read status may have changed.
func (m *commitStatusModel) observe(ctx context.Context, found githost.Status, same status.Same) {
	a := m.arguments().Observe(found, same)
	m.TargetURL, m.SetAt = tfvalue.Nullable(a.TargetURL), tfvalue.NullableTime(found.SetAt)
	if a.Deployment == nil {
		m.State, m.Description = types.StringValue(a.State), tfvalue.Nullable(a.Description)
		return
	}
	attributes := maps.Clone(m.Deployment.Attributes())
	attributes["verdict"] = types.StringValue(a.Deployment.Verdict)
	m.Deployment = types.ObjectValueMust(m.Deployment.AttributeTypes(ctx), attributes)
}
