package functions

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clustersync"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var clusterSyncDefinition = function.Definition{
	Summary: "The objects that make a cluster sync its folder",
	MarkdownDescription: "Returns the Kubernetes objects that make a cluster sync the folder of its cluster type, as a " +
		"list: for `flux` a GitRepository and a Kustomization, for `flux-oci` an OCIRepository and a Kustomization, for " +
		"`argocd` an Application, for `fleet` a GitRepo of Rancher Fleet. Pass them to `kubernetes_manifest`, or write " +
		"them to a file with `yamlencode`. See the guide " +
		"[Clusters](https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs/guides/" +
		"clusters).",
	Parameters: []function.Parameter{
		function.StringParameter{
			Name: "kind", MarkdownDescription: "The reconciler: " + schemas.Alternatives(clustersync.Kinds) + ".",
		},
		function.DynamicParameter{
			Name: "gitops_repo",
			MarkdownDescription: "The GitOps repo: an object with `repo` and `branch`, such as the argument of that name of " +
				"the rendering. For `flux-oci`, an object with `repository`, as that of `kalypso_oci_artifacts`.",
		},
		function.StringParameter{
			Name: "folder",
			MarkdownDescription: "The folder of the cluster type, from the repo's root, such as " +
				"`kalypso_environment_rendering.dev.folders[\"large\"].path`.",
		},
	},
	VariadicParameter: function.DynamicParameter{
		Name: "options",
		MarkdownDescription: "An object with any of `name` (of the objects; the default is the last element of the " +
			"folder), `namespace` (of the objects; the defaults are `flux-system`, `argocd` and `fleet-default`), `interval` " +
			"(how often Flux reads the branch or the registry; the default is `1m`), `secret` (the Secret with the " +
			"credential of a private repo or registry; Argo CD finds its own by the repo's URL), `decryption` (the Secret " +
			"with the keys for SOPS; Flux alone), `tag` (of the artifact; the default is `latest`), `verify` (the Secret " +
			"with cosign's public keys in entries `*.pub`, without which Flux checks no signature; both for `flux-oci` " +
			"alone) and `cluster_labels` (the clusters that Rancher Fleet deploys to; the default is " +
			"`{ cluster-type = <name> }`, and in the namespace `fleet-local` the cluster itself).",
	},
	Return: function.DynamicReturn{},
}

func runClusterSync(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var kind, folder string
	var repoValue types.Dynamic
	var more []types.Dynamic
	if err := arguments.Get(ctx, &kind, &repoValue, &folder, &more); err != nil {
		return nil, err
	}
	if len(more) > 1 {
		return nil, function.NewArgumentFuncError(3, "cluster_sync takes at most one object of options.")
	}
	var ofRepo, ofOptions problem.Problems
	repo := tfvalue.NewDecoder(repoValue, &ofRepo)
	of := clustersync.SyncedFolder{Path: folder}
	if kind == clustersync.FluxOCI {
		of.Repository = repo.String("repository")
	} else {
		of.Repo, of.Branch = repo.String("repo"), repo.String("branch")
	}
	var o clustersync.Options
	if len(more) == 1 {
		d := tfvalue.NewDecoder(more[0], &ofOptions)
		d.Allow(tfvalue.NamesOf(&o)...)
		d.Read(&o)
	}
	if err := argumentErrors(nil, ofRepo, nil, ofOptions); err != nil {
		return nil, err
	}
	if slices.ContainsFunc([]string{of.Repo, of.Branch, of.Repository}, unknown.Is) ||
		len(more) == 1 && !tfvalue.WhollyKnown(more[0]) {
		return types.DynamicUnknown(), nil
	}
	all, err := clustersync.Objects(kind, of, o)
	if err != nil {
		return nil, function.NewFuncError(sentence(err.Error()))
	}
	return objectsValue(all), nil
}

// objectsValue converts Kubernetes objects to a tuple.
func objectsValue(all []map[string]any) types.Dynamic {
	return types.DynamicValue(dynamicOf(lists.Map(all, func(object map[string]any) any { return object })))
}

// dynamicOf converts JSON-like data to an object, a tuple or a scalar.
func dynamicOf(v any) attr.Value {
	switch v := v.(type) {
	case string:
		return types.StringValue(v)
	case bool:
		return types.BoolValue(v)
	case []any:
		elements, elementTypes := make([]attr.Value, len(v)), make([]attr.Type, len(v))
		for i, e := range v {
			elements[i] = dynamicOf(e)
			elementTypes[i] = elements[i].Type(context.Background())
		}
		return types.TupleValueMust(elementTypes, elements)
	case map[string]any:
		attributes, attributeTypes := make(map[string]attr.Value, len(v)), make(map[string]attr.Type, len(v))
		for name, a := range v {
			attributes[name] = dynamicOf(a)
			attributeTypes[name] = attributes[name].Type(context.Background())
		}
		return types.ObjectValueMust(attributeTypes, attributes)
	}
	panic(fmt.Sprintf("no object of a cluster has a %T", v))
}
