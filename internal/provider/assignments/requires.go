package assignments

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

func computedRequirements() schema.ListNestedAttribute {
	return schemas.ComputedObjects(
		"The requirements of the deployment target, with the targets that satisfy them on the cluster type.",
		map[string]schema.Attribute{
			"workload":          schemas.ComputedText("The required workload. Null means any."),
			"deployment_target": schemas.ComputedText("The required target of that workload. Null means any."),
			"match_labels":      schemas.ComputedStrings("The required labels. Null means any."),
			"satisfied_by":      schemas.ComputedTexts("The deployment targets on the cluster type that satisfy it, by name."),
			"missing": schemas.ComputedText(
				"Why it is not met, with the nearest policy. For a target of another workspace, only that it is not there. Null " +
					"if it is met."),
		},
	)
}

// requirementsOf are the requirements of assignments, by their placement and number.
type requirementsOf map[[2]int][]requires.Reason

func (o *assignmentsOutcome) requirements(ctx context.Context) requirementsOf {
	all := requirementsOf{}
	o.Requires.Reasons(ctx, func(i, n int, of []requires.Reason) { all[[2]int{i, n}] = of })
	return all
}

// of returns the requirements of an assignment, and adds to size how many names they have.
func (r requirementsOf) of(i, n int, size *int) []tfvalue.Values {
	all := []tfvalue.Values{}
	for _, reason := range r[[2]int{i, n}] {
		values := tfvalue.ValuesOf(reason.Requirement)
		if len(reason.Requirement.MatchLabels) == 0 {
			values["match_labels"] = nil
		}
		values["satisfied_by"], values["missing"] = reason.SatisfiedBy, tfvalue.OrNil(reason.Missing)
		*size += len(reason.SatisfiedBy)
		all = append(all, values)
	}
	return all
}
