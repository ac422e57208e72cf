package schemas

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// TaintsArgument returns the argument taints of a cluster type.
func TaintsArgument() schema.ListNestedAttribute {
	return OptionalObjects("Taints. A policy that does not tolerate them places nothing on the cluster type.",
		map[string]schema.Attribute{
			"key":   OptionalString("Key of the taint. Required."),
			"value": OptionalString("Value of the taint."),
			"effect": OptionalString(
				"`NoSelect` repels every deployment target, `NoSelectIfNew` only those that the cluster " +
					"type does not have yet. Required."),
		})
}

// PropertiesArgument returns the argument properties of a cluster type.
func PropertiesArgument() schema.MapAttribute {
	return OptionalStrings("Kubernetes quantities by which policies prefer cluster types, such as `{ cpu = \"64\", " +
		"memory = \"256Gi\", cost = \"3\" }`. Placement compares them, and does not subtract what deployment targets use.")
}

// PlacementArgument returns the argument placement of a scheduling policy.
func PlacementArgument() schema.SingleNestedAttribute {
	return OptionalObject(
		"Places on some of the cluster types that the policy selects. Without it, the policy places "+
			"on all whose taints allow it.",
		map[string]schema.Attribute{
			"number_of_cluster_types": OptionalNumber(
				"How many cluster types each deployment target gets. The default is all " +
					"that fit. A decision stays as long as it fits: the next run reads it from the record on the branch.",
			),
			"names": OptionalTexts(
				"The only cluster types that the policy may choose, of those that `cluster_type_selector` " +
					"selects: a scheduler of your own can set them. An empty list selects none.",
			),
			"tolerations": OptionalObjects("Taints that the policy tolerates.", map[string]schema.Attribute{
				"key": OptionalString("Key of the taint. Without it, the policy tolerates all taints, and the operator is " +
					"`Exists`."),
				"operator": OptionalString("`Equal` compares the value, `Exists` accepts any. The default is `Equal`."),
				"value":    OptionalString("Value of the taint, for `Equal`."),
				"effect":   OptionalString("`NoSelect` or `NoSelectIfNew`. Without it, both."),
			}),
			"prefer": OptionalObjects("Preferences among the cluster types. Each element gives a score from -100 to 100; the "+
				"scores, each times its weight, are added.", map[string]schema.Attribute{
				"property": OptionalString(
					"A property of the cluster types: the greatest value scores 100, the least -100, none 0.",
				),
				"balance": OptionalBool("Prefer cluster types with few deployment targets. Only targets that a policy with " +
					"`number_of_cluster_types` placed there count. Set it instead of `property`."),
				"weight": OptionalNumber(
					fmt.Sprintf("From %d to %d, and not 0; a negative weight reverses the preference. The "+
						"default is `%d`.",
						placement.MinWeight, placement.MaxWeight, placement.DefaultWeight),
				),
			}),
			"spread": OptionalObjects("Labels of the cluster types. Each deployment target is spread over the values of "+
				"these labels.",
				map[string]schema.Attribute{
					"key": OptionalString("Key of the label. Required."),
					"max_skew": OptionalNumber(
						fmt.Sprintf("The maximum difference between the numbers of chosen cluster types of "+
							"any two values. The default is `%d`.", placement.DefaultMaxSkew),
					),
					"when_unsatisfiable": OptionalString(
						"`DoNotSchedule` skips cluster types without the label, and cluster types that would exceed the skew. " +
							"`ScheduleAnyway` only prefers the others. The default is `DoNotSchedule`.",
					),
				}),
			"generation": OptionalString(
				"Any text. If it changes, the policy discards its earlier decisions and decides again.",
			),
		},
	)
}

// CompletePlacement sets the defaults of a placement that was read from the [PlacementArgument] of d.
func CompletePlacement(s *placement.Spec, d tfvalue.Decoder) {
	d.Problems = new(problem.Problems) // they have been reported
	given, ok := d.Object("placement")
	if !ok {
		return
	}
	for i, p := range given.Objects("prefer") {
		s.Prefer[i].Weight = p.NumberOr("weight", placement.DefaultWeight)
		if p.IsUnknown("balance") {
			s.Prefer[i].Property = unknown.Text
		}
	}
	for i, spread := range given.Objects("spread") {
		s.Spread[i].MaxSkew = spread.NumberOr("max_skew", placement.DefaultMaxSkew)
	}
}
