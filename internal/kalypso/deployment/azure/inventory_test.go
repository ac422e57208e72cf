package azure_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
)

// TestInventory reads all pages of AKS and Arc clusters, with their tags as labels. The fake server evaluates the query
// on resources as Azure Resource Manager shows them.
func TestInventory(t *testing.T) {
	t.Parallel()
	s, source := startServer(t)
	s.PageSize = 2
	tags := map[string]any{"size": "large", "Cost center": "a/b"}
	s.Set("resources",
		azurefake.Resource(azurefake.AKS("a"), "Running", "Succeeded", tags),
		azurefake.Resource(azurefake.AKS("b"), "Stopped", "Succeeded", nil),
		azurefake.Resource(azurefake.AKS("c"), "Running", "Failed", nil),
		azurefake.Resource(azurefake.Cluster("d"), "Connected", "Succeeded", nil),
		azurefake.Resource(azurefake.Cluster("e"), "Offline", "Succeeded", nil),
		azurefake.Resource(azurefake.Cluster("f"), "", "Accepted", nil),
		map[string]any{"id": "/subscriptions/s/x", "type": "microsoft.compute/virtualmachines"},
	)
	found, err := azure.Inventory(source).Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const shared = " kubernetesVersion=1.34.0 location=westeurope name=%s resourceGroup=fleet subscriptionId=s"
	want, got := map[string]string{}, map[string]string{}
	for name, text := range map[string]string{
		"a": "Cost center=a/b size=large kind=aks" + shared + " healthy=true",
		"b": "kind=aks" + shared + ` healthy=false its state is "Stopped", its provisioning state "Succeeded"`,
		"c": "kind=aks" + shared + ` healthy=false its state is "Running", its provisioning state "Failed"`,
		"d": "kind=arc" + shared + " healthy=true",
		"e": "kind=arc" + shared + ` healthy=false its state is "Offline", its provisioning state "Succeeded"`,
		"f": "kind=arc" + shared + ` its state is "", its provisioning state "Accepted"`,
	} {
		id := azurefake.AKS(name)
		if strings.Contains(text, "kind=arc") {
			id = azurefake.Cluster(name)
		}
		want[id] = fmt.Sprintf(text, name)
	}
	for _, c := range found.Clusters {
		var parts []string
		for _, set := range []map[string]string{c.Labels, c.Properties} {
			for _, key := range slices.Sorted(maps.Keys(set)) {
				parts = append(parts, key+"="+set[key])
			}
		}
		if c.Healthy != nil {
			parts = append(parts, fmt.Sprintf("healthy=%t", *c.Healthy))
		}
		got[c.Name] = strings.TrimSpace(strings.Join(parts, " ") + " " + c.Reason)
		if c.Source != "azure_resource_graph" || c.Namespace != "" {
			t.Errorf("source %q, namespace %q", c.Source, c.Namespace)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
	if q := s.Queries(); len(q) != 3 || !slices.Equal(q[0].Subscriptions, source.Scope.Subscriptions) {
		t.Errorf("queries: %+v", q)
	}
	for code, silent := range map[int]bool{http.StatusForbidden: false, http.StatusServiceUnavailable: true} {
		broken := azurefake.Error(code, "Failed", "no")
		s.Instead(slices.Repeat([]http.HandlerFunc{broken}, 6)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := azure.Inventory(source).Clusters(ctx)
		cancel()
		if err == nil || errors.Is(err, deployment.ErrNoAnswer) != silent {
			t.Errorf("HTTP %d: %v", code, err)
		}
		s.Instead()
	}
}
