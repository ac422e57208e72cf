package provider

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// clustersAttribute says how clusters are reached.
var clustersAttribute = schema.MapNestedAttribute{
	Optional: true,
	MarkdownDescription: "Clusters that `source.kubernetes` of `kalypso_deployment_state` reads, by the names that it gives them. " +
		"Nothing is contacted but by what names them.",
	NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
		"kubeconfig": schema.StringAttribute{
			Optional:            true,
			Sensitive:           true,
			MarkdownDescription: "The text of a kubeconfig, or the path of one. Required.",
		},
		"context": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Context of the kubeconfig. Without it its current one.",
		},
		"allow_exec": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether a program that the kubeconfig names, such as `kubelogin`, may run on this machine to get a credential. " +
				"The default is `false`: such a kubeconfig is refused.",
		},
	}},
}

// clusterSettings are the clusters of the provider, by name.
type clusterSettings struct {
	known map[string]kubernetes.Connection
	// later are those of which something is not known yet; all says that not even the names are.
	later map[string]bool
	all   bool
}

// readClusters reads the argument clusters.
func readClusters(d decoder) clusterSettings {
	all := clusterSettings{known: map[string]kubernetes.Connection{}, later: map[string]bool{}, all: d.isUnknown("clusters")}
	if all.all {
		return all
	}
	v, _ := d.argument("clusters")
	set, _ := members(v)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		given := newDecoder(set[name], d.problems, d.at(fleet.Attr("clusters"), fleet.Key(name))...)
		allow, allowKnown := given.bool("allow_exec")
		c := kubernetes.Connection{Kubeconfig: given.string("kubeconfig"), Context: given.string("context"), AllowExec: allow}
		switch {
		case given.unknown || !allowKnown || anyUnknown(c.Kubeconfig, c.Context):
			all.later[name] = true
		case c.Kubeconfig == "":
			given.report("Missing kubeconfig", "A cluster needs kubeconfig: its text, or the path of its file.", fleet.Attr("kubeconfig"))
		default:
			all.known[name] = c
		}
	}
	return all
}

// names are those of all clusters, as far as they are known, sorted.
func (c clusterSettings) names() []string {
	names := slices.Concat(slices.Collect(maps.Keys(c.known)), slices.Collect(maps.Keys(c.later)))
	slices.Sort(names)
	return names
}
