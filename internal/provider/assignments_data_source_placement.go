package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

const recordAttribute = "record"

func recordArgument() schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "The text of `" + record.File +
			"` on the branch, whose decisions placement keeps. Without it, placement " +
			"decides as for a fleet that was never rendered. It also says since when deployment targets fail to render.",
	}
}

func computedPlacements() schema.ListNestedAttribute {
	truth := func(description string) schema.BoolAttribute {
		return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
	}
	return computedObjects("The outcome of placement for each deployment target and each cluster type that a policy "+
		"selects, by policy, then by deployment target, then by cluster type. Null unless `explain` asks for it; empty if "+
		"no policy has a `placement` and no cluster type has a taint.", map[string]schema.Attribute{
		"policy":            computedText("The policy."),
		"deployment_target": computedText("The deployment target."),
		"cluster_type":      computedText("The cluster type."),
		"placed":            truth("Whether the policy places the deployment target there."),
		"kept":              truth("Whether it stays because it was there before."),
		"score":             computedNumber("The sum of `scores`. Null if the cluster type does not fit."),
		"scores": schema.ListAttribute{
			Computed: true, ElementType: types.Int64Type,
			MarkdownDescription: "The scores of `placement.prefer`, in its order, each times its weight. Null if the cluster " +
				"type does not fit.",
		},
		"reason": computedText("Why it is not placed: the taint, the names, the spread or the number. Null if it is placed."),
	})
}

// readRecord reads the argument record. Without it, the record is empty.
func readRecord(d decoder) record.Record {
	text := d.string(recordAttribute)
	if text == "" {
		return record.Record{}
	}
	given, err := record.Parse([]byte(text))
	if err != nil {
		d.report("Invalid record", fmt.Sprintf("The text is not the record of a rendering: %s.", err),
			problem.Attr(recordAttribute))
	}
	return given
}

// targetsInWhy returns the deployment targets in why.
func targetsInWhy(d decoder) (names []string) {
	quiet := d
	quiet.problems = new(problem.Problems) // the answers report them
	for _, asked := range quiet.objects("why") {
		if !asked.unknown {
			names = append(names, asked.string("target"))
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
		return nil, fmt.Errorf("placement has more than %d reasons, which is more than Terraform accepts: name in "+
			"explain_targets the deployment targets to be explained", maxExplained)
	}
	all := make([]values, len(reasons))
	for i, r := range reasons {
		all[i] = values{
			"policy": r.Policy.Name, "deployment_target": r.Target.Name, "cluster_type": r.ClusterType.Name,
			"placed": r.Placed, "kept": r.Kept, "reason": orNil(r.Off),
		}
		if r.Fits {
			all[i]["score"], all[i]["scores"] = r.Score, r.Scores
		}
	}
	return all, nil
}
