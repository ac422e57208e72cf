package deployment

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

const clustersDescription = "Lists the clusters that exist, from hubs, Azure and the configuration, and finds the " +
	"cluster type of each by its labels. Clusters without a cluster type, and cluster types without a cluster, are " +
	"warnings. The guide " +
	"[Clusters](https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs/guides/" +
	"clusters#which-clusters-exist) explains it."

func clustersArguments() map[string]schema.Attribute {
	kind := schemas.OptionalString(
		"The objects that represent clusters: "+schemas.Alternatives(kubernetes.InventoryKinds)+". Required.",
		stringvalidator.OneOf(kubernetes.InventoryKinds...))
	return map[string]schema.Attribute{
		"source": schemas.RequiredObject(
			"The inventories of clusters. Set at least one. Clusters of several sources that have the "+
				"same name and labels are one cluster.",
			map[string]schema.Attribute{
				"kubernetes": schemas.OptionalObjects("Lists objects on hubs.", map[string]schema.Attribute{
					"cluster": schemas.OptionalString("Name of the hub, from `clusters` of the provider. Required."),
					"kind":    kind,
					"namespaces": schemas.OptionalTexts("Namespaces of the objects, such as `argocd`. The default is all. Not for " +
						"`managed_cluster`, which has no namespace."),
				}),
				"azure_resource_graph": schemas.AzureScope("Asks Azure Resource Graph for AKS and Arc clusters. A cluster's " +
					"name is its ARM ID, its labels are the tags. Set at least one of these."),
				"clusters": schemas.OptionalObjectMap(
					"Clusters by name, such as the clusters that this configuration creates.",
					map[string]schema.Attribute{"labels": schemas.OptionalStrings("Labels of the cluster.")},
				),
			},
		),
		"match": schema.ListNestedAttribute{
			Required: true,
			MarkdownDescription: "Rules that find the cluster type of a cluster by its labels and properties. The first rule " +
				"that matches counts.",
			NestedObject: schema.NestedAttributeObject{
				Attributes: schemas.SelectorArguments("clusters", map[string]schema.Attribute{
					"cluster_type": schemas.OptionalString("Name of the cluster type. Required."),
				}),
			},
		},
		// Nested attributes of 10,000 clusters would take the framework twice as long.
		"last": schema.DynamicAttribute{
			Optional: true,
			MarkdownDescription: "`clusters` of an earlier run, such as a stored output. If a source does not answer, its " +
				"clusters are taken from here, with a warning. Otherwise a source that does not answer is an error.",
		},
	}
}

// memberTypes lists the attributes of a cluster. They are no nested attributes, because the framework is slow with
// nested attributes of many clusters.
var memberTypes = map[string]attr.Type{
	"source": types.StringType, "namespace": types.StringType, "name": types.StringType,
	"labels": types.MapType{ElemType: types.StringType}, "properties": types.MapType{ElemType: types.StringType},
	"healthy": types.BoolType, "reason": types.StringType, "cluster_type": types.StringType,
}

func clustersComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"clusters": schemas.ComputedMap(
			"The clusters, by a name that is unique over all sources. `source` is `<hub>/<kind>`, "+
				"`azure_resource_graph` or `clusters`. `properties` are `status.properties` of a `cluster_profile`, the cluster "+
				"claims of a `managed_cluster`, and of Azure `kind` (`aks` or `arc`), `location`, `name`, `resourceGroup`, "+
				"`subscriptionId` and `kubernetesVersion`. `healthy` is null if the source does not report it, and `reason` "+
				"explains why a cluster is not healthy. `cluster_type` is null if no rule matches.",
			types.ObjectType{AttrTypes: memberTypes}),
		"cluster_types": schemas.ComputedObjectMap(
			"The cluster types of `match`, by name, also cluster types without a cluster. Pass it to "+
				"`expected` of `kalypso_deployment_state`.",
			map[string]schema.Attribute{
				"clusters": schemas.ComputedTexts("Names of the clusters, sorted."),
			},
		),
		"unmatched": schemas.ComputedTexts("Names of the clusters that no rule matches."),
		"empty":     schemas.ComputedTexts("Cluster types of `match` without a cluster."),
		"ambiguous": schemas.ComputedTexts("Clusters that have the same name as another cluster, but other labels, sources " +
			"or namespaces, as `<source>/<namespace>/<name>`. `clusters` lists them under these names."),
		"summary": schemas.ComputedText("The inventory in one line, for people."),
	}
}
