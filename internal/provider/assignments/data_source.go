package assignments

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// assignments returns the schedule of a fleet with its reasons. It contacts nothing.
type assignments struct{}

// NewDataSource returns the data source kalypso_assignments.
func NewDataSource() datasource.DataSource { return assignments{} }

func (assignments) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_assignments"
}

func (assignments) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = assignmentsSchema()
}

// Read explains the fleet. Terraform calls it when all arguments are known.
func (assignments) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	values := tfvalue.GetObject(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var ofArguments problem.Problems
	d := tfvalue.Decoder{Arguments: values, Problems: &ofArguments}
	f, _ := model.ReadFleet(ctx, d, fleet.Limits{})
	withValues := d.True("explain")
	record := readRecord(d)
	f.PriorPlacement.Decisions = record.Decisions
	explanation, ofFleet := engine.Explain(ctx, f, targetsInWhy(d)...)
	secrets := wish.FindClearSecrets(f.Configs)
	secrets.Hide(ofFleet)
	outcome := assignmentsOutcome{Explanation: explanation, fleet: f, explain: withValues,
		only: d.Strings("explain_targets"), record: record}
	if explanation != nil {
		secrets.Hide(explanation.Failed)
		ofArguments = append(ofArguments, outcome.checkTargets()...)
		outcome.answer(d)
	}
	tfvalue.AppendProblems(&resp.Diagnostics, append(ofArguments, ofFleet...))
	if resp.Diagnostics.HasError() || explanation == nil {
		return
	}
	results, err := outcome.values(ctx)
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("explain"), "Values can't be shown", problem.Sentence(err))
		return
	}
	maps.Copy(values, results)
	tflog.Info(ctx, "explained the schedule", map[string]any{
		"environment":   f.Environment,
		"assignments":   explanation.Schedule.AssignmentCount,
		"unscheduled":   len(explanation.Unscheduled),
		"idle_policies": len(explanation.IdlePolicies),
	})
	resp.Diagnostics.Append(tfvalue.SetObject(ctx, &resp.State, values)...)
}
