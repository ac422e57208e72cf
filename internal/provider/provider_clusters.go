package provider

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
)

// clustersAttribute configures access to clusters.
var clustersAttribute = schema.MapNestedAttribute{
	Optional: true,
	MarkdownDescription: "Clusters for `source.kubernetes` of `kalypso_deployment_state`, by name. " +
		"A cluster is contacted only if a data source or resource lists it.",
	NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
		"kubeconfig": schema.StringAttribute{
			Optional:            true,
			Sensitive:           true,
			MarkdownDescription: "Content of a kubeconfig, or its path. Required.",
		},
		"context": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Context of the kubeconfig. The default is its current context.",
		},
		"allow_exec": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether a program that the kubeconfig names, such as `kubelogin`, may run on this machine " +
				"to get a credential. The default is `false`, which rejects such a kubeconfig.",
		},
		"allow_files": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether the content of a kubeconfig may name files on this machine, such as `tokenFile` or " +
				"`client-key`. The default is `false`, which rejects such a kubeconfig. A kubeconfig that is given by its path " +
				"may always name files.",
		},
	}},
}

// clusterSettings contains the clusters of the provider, by name.
type clusterSettings struct {
	known map[string]kubernetes.Connection
	// unknown lists clusters with unknown values. allUnknown means that even the names are unknown.
	unknown    map[string]bool
	allUnknown bool
}

// readClusters reads the argument clusters.
func readClusters(d decoder) clusterSettings {
	all := clusterSettings{
		known:      map[string]kubernetes.Connection{},
		unknown:    map[string]bool{},
		allUnknown: d.isUnknown("clusters"),
	}
	if all.allUnknown {
		return all
	}
	v, _ := d.argument("clusters")
	set, _ := members(v)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		given := newDecoder(set[name], d.problems, d.at(problem.Attr("clusters"), problem.Key(name))...)
		programs, programsKnown := given.bool("allow_exec")
		files, filesKnown := given.bool("allow_files")
		c := kubernetes.Connection{
			Kubeconfig: given.string("kubeconfig"), Context: given.string("context"), AllowExec: programs, AllowFiles: files,
		}
		switch {
		case given.unknown || !programsKnown || !filesKnown || anyUnknown(c.Kubeconfig, c.Context):
			all.unknown[name] = true
		case c.Kubeconfig == "":
			given.report("Missing kubeconfig", "A cluster needs kubeconfig: its content or its path.",
				problem.Attr("kubeconfig"))
		default:
			all.known[name] = c
		}
	}
	return all
}

// names returns the known names of all clusters, sorted.
func (c clusterSettings) names() []string {
	names := slices.Concat(slices.Collect(maps.Keys(c.known)), slices.Collect(maps.Keys(c.unknown)))
	slices.Sort(names)
	return names
}
