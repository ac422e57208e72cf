package deployment

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewClusters returns the data source kalypso_clusters.
func NewClusters() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[clustersRequest]{
		Name: "clusters", Description: clustersDescription, Arguments: clustersArguments, Computed: clustersComputed,
		Timeout: schemas.TimeoutText("How long the sources may take to answer", "Each hub has at most 30 seconds."),
		Request: readClustersRequest, Read: listClusters,
	})
}

// clustersRequest contains the arguments.
type clustersRequest struct {
	sources []clusters.Source
	rules   []clusters.Rule
	last    []clusters.Cluster
}

func readClustersRequest(r resources.Reading) clustersRequest {
	return clustersRequest{readInventories(r.Data, r.Decoder), readRules(r.Decoder), readLast(r.Decoder)}
}

func listClusters(ctx context.Context, r resources.Reading, request clustersRequest) tfvalue.Values {
	lists, ps := clusters.Read(ctx, request.sources, request.last)
	tfvalue.AppendProblems(r.Diags, ps)
	if r.Diags.HasError() {
		return nil
	}
	all, err := clusters.Join(lists, request.rules)
	if err != nil {
		r.Diags.AddAttributeError(path.Root("source"), "The lists of clusters can't be merged", problem.Sentence(err))
		return nil
	}
	tfvalue.AppendProblems(r.Diags, all.Problems())
	tflog.Info(ctx, "read the clusters", map[string]any{"summary": all.Summary()})
	return inventoryValues(all)
}

// readInventories reads the argument source. p is nil during validate.
func readInventories(p *configuration.Data, d tfvalue.Decoder) (sources []clusters.Source) {
	of, given := d.Object("source")
	if !given || of.Unknown {
		return nil
	}
	for _, k := range of.Objects("kubernetes") {
		sources = append(sources, readHub(p, k))
	}
	if scope, given := of.Object("azure_resource_graph"); given {
		source, known := schemas.ReadAzureScope(p, scope)
		if known {
			sources = append(sources, azure.Inventory(source))
		} else {
			sources = append(sources, clusters.Unknown(azure.InventoryName))
		}
	}
	if inline, given := of.Object("clusters"); given {
		sources = append(sources, readInline(of, inline))
	}
	if len(sources) == 0 && of.Known("kubernetes") {
		of.Report("Missing source", "source is empty: set at least one of its arguments.")
	}
	return sources
}

// readHub reads an element of the argument kubernetes. p is nil during validate.
func readHub(p *configuration.Data, d tfvalue.Decoder) clusters.Source {
	hub := kubernetes.Inventory{Hub: d.String("cluster"), Kind: d.String("kind"), Namespaces: d.Strings("namespaces")}
	if d.Unknown {
		return hub
	}
	for argument, value := range map[string]string{"cluster": hub.Hub, "kind": hub.Kind} {
		if value == "" {
			d.Report("Missing "+argument, "An element of kubernetes needs cluster and kind; "+argument+" is not set.",
				problem.Attr(argument))
		}
	}
	if err := hub.Check(); err != nil {
		d.Report("Namespaces are not allowed", problem.Sentence(err), problem.Attr("namespaces"))
	}
	for i, name := range hub.Namespaces {
		if err := kubernetes.CheckNamespace(name); err != nil {
			d.Report("Invalid namespace", problem.Sentence(err), problem.Attr("namespaces"), problem.Index(i))
		}
	}
	if p == nil || hub.Hub == "" || unknown.Is(hub.Hub) {
		return hub
	}
	var known bool
	hub.Connection, known = schemas.ReadConnection(p, d, hub.Hub, problem.Attr("cluster"))
	if !known {
		return clusters.Unknown(hub.Name())
	}
	return hub
}

// readInline reads the argument clusters of source.
func readInline(source, d tfvalue.Decoder) clusters.Source {
	given := clusters.Given{Of: "clusters"}
	all := source.ObjectMap("clusters")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "" {
			d.Report("Missing name", "A key in clusters is empty. It must be the cluster's name.")
		}
		given.All = append(given.All, clusters.Cluster{Name: name, Labels: all[name].StringMap("labels")})
	}
	return given
}

// readRules reads the argument match.
func readRules(d tfvalue.Decoder) (rules []clusters.Rule) {
	for _, r := range d.Objects("match") {
		selector := r
		selector.Arguments = maps.Clone(r.Arguments)
		delete(selector.Arguments, "cluster_type")
		before := len(*d.Problems)
		rule := clusters.Rule{ClusterType: r.String("cluster_type"), Selector: schemas.DecodeSelector(selector, false).Labels}
		if len(*d.Problems) > before { // a rule without a selector would match every cluster, so no later rule would apply
			rule.Selector.MatchLabels = map[string]string{unknown.Text: unknown.Text}
		}
		rules = append(rules, rule)
	}
	*d.Problems = append(*d.Problems, clusters.CheckRules(rules)...)
	return rules
}

// readLast reads the argument last.
func readLast(d tfvalue.Decoder) (last []clusters.Cluster) {
	all := d.ObjectMap("last")
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var c clusters.Cluster
		all[key].Read(&c)
		c.Name = cmp.Or(c.Name, key)
		last = append(last, c)
	}
	return last
}

// inventoryValues returns the computed attributes.
func inventoryValues(all *clusters.Inventory) tfvalue.Values {
	types := make(map[string]tfvalue.Values, len(all.ClusterTypes))
	for name, clusters := range all.ClusterTypes {
		types[name] = tfvalue.Values{"clusters": clusters}
	}
	return tfvalue.Values{
		"clusters": all.Clusters, "cluster_types": types, "unmatched": all.Unmatched, "empty": all.Empty,
		"ambiguous": all.Ambiguous, "summary": all.Summary(),
	}
}
