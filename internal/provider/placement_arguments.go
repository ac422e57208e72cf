package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

func optionalText(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

func optionalNumber(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: description}
}

// optionalObjects returns a list of objects. What an element requires is optional in the schema; see
// [selectorArguments].
func optionalObjects(description string, attributes map[string]schema.Attribute) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Optional:            true,
		MarkdownDescription: description,
		NestedObject:        schema.NestedAttributeObject{Attributes: attributes},
	}
}

// taintsArgument returns the argument taints of a cluster type.
func taintsArgument() schema.ListNestedAttribute {
	return optionalObjects("Taints. A policy that does not tolerate them places nothing on the cluster type.",
		map[string]schema.Attribute{
			"key":   optionalText("Key of the taint. Required."),
			"value": optionalText("Value of the taint."),
			"effect": optionalText("`NoSelect` repels every deployment target, `NoSelectIfNew` only those that the cluster " +
				"type does not have yet. Required."),
		})
}

// propertiesArgument returns the argument properties of a cluster type.
func propertiesArgument() schema.MapAttribute {
	return schema.MapAttribute{
		ElementType: types.StringType,
		Optional:    true,
		MarkdownDescription: "Kubernetes quantities that policies prefer cluster types by, such as `{ cpu = \"64\", memory " +
			"= \"256Gi\", cost = \"3\" }`. Placement compares them; deployment targets do not use them up.",
	}
}

// placementArgument returns the argument placement of a scheduling policy.
func placementArgument() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Places on some of the cluster types that the policy selects. Without it, the policy places " +
			"on all of them whose taints allow it.",
		Attributes: map[string]schema.Attribute{
			"number_of_cluster_types": optionalNumber("How many cluster types each deployment target gets. The default is all " +
				"that fit. A decision stays as long as it fits: the next run reads it from the record on the branch."),
			"names": schema.ListAttribute{
				ElementType: types.StringType,
				Optional:    true,
				MarkdownDescription: "The only cluster types that the policy may choose, of those that `cluster_type_selector` " +
					"selects: a scheduler of your own can set them. An empty list selects none.",
			},
			"tolerations": optionalObjects("Taints that the policy tolerates.", map[string]schema.Attribute{
				"key": optionalText("Key of the taint. Without it, the policy tolerates all taints, and the operator is " +
					"`Exists`."),
				"operator": optionalText("`Equal` compares the value, `Exists` accepts any. The default is `Equal`."),
				"value":    optionalText("Value of the taint, for `Equal`."),
				"effect":   optionalText("`NoSelect` or `NoSelectIfNew`. Without it, both."),
			}),
			"prefer": optionalObjects("What to prefer cluster types by. Each element scores from -100 to 100; the scores "+
				"times the weights "+
				"add up.", map[string]schema.Attribute{
				"property": optionalText("A property of the cluster types: the greatest value scores 100, the least -100, none 0."),
				"balance": schema.BoolAttribute{
					Optional: true,
					MarkdownDescription: "Score a cluster type by how few deployment targets it has of policies with " +
						"`number_of_cluster_types`. Set it instead of `property`.",
				},
				"weight": optionalNumber(fmt.Sprintf("From %d to %d, and not 0; a negative weight reverses the preference. The "+
					"default is `%d`.",
					placement.MinWeight, placement.MaxWeight, placement.DefaultWeight)),
			}),
			"spread": optionalObjects("Labels of the cluster types over whose values each deployment target is spread.",
				map[string]schema.Attribute{
					"key": optionalText("Key of the label. Required."),
					"max_skew": optionalNumber(fmt.Sprintf("The maximum difference between the numbers of chosen cluster types of "+
						"any two values. The default is `%d`.", placement.DefaultMaxSkew)),
					"when_unsatisfiable": optionalText("`DoNotSchedule` skips cluster types without the label, and those that would " +
						"exceed the skew. `ScheduleAnyway` prefers those that would not. The default is `DoNotSchedule`."),
				}),
			"generation": optionalText("Any text. If it changes, the policy forgets its earlier decisions and decides again."),
		},
	}
}

// decodeTaints reads the [taintsArgument].
func decodeTaints(d decoder) (taints []placement.Taint) {
	for _, t := range d.objects("taints") {
		t.allow("key", "value", "effect")
		taints = append(taints, placement.Taint{Key: t.string("key"), Value: t.string("value"), Effect: t.string("effect")})
	}
	return taints
}

// encodeTaints is the reverse of [decodeTaints].
func encodeTaints(taints []placement.Taint) (all []values) {
	for _, t := range taints {
		all = append(all, values{"key": t.Key, "value": t.Value, "effect": t.Effect})
	}
	return all
}

// decodePlacement reads the [placementArgument].
func decodePlacement(d decoder) *placement.Spec {
	given, ok := d.object("placement")
	if !ok {
		return nil
	}
	s := &placement.Spec{
		Number: given.number("number_of_cluster_types"), Names: given.strings("names"),
		Generation: given.string("generation"),
	}
	if _, set := given.argument("names"); set && s.Names == nil {
		s.Names = []string{}
	}
	for _, t := range given.objects("tolerations") {
		s.Tolerations = append(s.Tolerations, placement.Toleration{
			Key: t.string("key"), Operator: t.string("operator"), Value: t.string("value"), Effect: t.string("effect"),
		})
	}
	for _, p := range given.objects("prefer") {
		preference := placement.Preference{Property: p.string("property"),
			Weight: p.numberOr("weight", placement.DefaultWeight)}
		balance, known := p.bool("balance")
		if preference.Balance = balance; !known {
			preference.Property = unknown.Text
		}
		s.Prefer = append(s.Prefer, preference)
	}
	for _, spread := range given.objects("spread") {
		s.Spread = append(s.Spread, placement.Spread{
			Key: spread.string("key"), MaxSkew: spread.numberOr("max_skew", placement.DefaultMaxSkew),
			WhenUnsatisfiable: spread.string("when_unsatisfiable"),
		})
	}
	return s
}

// encodePlacement is the reverse of [decodePlacement].
func encodePlacement(s *placement.Spec) values {
	if s == nil {
		return nil
	}
	var tolerations, prefer, spreads []values
	for _, t := range s.Tolerations {
		tolerations = append(tolerations, values{"key": t.Key, "operator": t.Operator, "value": t.Value, "effect": t.Effect})
	}
	for _, p := range s.Prefer {
		prefer = append(prefer, values{"property": p.Property, "balance": p.Balance, "weight": &p.Weight})
	}
	for _, spread := range s.Spread {
		spreads = append(spreads, values{
			"key": spread.Key, "max_skew": &spread.MaxSkew, "when_unsatisfiable": spread.WhenUnsatisfiable,
		})
	}
	return values{
		"number_of_cluster_types": s.Number,
		"names":                   exactStrings(s.Names),
		"tolerations":             tolerations,
		"prefer":                  prefer,
		"spread":                  spreads,
		"generation":              s.Generation,
	}
}
