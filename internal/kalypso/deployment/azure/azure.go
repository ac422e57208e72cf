// Package azure reads from Azure Resource Graph which Arc and AKS clusters exist, and what their Flux configurations
// sync.
package azure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// Scope limits the query to parts of a tenant.
type Scope struct{ Subscriptions, ManagementGroups []string }

// Source reports on the clusters that Azure Resource Graph knows.
type Source struct {
	Config Config
	Scope  Scope
}

// Name implements observe.Source.
func (Source) Name() string { return "Azure Resource Graph" }

// Reports returns the reports of the Flux configurations that follow the rendering's repo and branch. An error that
// wraps [deployment.ErrNoAnswer] means that Azure did not answer. An incomplete answer is an error.
func (s Source) Reports(ctx context.Context, of deployment.Rendering) ([]deployment.Report, error) {
	g, err := connect(s.Config, s.Scope)
	if err != nil {
		return nil, err
	}
	found := deployment.Collector{Max: maxReported}
	err = query(ctx, g, configurationsQuery(of.Repo), func(c configuration) error { return c.report(of, &found) })
	if errors.Is(err, deployment.ErrTooManyReports) {
		return nil, fmt.Errorf("the reports have more than %d MiB; narrow subscriptions or management_groups",
			maxReported>>20)
	}
	if err != nil {
		return nil, err
	}
	reports := found.Reports
	if slices.ContainsFunc(reports, func(r deployment.Report) bool { return isConnected(r.Cluster) }) {
		if err := markOffline(ctx, g, reports); err != nil {
			return nil, err
		}
	}
	for i := range reports {
		reports[i].Now = g.now
	}
	return reports, nil
}

// configurationsQuery returns the query for Flux configurations whose URL contains the text that all URLs of the repo
// contain, in any case: it may be written in another form than the rendering's. [configuration.follows] then compares
// the whole URL.
func configurationsQuery(repo string) string {
	name := ""
	if at, err := giturl.Parse(repo); err == nil {
		name = at.Fragment()
	}
	return fmt.Sprintf(`kubernetesconfigurationresources
| where type == 'microsoft.kubernetesconfiguration/fluxconfigurations'
| where properties.gitRepository.url contains %s
| project id, properties
| order by id asc`, quote(name))
}

// connectedQuery is the query for the connectivity of Azure Arc clusters.
const connectedQuery = `resources
| where type == 'microsoft.kubernetes/connectedclusters'
| project id, connectivityStatus = properties.connectivityStatus
| order by id asc`

// quote returns a string literal of the query language.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

const connectedType = "/providers/microsoft.kubernetes/connectedclusters/"

// isConnected reports whether a cluster is connected through Azure Arc.
func isConnected(cluster string) bool {
	return strings.Contains(strings.ToLower(cluster), connectedType)
}

// markOffline marks the reports of disconnected clusters, which are outdated.
func markOffline(ctx context.Context, g *client, reports []deployment.Report) error {
	status := map[string]string{} // of the clusters in reports
	for _, r := range reports {
		status[strings.ToLower(r.Cluster)] = ""
	}
	if err := query(ctx, g, connectedQuery, func(c clusterRow) error {
		if _, reported := status[strings.ToLower(c.ID)]; reported {
			status[strings.ToLower(c.ID)] = deployment.OneLine(c.ConnectivityStatus)
		}
		return nil
	}); err != nil {
		return err
	}
	for i, r := range reports {
		if now := status[strings.ToLower(r.Cluster)]; isConnected(r.Cluster) && !strings.EqualFold(now, "Connected") {
			reports[i].Health, reports[i].Message = deployment.Offline, "its connectivity is unknown: it is not among the "+
				"connected clusters"
			if now != "" {
				reports[i].Message = "its connectivity is " + now
			}
		}
	}
	return nil
}
