package provider

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// selector is a selector in HCL form.
type selector struct {
	workspace string // empty: any
	labels    fleet.Selector
}

// selectorArguments returns the arguments of a selector of things, plus more. Required arguments of list elements are
// optional in the schema, because the framework treats an unknown element as an object of nulls. The domain checks
// them.
func selectorArguments(things string, more map[string]schema.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"match_labels": schema.MapAttribute{
			ElementType:         types.StringType,
			Optional:            true,
			MarkdownDescription: "Labels that the " + things + " have, with these values.",
		},
		"match_expressions": schema.ListNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Requirements on labels, as in a Kubernetes label selector. All of them must match.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"key": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Key of the label. Required.",
				},
				"operator": schema.StringAttribute{
					Optional: true,
					MarkdownDescription: "`In`: the value is one of `values`. `NotIn`: it is none of them, or the label is missing. " +
						"`Exists` and `DoesNotExist`: the label exists or does not. Required.",
				},
				"values": schema.ListAttribute{
					ElementType:         types.StringType,
					Optional:            true,
					MarkdownDescription: "Values for `In` and `NotIn`.",
				},
			}},
		},
		"match_all": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether to select all " + things +
				". A selector without labels and expressions must say so; one with them " +
				"must not.",
		},
	}
	maps.Copy(all, more)
	return all
}

// requiredSelector reads a nested selector. A missing selector is a problem.
func requiredSelector(d decoder, name string, workspaces bool) selector {
	nested, ok := d.object(name)
	if !ok {
		d.report("Missing selector", name+" is not set. Set what to select, or match_all = true to select everything.",
			problem.Attr(name))
	}
	if !ok {
		return selector{}
	}
	return decodeSelector(nested, workspaces)
}

// decodeSelector reads a selector. A selector that selects everything must say so: it may come from a null variable. If
// that is not known yet, it reports nothing, and what the selector selects is unknown.
func decodeSelector(d decoder, workspaces bool) selector {
	before := len(*d.problems)
	d.allow("workspace", "match_labels", "match_expressions", "match_all")
	var s selector
	if workspaces {
		s.workspace = d.string("workspace")
	}
	s.labels.MatchLabels = d.stringMap("match_labels")
	for _, e := range d.objects("match_expressions") {
		e.allow("key", "operator", "values")
		s.labels.MatchExpressions = append(s.labels.MatchExpressions, metav1.LabelSelectorRequirement{
			Key:      e.string("key"),
			Operator: metav1.LabelSelectorOperator(e.string("operator")),
			Values:   e.strings("values"),
		})
	}
	all, known := d.bool("match_all")
	empty := len(s.labels.MatchLabels) == 0 && len(s.labels.MatchExpressions) == 0
	certain := len(s.labels.MatchLabels) > 0 && !d.isUnknown("match_labels") ||
		len(s.labels.MatchExpressions) > 0 && !d.isUnknown("match_expressions")
	switch {
	case len(*d.problems) > before:
	case !known && empty && s.workspace == "":
		s.labels.MatchLabels = map[string]string{unknown.Text: unknown.Text}
	case !known:
	case all && certain:
		d.report("Contradictory selector",
			"match_all = true selects everything, but match_labels or match_expressions do not. Remove one of them.",
			problem.Attr("match_all"))
	case !all && empty && s.workspace == "":
		d.report("Selector selects everything",
			"The selector has no labels and no expressions, so it would select everything. If that is intended, "+
				"set match_all = true; if not, see whether a variable in it is null or empty.")
	}
	return s
}

// encodeSelector writes a selector in HCL form. A selector that selects everything says so.
func encodeSelector(s selector) values {
	var expressions []values
	for _, e := range s.labels.MatchExpressions {
		expressions = append(expressions, values{"key": e.Key, "operator": string(e.Operator), "values": e.Values})
	}
	empty := s.workspace == "" && len(s.labels.MatchLabels) == 0 && len(expressions) == 0
	return values{
		"workspace":         s.workspace,
		"match_labels":      s.labels.MatchLabels,
		"match_expressions": expressions,
		"match_all":         empty,
	}
}
