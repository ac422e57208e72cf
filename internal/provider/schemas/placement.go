package schemas

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
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

// DecodeTaints reads the [TaintsArgument].
func DecodeTaints(d tfvalue.Decoder) (taints []placement.Taint) {
	for _, t := range d.Objects("taints") {
		t.Allow("key", "value", "effect")
		taints = append(taints, placement.Taint{Key: t.String("key"), Value: t.String("value"), Effect: t.String("effect")})
	}
	return taints
}

// EncodeTaints is the reverse of [DecodeTaints].
func EncodeTaints(taints []placement.Taint) []tfvalue.Values {
	return lists.Map(taints, func(t placement.Taint) tfvalue.Values {
		return tfvalue.Values{"key": t.Key, "value": t.Value, "effect": t.Effect}
	})
}

// DecodePlacement reads the [PlacementArgument].
func DecodePlacement(d tfvalue.Decoder) *placement.Spec {
	given, ok := d.Object("placement")
	if !ok {
		return nil
	}
	s := &placement.Spec{
		Number: given.Number("number_of_cluster_types"), Names: given.Strings("names"),
		Generation: given.String("generation"),
	}
	if _, set := given.Argument("names"); set && s.Names == nil {
		s.Names = []string{}
	}
	for _, t := range given.Objects("tolerations") {
		s.Tolerations = append(s.Tolerations, placement.Toleration{
			Key: t.String("key"), Operator: t.String("operator"), Value: t.String("value"), Effect: t.String("effect"),
		})
	}
	for _, p := range given.Objects("prefer") {
		preference := placement.Preference{Property: p.String("property"),
			Weight: p.NumberOr("weight", placement.DefaultWeight)}
		balance, known := p.Bool("balance")
		if preference.Balance = balance; !known {
			preference.Property = unknown.Text
		}
		s.Prefer = append(s.Prefer, preference)
	}
	for _, spread := range given.Objects("spread") {
		s.Spread = append(s.Spread, placement.Spread{
			Key: spread.String("key"), MaxSkew: spread.NumberOr("max_skew", placement.DefaultMaxSkew),
			WhenUnsatisfiable: spread.String("when_unsatisfiable"),
		})
	}
	return s
}

// EncodePlacement is the reverse of [DecodePlacement].
func EncodePlacement(s *placement.Spec) tfvalue.Values {
	if s == nil {
		return nil
	}
	return tfvalue.Values{
		"number_of_cluster_types": s.Number,
		"names":                   tfvalue.ExactStrings(s.Names),
		"tolerations": lists.Map(s.Tolerations, func(t placement.Toleration) tfvalue.Values {
			return tfvalue.Values{"key": t.Key, "operator": t.Operator, "value": t.Value, "effect": t.Effect}
		}),
		"prefer": lists.Map(s.Prefer, func(p placement.Preference) tfvalue.Values {
			return tfvalue.Values{"property": p.Property, "balance": p.Balance, "weight": &p.Weight}
		}),
		"spread": lists.Map(s.Spread, func(s placement.Spread) tfvalue.Values {
			return tfvalue.Values{"key": s.Key, "max_skew": &s.MaxSkew, "when_unsatisfiable": s.WhenUnsatisfiable}
		}),
		"generation": s.Generation,
	}
}
