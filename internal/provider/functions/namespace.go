package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

var namespaceDefinition = function.Definition{
	Summary: "The namespace of an assignment",
	MarkdownDescription: "Returns the namespace of a deployment target on a cluster type: `<environment>-<cluster " +
		"type>-<deployment target>`. A result that is longer than 63 characters or otherwise not a DNS-1123 label is an " +
		"error, as in a rendering.",
	Parameters: []function.Parameter{
		function.StringParameter{Name: "environment", MarkdownDescription: "Name of the environment."},
		function.StringParameter{Name: "cluster_type", MarkdownDescription: "Name of the cluster type."},
		function.StringParameter{
			Name:                "deployment_target",
			MarkdownDescription: "Name of the deployment target: `<workload>-<target>`.",
		},
	},
	Return: function.StringReturn{},
}

func runNamespace(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var environment, clusterType, deploymentTarget string
	if err := arguments.Get(ctx, &environment, &clusterType, &deploymentTarget); err != nil {
		return nil, err
	}
	namespace, err := schedule.Namespace(environment, clusterType, deploymentTarget)
	if err != nil {
		return nil, function.NewFuncError(sentence(err.Error()))
	}
	return namespace, nil
}
