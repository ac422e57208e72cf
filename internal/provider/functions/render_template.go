package functions

import (
	"context"
	"encoding/json"
	"maps"
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var renderTemplateDefinition = function.Definition{
	Summary: "Renders a template for an assignment",
	MarkdownDescription: "Renders a template with your own data, in the same way as a rendering does with the data of " +
		"an assignment. Use it to try out templates, and to test them with `check` blocks and `terraform test`.",
	Parameters: []function.Parameter{
		function.DynamicParameter{
			Name: "template",
			MarkdownDescription: "The template: a string, or an object with `manifests` and `content_type` as in " +
				"`kalypso_template`, such as a resource of that kind.",
		},
		function.DynamicParameter{
			Name: "data",
			MarkdownDescription: "The data: an object with any of `DeploymentTargetName`, `Namespace`, `Environment`, " +
				"`Workspace`, `Workload`, `ClusterType` (strings), `Labels`, `ClusterTypeLabels`, `Manifests` (maps of " +
				"strings), `ConfigData` (an object; its values are strings, objects or lists), `SecretData` (an object of " +
				"references, each with `store`, `key` and `property`) and `Requires` (a list of required deployment targets, " +
				"each with `Name`, `Workload`, `Namespace` and `Wave`). Missing attributes are empty.",
		},
	},
	Return: function.StringReturn{},
}

func runRenderTemplate(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var templateValue, dataValue types.Dynamic
	if err := arguments.Get(ctx, &templateValue, &dataValue); err != nil {
		return nil, err
	}
	var ofTemplate, ofData problem.Problems
	template, data := templateOf(templateValue, &ofTemplate), dataOf(dataValue, &ofData)
	if err := argumentErrors(ofTemplate, ofData); err != nil {
		return nil, err
	}
	text, err := render.Text(ctx, template, data)
	if err != nil {
		return nil, function.NewArgumentFuncError(0, sentence(err.Error()))
	}
	return text, nil
}

// templateOf reads a template: a string, or an object.
func templateOf(v types.Dynamic, ps *problem.Problems) *fleet.Template {
	t := &fleet.Template{Meta: fleet.Meta{Name: "template"}}
	if text, ok := tfvalue.Underlying(v).(basetypes.StringValue); ok {
		t.Manifests = []string{text.ValueString()}
		return t
	}
	d := tfvalue.NewDecoder(v, ps)
	if name := d.String("name"); name != "" {
		t.Name = name
	}
	t.ContentType = d.String("content_type")
	t.Manifests = d.Strings("manifests")
	if len(*ps) == 0 && len(t.Manifests) == 0 {
		d.Report("Missing manifests", "The template is neither a string nor an object with manifests.",
			problem.Attr("manifests"))
	}
	return t
}

// dataOf reads the data of a template, with the names that templates use.
func dataOf(v types.Dynamic, ps *problem.Problems) render.Data {
	d := tfvalue.NewDecoder(v, ps)
	d.Allow("DeploymentTargetName", "Namespace", "Environment", "Workspace", "Workload", "ClusterType",
		"ClusterTypeLabels", "Labels", "Manifests", "ConfigData", "SecretData",
		"Requires")
	data := render.Data{
		DeploymentTargetName: d.String("DeploymentTargetName"),
		Namespace:            d.String("Namespace"),
		Environment:          d.String("Environment"),
		Workspace:            d.String("Workspace"),
		Workload:             d.String("Workload"),
		ClusterType:          d.String("ClusterType"),
		Labels:               d.StringMap("Labels"),
		Manifests:            d.StringMap("Manifests"),
		ConfigData:           map[string]any{},
	}
	config, _ := d.Object("ConfigData")
	for _, k := range slices.Sorted(maps.Keys(config.Arguments)) {
		value := tfvalue.Underlying(config.Arguments[k])
		// Config values are strings, unless they are objects or lists.
		if text, ok := tfvalue.ScalarText(value); ok {
			data.ConfigData[k] = text
		} else {
			data.ConfigData[k] = plain(value)
		}
	}
	references := map[string]any{}
	for k, r := range d.ObjectMap("SecretData") {
		reference := map[string]any{"store": r.String("store"), "key": r.String("key")}
		if property := r.String("property"); property != "" {
			reference["property"] = property
		}
		references[k] = reference
	}
	var required []requires.Target
	for _, r := range d.Objects("Requires") {
		required = append(required, requires.Target{
			Name: r.String("Name"), Workload: r.String("Workload"), Namespace: r.String("Namespace"),
		}.InWave(r.NumberOr("Wave", 0)))
	}
	return data.With(render.More{
		ClusterTypeLabels: d.StringMap("ClusterTypeLabels"), SecretData: references,
		Requires: func() []requires.Target { return required },
	})
}

// plain converts a value of a dynamic type for templates.
func plain(v attr.Value) any {
	v = tfvalue.Underlying(v)
	if tfvalue.IsNull(v) {
		return nil
	}
	switch v := v.(type) {
	case basetypes.StringValue:
		return v.ValueString()
	case basetypes.BoolValue:
		return v.ValueBool()
	case basetypes.NumberValue:
		n := v.ValueBigFloat()
		if i, accuracy := n.Int64(); n.IsInt() && accuracy == big.Exact {
			return i
		}
		if u, accuracy := n.Uint64(); n.IsInt() && accuracy == big.Exact {
			return u
		}
		if n.IsInt() {
			return json.Number(n.Text('f', 0))
		}
		f, _ := n.Float64()
		return f
	}
	if set, ok := tfvalue.Members(v); ok {
		return plainMembers(set)
	}
	list, _ := tfvalue.Elements(v)
	return lists.Map(list, plain)
}

func plainMembers(set map[string]attr.Value) map[string]any {
	all := make(map[string]any, len(set))
	for k, e := range set {
		all[k] = plain(e)
	}
	return all
}
