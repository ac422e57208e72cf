package assignments

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// maxWhy limits the pairs in why.
const maxWhy = 1000

func whyArgument() schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Optional: true,
		MarkdownDescription: fmt.Sprintf("Deployment targets and cluster types to answer for in `answers`: why the target "+
			"is on the cluster type, or why not. At most %d.", maxWhy),
		Validators: []validator.List{listvalidator.SizeAtMost(maxWhy)},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"target":       schemas.RequiredString("The deployment target, `<workload>-<target>`."),
			"cluster_type": schemas.RequiredString("The cluster type."),
		}},
	}
}

func computedAnswers() schema.ListNestedAttribute {
	return schemas.ComputedObjects("The answers to `why`, in its order.", map[string]schema.Attribute{
		"target":       schemas.ComputedText("The deployment target."),
		"cluster_type": schemas.ComputedText("The cluster type."),
		"assigned":     schemas.ComputedBool("Whether the deployment target is on the cluster type."),
		"policies":     schemas.ComputedTexts("The policies that place it there, by name."),
		"reason": schemas.ComputedText(
			"Why, or why the closest policy does not place it there.",
		),
		"nearest": schemas.ComputedObjects(
			fmt.Sprintf("The policies nearest to placing it there, by the mismatches of the target, then of the cluster "+
				"type, at most %d. Empty if a policy places it there.", explain.MaxNearest),
			map[string]schema.Attribute{
				"policy": schemas.ComputedText("The policy."),
				"reason": schemas.ComputedText("The mismatch, as text."),
				"target_mismatches": computedMismatches(
					"The requirements on labels and workspace that the deployment target does not meet."),
				"cluster_type_mismatches": computedMismatches(
					"The requirements on labels that the cluster type does not meet.",
				),
			},
		),
	})
}

func computedMismatches(description string) schema.ListNestedAttribute {
	return schemas.ComputedObjects(description, map[string]schema.Attribute{
		"label": schemas.ComputedText("Key of the label; `workspace` also for the selector's `workspace`."),
		"operator": schemas.ComputedText(
			"The requirement: `In` (also for `match_labels` and `workspace`), `NotIn`, `Exists` or " +
				"`DoesNotExist`.",
		),
		"values": schemas.ComputedTexts("The values for `In` and `NotIn`."),
		"found":  schemas.ComputedText("The label's value. Null if the label is missing."),
	})
}

// answer answers the pairs of the argument, and reports pairs that do not exist.
func (o *assignmentsOutcome) answer(d tfvalue.Decoder) {
	for _, asked := range d.Objects("why") {
		if asked.Unknown { // a null element, which is reported
			continue
		}
		target, clusterType := asked.String("target"), asked.String("cluster_type")
		answer, err := o.Explain(target, clusterType)
		switch {
		case errors.Is(err, explain.ErrNoTarget):
			asked.Report("No such deployment target", fmt.Sprintf(
				"Environment %q has no deployment target %q. Its name is the workload's, a dash, and the target's.",
				o.fleet.Environment, target), problem.Attr("target"))
		case err != nil:
			asked.Report("No such cluster type", fmt.Sprintf("There is no cluster type %q.", clusterType),
				problem.Attr("cluster_type"))
		default:
			o.answers = append(o.answers, answer)
		}
	}
}

// answerValues converts the answers to values of the data source.
func (o *assignmentsOutcome) answerValues() []tfvalue.Values {
	return lists.Map(o.answers, func(a *explain.Answer) tfvalue.Values {
		nearest := lists.Map(a.Nearest, func(r explain.Rejection) tfvalue.Values {
			return tfvalue.Values{
				"policy": r.Policy.Name, "reason": r.Reason,
				"target_mismatches": r.Mismatches, "cluster_type_mismatches": r.ClusterTypeMismatches,
			}
		})
		return tfvalue.Values{
			"target": a.Target.Name, "cluster_type": a.ClusterType.Name, "assigned": len(a.Policies) > 0,
			"policies": namesOf(a.Policies), "reason": a.Reason, "nearest": nearest,
		}
	})
}
