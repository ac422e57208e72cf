package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// ownValuesFleet returns a fleet of n assignments, each with its own config.
func ownValuesFleet(n int) *fleet.Fleet {
	const clusterTypes = 100
	f := &fleet.Fleet{
		Environment: "dev",
		Templates: []*fleet.Template{
			{Meta: meta("templates", "r", nil), Type: "reconciler", Manifests: []string{
				"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {{ .DeploymentTargetName " +
					"}}\nspec:\n  url: {{ .Manifests.repo }}\n  ref:\n    branch: {{ .Manifests.branch }}\n",
				"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {{ .DeploymentTargetName " +
					"}}\nspec:\n  targetNamespace: {{ .Namespace }}\n  path: {{ .Manifests.path }}\n",
			}},
			{Meta: meta("templates", "n", nil), Type: "namespace", Manifests: []string{
				"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ .Namespace }}\n  labels:\n    workload: {{ .Workload " +
					"}}\n    clusterType: {{ .ClusterType }}\n",
			}},
			{Meta: meta("templates", "c", nil), Type: "config", Manifests: []string{
				"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-config\n  namespace: {{ .Namespace }}\ndata:\n{{ " +
					"stringify .ConfigData | indent 2 }}\n",
			}},
		},
		Configs: []*fleet.Config{{
			Meta: meta("configs", "0-base", map[string]string{fleet.PlatformConfigLabel: "true"}),
			Data: map[string]string{"REGION": "west", "DB": "host: base\nport: 5432\ntags: [a, b]\n", "LEVEL": "info"},
		}},
		Policies: []*fleet.SchedulingPolicy{{Meta: meta("scheduling_policies", "all", nil)}},
	}
	for i := range clusterTypes {
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
			Meta:       meta("cluster_types", fmt.Sprintf("ct-%d", i), map[string]string{"region": fmt.Sprint(i % 7)}),
			Reconciler: "r", NamespaceService: "n", ConfigType: "c",
		})
	}
	for i := range n / clusterTypes {
		name := fmt.Sprintf("w%d", i)
		f.Workloads = append(f.Workloads, &fleet.Workload{Meta: meta("workloads", name, nil), Targets: []fleet.Target{{
			Name: "t", Environment: "dev",
			Manifests: map[string]string{"repo": "https://example.com/" + name, "branch": "main", "path": "./t"},
		}}})
		for c := range clusterTypes {
			f.Configs = append(f.Configs, &fleet.Config{
				Meta: meta("configs", fmt.Sprintf("own-%d-%d", i, c), map[string]string{
					fleet.PlatformConfigLabel:   "true",
					fleet.ClusterTypeLabel:      fmt.Sprintf("ct-%d", c),
					fleet.DeploymentTargetLabel: name + "-t",
				}),
				Data: map[string]string{"REPLICAS": fmt.Sprint(i), "DB": fmt.Sprintf("host: own-%d\ntags: [%d]\n", c, i)},
			})
		}
	}
	return f
}

// BenchmarkBuildOwnValues is [BenchmarkBuild] for fleets in which no two assignments have the same values.
func BenchmarkBuildOwnValues(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%dk", n/1000), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			f := ownValuesFleet(n)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			b.ReportAllocs()
			assignments := 0
			var built *tree.Tree
			for b.Loop() {
				var problems problem.Problems
				built, problems = build(b.Context(), f)
				if problems.HasErrors() {
					b.Fatal(problems)
				}
				assignments += built.Schedule.AssignmentCount
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(built)
			b.ReportMetric(float64(assignments)/b.Elapsed().Seconds(), "assignments/s")
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		})
	}
}
