package functions

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var placementDecisionsDefinition = function.Definition{
	Summary: "Placement decisions in the standard format, for other tools",
	MarkdownDescription: "Returns PlacementDecision objects (`multicluster.x-k8s.io/v1alpha1`, " +
		"[KEP-5313](https://kep.k8s.io/5313)) as a list: for each deployment target the clusters that run it. Argo CD, " +
		"Kueue and other tools that support this standard can then use Kalypso's decisions. An object has at most 100 " +
		"decisions. The objects of a deployment target share the label `multicluster.x-k8s.io/decision-key`, which is the " +
		"name of the target, and are numbered by `multicluster.x-k8s.io/decision-index`.",
	Parameters: []function.Parameter{
		function.DynamicParameter{
			Name: "assignments", AllowUnknownValues: true,
			MarkdownDescription: "The attribute `assignments` of a `kalypso_environment_rendering`: deployment targets by " +
				"cluster type.",
		},
	},
	VariadicParameter: function.DynamicParameter{
		Name: "cluster_types", AllowUnknownValues: true, AllowNullValue: true,
		MarkdownDescription: "The attribute `cluster_types` of `kalypso_clusters`: with it, the decisions name clusters, " +
			"otherwise cluster types. One more argument can be an object with `namespace` (of the objects; the default is " +
			"`default`) and `profiles_namespace` (of the ClusterProfiles; the default is `namespace`). With Terraform, " +
			"`cluster_types` can be null; OpenTofu then returns null.",
	},
	Return: function.DynamicReturn{},
}

func runPlacementDecisions(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var given types.Dynamic
	var more []types.Dynamic
	if err := arguments.Get(ctx, &given, &more); err != nil {
		return nil, err
	}
	if len(more) > 2 {
		return nil, function.NewArgumentFuncError(3, "placement_decisions takes at most cluster_types and one object of "+
			"options.")
	}
	assignments, known := keysOf(given)
	if tfvalue.IsNull(tfvalue.Underlying(given)) || known && assignments == nil {
		return nil, function.NewArgumentFuncError(0, "assignments must be the attribute assignments of a "+
			"kalypso_environment_rendering, a map of deployment targets for each cluster type. With preview = \"none\" it is "+
			"null")
	}
	var ofClusterTypes, ofOptions problem.Problems
	var clusterTypes map[string][]string
	if len(more) > 0 && !tfvalue.IsNull(tfvalue.Underlying(more[0])) {
		d := tfvalue.Decoder{Arguments: map[string]attr.Value{"cluster_types": more[0]}, Problems: &ofClusterTypes}
		clusterTypes = map[string][]string{}
		for name, t := range d.ObjectMap("cluster_types") {
			clusterTypes[name] = t.Strings("clusters")
			known = known && !unknown.Is(name) && !slices.ContainsFunc(clusterTypes[name], unknown.Is)
		}
	}
	var o clusters.DecisionOptions
	if len(more) > 1 {
		d := tfvalue.NewDecoder(more[1], &ofOptions)
		d.Allow(tfvalue.NamesOf(&o)...)
		d.Read(&o)
		known = known && !unknown.Is(o.Namespace) && !unknown.Is(o.ProfilesNamespace)
	}
	if err := argumentErrors(nil, ofClusterTypes, ofOptions); err != nil {
		return nil, err
	}
	if !known {
		return types.DynamicUnknown(), nil
	}
	all, err := clusters.Decisions(assignments, clusterTypes, o)
	if err != nil {
		return nil, function.NewFuncError(sentence(err.Error()))
	}
	return objectsValue(all), nil
}

// keysOf returns the keys of the maps in a map, and whether they are known. It returns nil for any other value. The
// values do not matter: the hashes of a plan may be unknown.
func keysOf(v attr.Value) (keys map[string][]string, known bool) {
	var ps problem.Problems
	d := tfvalue.Decoder{Arguments: map[string]attr.Value{"": v}, Problems: &ps}
	keys, known = map[string][]string{}, true
	for name, inner := range d.ObjectMap("") {
		keys[name], known = slices.Sorted(maps.Keys(inner.Arguments)), known && !inner.Unknown
	}
	if len(ps) > 0 {
		return nil, true
	}
	return keys, known
}
