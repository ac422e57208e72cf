package kubernetes_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
)

// crowdedCluster starts a cluster with many Kustomizations that follow one folder with some objects. Each Kustomization
// has its own target namespace, so each object in the folder stands for one in every namespace.
func crowdedCluster(t testing.TB, kustomizations, inside int) (kubernetes.Source, deployment.Rendering) {
	t.Helper()
	var items []map[string]any
	for i := range kustomizations {
		items = append(items, map[string]any{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
			"metadata": map[string]any{"name": fmt.Sprintf("app-%05d", i), "namespace": "flux-system"},
			"spec": map[string]any{
				"path": "fleet/large", "targetNamespace": fmt.Sprintf("ns-%05d", i),
				"sourceRef": map[string]any{"kind": "GitRepository", "name": "fleet"},
			},
		})
	}
	answers := map[string][]byte{
		"/apis/kustomize.toolkit.fluxcd.io":                   groupAnswer(t, "kustomize.toolkit.fluxcd.io", "v1"),
		"/apis/source.toolkit.fluxcd.io":                      groupAnswer(t, "source.toolkit.fluxcd.io", "v1"),
		"/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations": listAnswer(t, "Kustomization", items...),
		"/apis/source.toolkit.fluxcd.io/v1/gitrepositories": listAnswer(t, "GitRepository", map[string]any{
			"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
			"metadata": map[string]any{"name": "fleet", "namespace": "flux-system"},
			"spec":     map[string]any{"url": rendering.Repo, "ref": map[string]any{"branch": "stage"}},
		}),
		"/apis/source.toolkit.fluxcd.io/v1/ocirepositories": listAnswer(t, "OCIRepository"),
	}
	url := serveCluster(t, func(_ http.ResponseWriter, path string) []byte { return answers[path] })
	var folder strings.Builder
	for i := range inside {
		fmt.Fprintf(&folder,
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app-%05d}\n---\n", i)
	}
	of := rendering
	of.Files = func(string) (map[string][]byte, error) {
		return map[string][]byte{"fleet/large/all.yaml": []byte(folder.String())}, nil
	}
	return kubernetes.Source{"crowd": {Kubeconfig: config(url)}}, of
}

// BenchmarkNested reads clusters with as many objects as the limits allow.
func BenchmarkNested(b *testing.B) {
	for _, c := range []struct{ kustomizations, inside int }{{5000, 100}, {20_000, 30}} {
		b.Run(fmt.Sprintf("%d Kustomizations x %d objects", c.kustomizations, c.inside), func(b *testing.B) {
			source, of := crowdedCluster(b, c.kustomizations, c.inside)
			for b.Loop() {
				memory.Measure(b, func() {
					reports, err := source.Reports(b.Context(), of)
					if want := c.kustomizations * (1 + c.inside); err != nil || len(reports) != want {
						b.Fatal(len(reports), err)
					}
				})
			}
		})
	}
}

// TestNestedCancelled: if the context ends while the objects of a large cluster are compared, the comparison stops, and
// the cluster is offline.
func TestNestedCancelled(t *testing.T) {
	t.Parallel()
	source, of := crowdedCluster(t, 100, 5)
	ctx, cancel := context.WithCancel(t.Context())
	files := of.Files
	of.Files = func(folder string) (map[string][]byte, error) {
		cancel() // while objects are compared
		return files(folder)
	}
	reports, err := source.Reports(ctx, of)
	if err != nil || len(reports) != 1 || reports[0].Health != deployment.Offline {
		t.Errorf("%d reports, %v", len(reports), err)
	}
}
