package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

type namespaceFunction struct{}

// NewNamespace returns the function namespace.
func NewNamespace() function.Function { return namespaceFunction{} }

func (namespaceFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "namespace"
}

func (namespaceFunction) Definition(
	_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse,
) {
	resp.Definition = function.Definition{
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
}

func (namespaceFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var environment, clusterType, deploymentTarget string
	if resp.Error = req.Arguments.Get(ctx, &environment, &clusterType, &deploymentTarget); resp.Error != nil {
		return
	}
	namespace, err := schedule.Namespace(environment, clusterType, deploymentTarget)
	if err != nil {
		resp.Error = function.NewFuncError(sentence(err.Error()))
		return
	}
	resp.Error = resp.Result.Set(ctx, namespace)
}
