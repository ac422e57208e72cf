package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestClusterTypeLabels renders the labels of cluster types, one of which is unknown.
func TestClusterTypeLabels(t *testing.T) {
	clusterType := func(name, region string) *fleet.ClusterType {
		return &fleet.ClusterType{
			Meta: fleet.Meta{Name: name, Labels: map[string]string{"region": region}}, Reconciler: "r", NamespaceService: "n",
		}
	}
	f := &fleet.Fleet{
		Environment: "dev",
		ClusterTypes: []*fleet.ClusterType{clusterType("a", "west"), clusterType("b", "east"),
			clusterType("c", unknown.Text)},
		Templates: []*fleet.Template{
			{Meta: fleet.Meta{Name: "r"}, Type: "reconciler", Manifests: []string{"region: {{ .ClusterTypeLabels.region }}"}},
			{Meta: fleet.Meta{Name: "n"}, Type: "namespace",
				Manifests: []string{"{{ if .ClusterTypeLabels.edge }}edge{{ end }}"}},
		},
		Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "w"}, Targets: []fleet.Target{
			{Name: "x", Environment: "dev"}, {Name: "y", Environment: "dev"},
		}}},
	}
	made, ps := engine.Run(t.Context(), f, engine.Options{})
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	var got []string
	for i, folder := range made.Tree.Folders {
		for file := range made.Tree.Files(i) {
			if strings.HasSuffix(file.Path, "/reconciler.yaml") {
				got = append(got, fmt.Sprintf("%s/%s %q %t", folder.ClusterType, file.Path, file.Content, file.Unknown))
			}
		}
	}
	want := []string{
		`a/w-x/reconciler.yaml "region: west" false`, `a/w-y/reconciler.yaml "region: west" false`,
		`b/w-x/reconciler.yaml "region: east" false`, `b/w-y/reconciler.yaml "region: east" false`,
		`c/w-x/reconciler.yaml "" true`, `c/w-y/reconciler.yaml "" true`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
