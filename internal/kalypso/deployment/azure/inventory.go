package azure

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
)

// InventoryName is the name of [Inventory] as a source of clusters.
const InventoryName = "azure_resource_graph"

// Inventory lists the AKS clusters, and the clusters that Azure Arc connects. It implements [clusters.Source].
type Inventory Source

// Name implements [clusters.Source].
func (Inventory) Name() string { return InventoryName }

// inventoryQuery is the query for AKS and Arc clusters.
const inventoryQuery = `resources
| where type in~ ('microsoft.containerservice/managedclusters', 'microsoft.kubernetes/connectedclusters')
| project id, location, tags, version = properties.kubernetesVersion, ` +
	`provisioningState = properties.provisioningState, powerState = properties.powerState.code, ` +
	`connectivityStatus = properties.connectivityStatus
| order by id asc`

// clusterRow is a row of [inventoryQuery], or a part of one in the answer to [connectedQuery].
type clusterRow struct {
	ID                 string            `json:"id"`
	Location           string            `json:"location"`
	Tags               map[string]string `json:"tags"`
	Version            string            `json:"version"`
	ProvisioningState  string            `json:"provisioningState"`
	PowerState         string            `json:"powerState"`         // of AKS
	ConnectivityStatus string            `json:"connectivityStatus"` // of Arc
}

func (r clusterRow) id() string { return r.ID }

// Clusters implements [clusters.Source]. A cluster is named by its ARM ID, as in the reports of [Source].
func (i Inventory) Clusters(ctx context.Context) (found clusters.List, err error) {
	g, err := connect(i.Config, i.Scope)
	if err != nil {
		return found, err
	}
	err = query(ctx, g, inventoryQuery, func(r clusterRow) error { return found.Add(r.ID, r.cluster()) })
	return found, err
}

// cluster returns the cluster of a row. Its labels are the tags.
func (r clusterRow) cluster() clusters.Cluster {
	c := clusters.Cluster{Source: InventoryName, Name: r.ID, Labels: r.Tags,
		Properties: map[string]string{"location": r.Location}}
	if r.Version != "" {
		c.Properties["kubernetesVersion"] = r.Version
	}
	if at, err := arm.ParseResourceID(r.ID); err == nil {
		c.Properties["name"], c.Properties["resourceGroup"] = at.Name, at.ResourceGroupName
		c.Properties["subscriptionId"] = at.SubscriptionID
	}
	c.Properties["kind"] = "aks"
	state, good := r.PowerState, "Running"
	if isConnected(r.ID) {
		c.Properties["kind"] = "arc"
		state, good = r.ConnectivityStatus, "Connected"
	}
	healthy := strings.EqualFold(state, good) && !strings.EqualFold(r.ProvisioningState, "Failed")
	if state != "" {
		c.Healthy = &healthy
	}
	if !healthy {
		c.Reason = deployment.OneLine(fmt.Sprintf("its state is %q, its provisioning state %q", state, r.ProvisioningState))
	}
	return c
}
