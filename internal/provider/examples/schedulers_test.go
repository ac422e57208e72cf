package examples_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

var schedulers = filepath.Join(acc.Examples, "schedulers")

// newScheduler makes a root module of an example of schedulers, with the other providers that the example uses.
func newScheduler(t *testing.T, example, server string) *acc.Root {
	t.Helper()
	r := acc.NewExample(t, filepath.Join(schedulers, example))
	serveOtherProviders(r, &otherProvider{strings.TrimSuffix(server, "/"), r.Folder})
	showFiles(r, "dev")
	return r
}

// expectClusterTypes compares the cluster types of the example's target with the wanted ones, and builds the folders of
// the rendering.
func expectClusterTypes(r *acc.Root, want ...string) {
	r.T.Helper()
	buildFolders(r.T, renderedFiles(r.State()["kalypso_environment_rendering.dev"]))
	var got []string
	r.Output("cluster_types", &got)
	if diff := cmp.Diff(want, got); diff != "" {
		r.T.Errorf("cluster types (-want +got):\n%s", diff)
	}
}

// TestAccSchedulerPlacementDecisions reads Open Cluster Management's decisions from its PlacementDecisions. A fake of
// the Kubernetes API serves these objects.
func TestAccSchedulerPlacementDecisions(t *testing.T) {
	t.Parallel()
	decisions := `[{"clusterName": "small", "reason": ""}, {"clusterName": "drone", "reason": ""}]`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const path = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/kalypso/placementdecisions"
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		items := ""
		if r.URL.Query().Get("labelSelector") == "cluster.open-cluster-management.io/placement=hello" {
			items = `{"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementDecision",
				"metadata": {"name": "hello-decision-1", "namespace": "kalypso"}, "status": {"decisions": ` + decisions + `}}`
		}
		_, _ = io.WriteString(w, `{"apiVersion": "v1", "kind": "List", "items": [`+items+`]}`)
	}))
	t.Cleanup(server.Close)
	r := newScheduler(t, "placement-decisions", server.URL)
	r.Env = append(r.Env, "TF_VAR_namespace=kalypso", "TF_VAR_placement=hello")
	r.Apply()
	expectClusterTypes(r, "drone", "small")
	r.ExpectEmptyPlan()
	decisions = `[{"clusterName": "gone", "reason": ""}]`
	r.ExpectError([]string{`There is no cluster type "gone"`}, "plan", "-no-color")
	r.ExpectError([]string{"There is no PlacementDecision of the Placement other"}, "plan", "-no-color",
		"-var=placement=other")
}

// TestAccSchedulerSimulation reads the decisions that Open Cluster Management's scheduler would make. A fake of the
// scheduler's endpoint answers the request.
func TestAccSchedulerSimulation(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var placement struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
			Spec     map[string]any
		}
		err := json.NewDecoder(r.Body).Decode(&placement)
		switch {
		case r.Method != http.MethodPost || r.URL.Path != "/debug/placements/":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") != "Bearer canary":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":"user does not have permission to get placements in namespace kalypso"}`)
		case err != nil || placement.Kind != "Placement" || placement.Spec["prioritizerPolicy"] == nil:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"failed to unmarshal placement JSON"}`)
		default:
			_, _ = io.WriteString(w, `{"placement":{"metadata":{"name":"hello","namespace":"kalypso"},"spec":{},"status":{}},
				"filteredPipelineResults":[{"name":"Predicate","filteredClusters":["drone","large","small"]},
					{"name":"Predicate,TaintToleration","filteredClusters":["drone","large","small"]}],
				"prioritizeResults":[{"name":"ResourceAllocatableMemory","weight":1,"scores":{"drone":-100,"large":100,"small":0}}],
				"aggregatedScores":[{"clusterName":"large","score":100},{"clusterName":"small","score":0},
				{"clusterName":"drone","score":-100}]}`)
		}
	}))
	t.Cleanup(server.Close)
	r := newScheduler(t, "simulation", "")
	r.Env = append(r.Env, "TF_VAR_endpoint="+server.URL, "TF_VAR_token=canary")
	r.Apply()
	expectClusterTypes(r, "large", "small")
	r.ExpectEmptyPlan()
	r.ExpectError([]string{"The simulation failed", "does not have permission"}, "plan", "-no-color", "-var=token=other")
}

// TestAccSchedulerProgram reads the decisions that a program prints.
func TestAccSchedulerProgram(t *testing.T) {
	t.Parallel()
	r := newScheduler(t, "program", "")
	r.Apply()
	expectClusterTypes(r, "drone", "small")
	r.ExpectEmptyPlan()
	prices := `-var=prices={"drone": 9, "large": 3, "small": 2}`
	r.Apply(prices)
	expectClusterTypes(r, "large", "small")
	r.ExpectEmptyPlan(prices)
}

// serveOtherProviders serves the data sources of the providers http, external and kubernetes that the examples use.
// Terraform's registry has the real providers, but tests use no registry.
func serveOtherProviders(r *acc.Root, p *otherProvider) {
	r.T.Helper()
	other := acc.Serve(r.T, "hashicorp/other", providerserver.NewProtocol6(p))
	for _, name := range []string{"http", "external", "kubernetes"} {
		r.Attached["hashicorp/"+name] = other
	}
}
