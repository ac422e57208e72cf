package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	fleetyaml "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/yaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
)

type manifestFunction struct{}

// NewManifest returns the function manifest.
func NewManifest() function.Function { return manifestFunction{} }

func (manifestFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifest"
}

func (manifestFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Writes an object as a Kalypso document",
		MarkdownDescription: "Writes a model resource, such as a `kalypso_cluster_type`, as a Kalypso document in YAML: " +
			"for a file of a control plane, or for `manifests` of a rendering. The document is known at plan when the " +
			"arguments of the resource are. If an argument is sensitive, the whole document is.",
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name: "object",
				MarkdownDescription: "A model resource, or an object with the same arguments written inline. Its attributes " +
					"show the kind: an object with `reconciler` is a `kalypso_cluster_type`. It is an error if the attributes fit " +
					"no kind or several.",
			},
		},
		Return: function.StringReturn{},
	}
}

func (manifestFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var object types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &object); resp.Error != nil {
		return
	}
	o, ps := model.ObjectOf(object)
	if resp.Error = argumentError(0, ps); resp.Error != nil {
		return
	}
	if fleet.HasUnknown(o) {
		resp.Error = resp.Result.Set(ctx, types.StringUnknown())
		return
	}
	text, err := fleetyaml.Marshal(o)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, sentence(err.Error()))
		return
	}
	resp.Error = resp.Result.Set(ctx, text)
}
