package deployment_test

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// fleetProfile is a ClusterProfile as Open Cluster Management writes it, also with fields that the provider does not
// read.
const fleetProfile = "" +
	`{"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":{"name":"store-%05` +
	`[1]d","namespace":"fleet","uid":"00000000-0000-0000-0000-0000000%05[1]d","resourceVersion":"%[1]d","` +
	`generation":1,"creationTimestamp":"2026-01-31T12:00:00Z","labels":{"x-k8s.io/cluster-manager":"open-` +
	`cluster-management","open-cluster-management.io/cluster-name":"store-%05[1]d","size":"size-%[2]d","r` +
	`egion":"west"},"managedFields":[{"manager":"registration","operation":"Update","apiVersion":"multicl` +
	`uster.x-k8s.io/v1alpha1","time":"2026-01-31T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metada` +
	`ta":{"f:labels":{".":{},"f:size":{},"f:region":{}}},"f:spec":{"f:clusterManager":{"f:name":{}}}}}]},` +
	`"spec":{"displayName":"store-%05[1]d","clusterManager":{"name":"open-cluster-management"}},"status":` +
	`{"version":{"kubernetes":"v1.34.0"},"properties":[{"name":"clusterset.k8s.io","value":"default"},{"n` +
	`ame":"region.example.com","value":"west"},{"name":"platform.open-cluster-management.io","value":"AKS` +
	`"},{"name":"id.k8s.io","value":"id-%05[1]d"}],"conditions":[{"type":"ControlPlaneHealthy","status":"` +
	`True","reason":"R","message":"m","lastTransitionTime":"2026-01-31T12:00:00Z"}]}}`

// readClusters reads the data source with the provider's configuration and the arguments, and returns its attributes
// in lines, or the diagnostics.
func readClusters(t *testing.T, config, arguments map[string]any) (attributes map[string]string, said string) {
	t.Helper()
	run := acc.ProtocolRun{T: t, Config: config}
	v, ds := run.Start().ReadData(t.Context(), "kalypso_clusters", arguments)
	if ds.HasErrors() {
		return nil, ds.String()
	}
	return protocol.Lines(v), ds.String()
}

// 10,000 clusters of a hub are read within 10 seconds of processor time and 300 MiB, including the work of the
// framework.
func TestClustersFleet(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the provider's setting; tests collect garbage less often
	const clusters, types = 10_000, 20
	h := apiserver.NewHub(t, func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("continue"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		next := ""
		if from+limit < clusters {
			next = strconv.Itoa(from + limit)
		}
		fmt.Fprintf(w, `{"metadata":{"continue":%q},"items":[`, next)
		for i := from; i < min(from+limit, clusters); i++ {
			if i > from {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, fleetProfile, i, i%types)
		}
		fmt.Fprint(w, "]}")
	})
	var match []any
	for i := range types {
		match = append(match, map[string]any{
			"cluster_type": fmt.Sprint("type-", i), "match_labels": map[string]any{"size": fmt.Sprint("size-", i)},
		})
	}
	var attributes map[string]string
	var said string
	var peak uint64
	took := processor.Least(10*time.Second, func() {
		peak = memory.Peak(func() {
			attributes, said = readClusters(t, map[string]any{"clusters": map[string]any{
				"hub": map[string]any{"kubeconfig": h.Kubeconfig("canary-token")},
			}}, map[string]any{
				"source": map[string]any{"kubernetes": []any{map[string]any{"cluster": "hub", "kind": "cluster_profile"}}},
				"match":  match,
			})
		})
	})
	t.Logf("%d clusters: %s, %d MiB", clusters, took.Round(time.Millisecond), peak>>20)
	if want := `"10000 clusters of 20 cluster types."`; attributes["summary"] != want {
		t.Errorf("summary %s, want %s\n%s", attributes["summary"], want, said)
	}
	if took > 10*time.Second || peak > 300<<20 {
		t.Errorf("%s and %d MiB, more than 10 s or 300 MiB", took, peak>>20)
	}
}
