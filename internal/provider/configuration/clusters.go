package configuration

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// clustersAttribute configures access to clusters.
var clustersAttribute = schema.MapNestedAttribute{
	Optional: true,
	MarkdownDescription: "Clusters for `source.kubernetes` of `kalypso_deployment_state` and `kalypso_clusters`, " +
		"by name. A cluster is contacted only if a data source or resource lists it.",
	NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
		"kubeconfig": optionalSecret("Content of a kubeconfig, or its path. Required."),
		"context":    optionalText("Context of the kubeconfig. The default is its current context."),
		"allow_exec": optionalBool(
			"Whether a program that the kubeconfig names, such as `kubelogin`, may run on this machine " +
				"to get a credential. The default is `false`, which rejects such a kubeconfig.",
		),
		"allow_files": optionalBool(
			"Whether the content of a kubeconfig may name files on this machine, such as `tokenFile` or " +
				"`client-key`. The default is `false`, which rejects such a kubeconfig. A kubeconfig that is given by its path " +
				"may always name files.",
		),
	}},
}

// clusterSettings contains the clusters of the provider, by name.
type clusterSettings struct {
	Known map[string]kubernetes.Connection
	// Unknown lists clusters with unknown values. allUnknown means that even the names are unknown.
	Unknown    map[string]bool
	AllUnknown bool
}

// readClusters reads the argument clusters.
func readClusters(d tfvalue.Decoder) clusterSettings {
	all := clusterSettings{
		Known:      map[string]kubernetes.Connection{},
		Unknown:    map[string]bool{},
		AllUnknown: d.IsUnknown("clusters"),
	}
	if all.AllUnknown {
		return all
	}
	for name, given := range d.Each("clusters") {
		var c kubernetes.Connection
		given.Read(&c)
		switch {
		case !given.Known("kubeconfig", "context", "allow_exec", "allow_files"):
			all.Unknown[name] = true
		case c.Kubeconfig == "":
			given.Report("Missing kubeconfig", "A cluster needs kubeconfig: its content or its path.",
				problem.Attr("kubeconfig"))
		default:
			all.Known[name] = c
		}
	}
	return all
}

// Names returns the known names of all clusters, sorted.
func (c clusterSettings) Names() []string {
	names := slices.Concat(slices.Collect(maps.Keys(c.Known)), slices.Collect(maps.Keys(c.Unknown)))
	slices.Sort(names)
	return names
}
