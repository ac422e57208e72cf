package assignments

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewDataSource returns the data source kalypso_assignments: the schedule of a fleet with its reasons. It contacts
// nothing.
func NewDataSource() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[any]{
		Name: "assignments", Description: description, Arguments: arguments, Computed: assignmentsComputed,
		Read: readAssignments,
	})
}

func readAssignments(ctx context.Context, r resources.Reading, _ any) tfvalue.Values {
	d := r.Decoder
	f, _ := model.ReadFleet(ctx, d, fleet.Limits{})
	withValues := d.True("explain")
	record := readRecord(d)
	prior := placement.PriorResults{Decisions: record.Decisions}
	explanation, ofFleet := engine.Explain(ctx, f, prior, targetsInWhy(d)...)
	secrets := delivery.FindClearSecrets(f.Configs)
	secrets.Hide(ofFleet)
	outcome := assignmentsOutcome{Explanation: explanation, fleet: f, explain: withValues,
		only: d.Strings("explain_targets"), record: record}
	if explanation != nil {
		secrets.Hide(explanation.Failed)
		*d.Problems = append(*d.Problems, outcome.checkTargets()...)
		outcome.answer(d)
	}
	*d.Problems = append(*d.Problems, ofFleet...)
	if r.Invalid() || explanation == nil {
		return nil
	}
	results, err := outcome.values(ctx)
	if err != nil {
		r.Diags.AddAttributeError(path.Root("explain"), "Values can't be shown", problem.Sentence(err))
		return nil
	}
	tflog.Info(ctx, "explained the schedule", map[string]any{
		"environment":   f.Environment,
		"assignments":   explanation.Schedule.AssignmentCount,
		"unscheduled":   len(explanation.Unscheduled),
		"idle_policies": len(explanation.IdlePolicies),
	})
	return results
}
