package kubernetes

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
)

// TestReportsOfManyNamespaces: a cluster brings a folder with 2,000 objects to 2,000 namespaces, so that there are four
// million reports. They are no more than the bound, and the cluster is offline with the reason.
func TestReportsOfManyNamespaces(t *testing.T) {
	var all []unstructured.Unstructured
	var inside []versions.Reference
	for i := range 2000 {
		name := fmt.Sprint("k", i)
		all = append(all, unstructured.Unstructured{Object: map[string]any{
			"kind": "Kustomization", "metadata": map[string]any{"name": name, "namespace": "f"},
			"spec": map[string]any{"path": "large", "targetNamespace": name, "sourceRef": map[string]any{
				"kind": "GitRepository", "name": "g"}},
		}})
		inside = append(inside, versions.Reference{Kind: "Kustomization", Name: name})
	}
	source := unstructured.Unstructured{Object: map[string]any{
		"kind": "GitRepository", "metadata": map[string]any{"name": "g", "namespace": "f"},
		"spec": map[string]any{"url": "https://x.io/a/b", "ref": map[string]any{"branch": "dev"}},
	}}
	of := deployment.Rendering{Repo: "https://x.io/a/b", Branch: "dev", Path: ".", Folders: []string{"large"}}
	k := newCluster("hub", &client{date: &serverDate{}}, of, map[string]folderReader{
		"large": func() ([]versions.Reference, error) { return inside, nil },
	})
	k.lists[resource{group: kustomizeGroup, name: "kustomizations"}] = &resourceList{served: true, objects: all}
	k.lists[resource{group: sourceGroup, name: "gitrepositories"}] = &resourceList{
		served: true, objects: []unstructured.Unstructured{source},
	}
	peak := memory.Peak(func() {
		if _, err := k.flux(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := k.addNested(t.Context())
		if !errors.Is(err, deployment.ErrTooManyReports) || !strings.Contains(explain(err), "more than 256 MiB") {
			t.Errorf("got %v", err)
		}
	})
	if n := len(k.Reports); n < 100_000 || peak > 1<<30 {
		t.Errorf("%d reports took %d MiB", n, peak>>20)
	}
}
