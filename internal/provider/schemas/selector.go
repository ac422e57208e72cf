package schemas

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// Selector is a selector in HCL form.
type Selector struct {
	Workspace string // empty: any
	Labels    fleet.Selector
}

// SelectorArguments returns the arguments of a selector of things, plus more. Required arguments of list elements are
// optional in the schema, because the framework treats an unknown element as an object of nulls. The domain checks
// them.
func SelectorArguments(things string, more map[string]schema.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"match_labels": OptionalStrings("Labels that the " + things + " have, with these values."),
		"match_expressions": OptionalObjects(
			"Requirements on labels, as in a Kubernetes label selector. All of them must match.",
			map[string]schema.Attribute{
				"key": OptionalString("Key of the label. Required."),
				"operator": OptionalString(
					"`In`: the value is one of `values`. `NotIn`: it is none of them, or the label is missing. " +
						"`Exists` and `DoesNotExist`: the label exists or does not. Required.",
				),
				"values": OptionalTexts("Values for `In` and `NotIn`."),
			},
		),
		"match_all": OptionalBool("Whether to select all " + things +
			". Required as `true` for a selector without labels and expressions; not allowed for other selectors."),
	}
	maps.Copy(all, more)
	return all
}

// RequiredSelector reads a nested selector. A missing selector is a problem.
func RequiredSelector(d tfvalue.Decoder, name string, workspaces bool) Selector {
	nested, ok := d.Object(name)
	if !ok {
		d.Report("Missing selector", name+" is not set. Set its labels or expressions, or match_all = true to select "+
			"everything.",
			problem.Attr(name))
		return Selector{}
	}
	return DecodeSelector(nested, workspaces)
}

// DecodeSelector reads a selector, see [fleet.MatchAll].
func DecodeSelector(d tfvalue.Decoder, workspaces bool) Selector {
	before := len(*d.Problems)
	d.Allow("workspace", "match_labels", "match_expressions", "match_all")
	var s Selector
	if workspaces {
		s.Workspace = d.String("workspace")
	}
	d.Read(&s.Labels)
	all := fleet.MatchAll{Partly: len(s.Labels.MatchLabels) > 0 && !d.IsUnknown("match_labels") ||
		len(s.Labels.MatchExpressions) > 0 && !d.IsUnknown("match_expressions")}
	if value, known := d.Bool("match_all"); known {
		all.Value = &value
	}
	if len(*d.Problems) > before {
		return s
	}
	for _, p := range all.Complete(s.Workspace, &s.Labels) {
		d.Report(p.Summary, p.Detail, p.Path...)
	}
	return s
}

// EncodeSelector writes a selector in HCL form. A selector that selects everything says so.
func EncodeSelector(s Selector) tfvalue.Values {
	all := tfvalue.ValuesOf(s.Labels)
	all["workspace"], all["match_all"] = s.Workspace, fleet.SelectsAll(s.Workspace, &s.Labels)
	return all
}
