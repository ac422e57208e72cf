package assignments

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

const recordAttribute = "record"

func recordArgument() schema.StringAttribute {
	return schemas.OptionalString("The text of `" + record.File +
		"` on the branch, whose decisions placement keeps. Without it, placement decides as if the fleet had never been " +
		"rendered.")
}

func computedPlacements() schema.ListNestedAttribute {
	return schemas.ComputedObjects(
		"The outcome of placement for each deployment target and each cluster type that a policy "+
			"selects. Null unless `explain` asks for it; empty if no policy has a `placement` and no cluster type has a taint.",
		map[string]schema.Attribute{
			"policy":            schemas.ComputedText("The policy."),
			"deployment_target": schemas.ComputedText("The deployment target."),
			"cluster_type":      schemas.ComputedText("The cluster type."),
			"placed":            schemas.ComputedBool("Whether the policy places the deployment target there."),
			"kept":              schemas.ComputedBool("Whether an earlier decision keeps it there."),
			"score":             schemas.ComputedNumber("The sum of `scores`. Null if the cluster type does not fit."),
			"scores": schema.ListAttribute{
				Computed: true, ElementType: types.Int64Type,
				MarkdownDescription: "The scores of `placement.prefer`, in its order, each times its weight. Null if the cluster " +
					"type does not fit.",
			},
			"reason": schemas.ComputedText(
				"Why it is not placed there: the taint, the names, the spread or the number. Null if it is placed.",
			),
		},
	)
}

// readRecord reads the argument record. Without it, the record is empty.
func readRecord(d tfvalue.Decoder) record.Record {
	text := d.String(recordAttribute)
	if text == "" {
		return record.Record{}
	}
	given, err := record.Parse([]byte(text))
	if err != nil {
		d.Report("Invalid record", fmt.Sprintf("The text is not the record of a rendering: %s.", err),
			problem.Attr(recordAttribute))
	}
	return given
}

// targetsInWhy returns the deployment targets in why.
func targetsInWhy(d tfvalue.Decoder) (names []string) {
	quiet := d
	quiet.Problems = new(problem.Problems) // the answers report targets that do not exist
	for _, asked := range quiet.Objects("why") {
		if !asked.Unknown {
			names = append(names, asked.String("target"))
		}
	}
	return names
}

// placements returns the outcome of placement for the explained targets, or nil if explain is not set.
func (o *assignmentsOutcome) placements(ctx context.Context) (any, error) {
	if !o.explain {
		return nil, nil //nolint:nilnil // null
	}
	reasons := o.Placements(ctx, o.fleet, o.only)
	if len(reasons) > maxExplained {
		return nil, fmt.Errorf("placement has more than %d reasons, and Terraform accepts no more: set "+
			"explain_targets to the deployment targets to explain", maxExplained)
	}
	return lists.Map(reasons, func(r schedule.Placed) tfvalue.Values {
		values := tfvalue.Values{
			"policy": r.Policy.Name, "deployment_target": r.Target.Name, "cluster_type": r.ClusterType.Name,
			"placed": r.Placed, "kept": r.Kept, "reason": tfvalue.OrNil(r.Off),
		}
		if r.Fits {
			values["score"], values["scores"] = r.Score, r.Scores
		}
		return values
	}), nil
}
