package provider

import (
	"context"
	"maps"
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
)

type renderTemplateFunction struct{}

// newRenderTemplateFunction returns the function render_template.
func newRenderTemplateFunction() function.Function { return renderTemplateFunction{} }

func (renderTemplateFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "render_template"
}

func (renderTemplateFunction) Definition(
	_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse,
) {
	resp.Definition = function.Definition{
		Summary: "Renders a template for an assignment",
		MarkdownDescription: "Renders a template with your own data, as a rendering does with those of an assignment. Use " +
			"it to try out templates, and to test them with `check` blocks and `terraform test`.",
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
					"strings), `ConfigData` (an object; its values are strings, objects or lists) and `SecretData` (an object of " +
					"references, each with `store`, `key` and `property`). Missing attributes are empty.",
			},
		},
		Return: function.StringReturn{},
	}
}

func (renderTemplateFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var templateValue, dataValue types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &templateValue, &dataValue); resp.Error != nil {
		return
	}
	var ps problem.Problems
	template := templateOf(templateValue, &ps)
	if resp.Error = argumentError(0, ps); resp.Error != nil {
		return
	}
	ps = nil
	data := dataOf(dataValue, &ps)
	if resp.Error = argumentError(1, ps); resp.Error != nil {
		return
	}
	text, err := render.Text(ctx, template, data)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, sentence(err.Error()))
		return
	}
	resp.Error = resp.Result.Set(ctx, text)
}

// templateOf reads a template: a string, or an object.
func templateOf(v types.Dynamic, ps *problem.Problems) *fleet.Template {
	t := &fleet.Template{Meta: fleet.Meta{Name: "template"}}
	if text, ok := underlying(v).(basetypes.StringValue); ok {
		t.Manifests = []string{text.ValueString()}
		return t
	}
	d := newDecoder(v, ps)
	if name := d.string("name"); name != "" {
		t.Name = name
	}
	t.ContentType = d.string("content_type")
	t.Manifests = d.strings("manifests")
	if len(*ps) == 0 && len(t.Manifests) == 0 {
		d.report("Missing manifests", "The template is neither a string nor an object with manifests.",
			problem.Attr("manifests"))
	}
	return t
}

// dataOf reads the data of a template, with the names that templates use.
func dataOf(v types.Dynamic, ps *problem.Problems) render.Data {
	d := newDecoder(v, ps)
	d.allow("DeploymentTargetName", "Namespace", "Environment", "Workspace", "Workload", "ClusterType",
		"ClusterTypeLabels", "Labels", "Manifests", "ConfigData", "SecretData")
	data := render.Data{
		DeploymentTargetName: d.string("DeploymentTargetName"),
		Namespace:            d.string("Namespace"),
		Environment:          d.string("Environment"),
		Workspace:            d.string("Workspace"),
		Workload:             d.string("Workload"),
		ClusterType:          d.string("ClusterType"),
		Labels:               d.stringMap("Labels"),
		Manifests:            d.stringMap("Manifests"),
		ConfigData:           map[string]any{},
	}
	config, _ := d.object("ConfigData")
	for _, k := range slices.Sorted(maps.Keys(config.arguments)) {
		value := underlying(config.arguments[k])
		// Config values are strings, unless they are objects or lists.
		if text, ok := scalarText(value); ok {
			data.ConfigData[k] = text
		} else {
			data.ConfigData[k] = plain(value)
		}
	}
	references := map[string]any{}
	for k, r := range d.objectMap("SecretData") {
		reference := map[string]any{"store": r.string("store"), "key": r.string("key")}
		if property := r.string("property"); property != "" {
			reference["property"] = property
		}
		references[k] = reference
	}
	return data.With(render.More{ClusterTypeLabels: d.stringMap("ClusterTypeLabels"), SecretData: references})
}

// plain converts a value of a dynamic type for templates.
func plain(v attr.Value) any {
	v = underlying(v)
	if isNull(v) {
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
		f, _ := n.Float64()
		return f
	}
	if set, ok := members(v); ok {
		all := make(map[string]any, len(set))
		for k, e := range set {
			all[k] = plain(e)
		}
		return all
	}
	list, _ := elements(v)
	all := make([]any, len(list))
	for i, e := range list {
		all[i] = plain(e)
	}
	return all
}
