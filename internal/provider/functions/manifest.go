package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/model"
)

var manifestDefinition = function.Definition{
	Summary: "Writes an object as a Kalypso document",
	MarkdownDescription: "Writes a model resource, such as a `kalypso_cluster_type`, as a Kalypso document in YAML: " +
		"for a file of a control plane, or for `manifests` of a rendering. The document is known at plan if the arguments " +
		"of the resource are known. If an argument is sensitive, so is the whole document.",
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

func runManifest(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var object types.Dynamic
	if err := arguments.Get(ctx, &object); err != nil {
		return nil, err
	}
	o, ps := model.ObjectOf(object)
	if err := argumentErrors(ps); err != nil {
		return nil, err
	}
	if fleet.HasUnknown(o) {
		return types.StringUnknown(), nil
	}
	text, err := fleetyaml.Marshal(o)
	if err != nil {
		return nil, function.NewArgumentFuncError(0, sentence(err.Error()))
	}
	return text, nil
}
