package page_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// largeFleet returns a fleet of 2,000 deployment targets in 5 environments. Each environment has 500 clusters of 20
// cluster types, and as much history as the default limit allows. The versions of every third target differ between
// environments.
func largeFleet() ([]page.History, []page.DeploymentState) {
	var histories []page.History
	var states []page.DeploymentState
	for i, env := range []string{"dev", "test", "stage", "prod-eu", "prod-us"} {
		at := destination.Destination{Repo: "https://github.com/acme/gitops", Branch: env}
		h := page.History{Environment: env, GitOpsRepo: at, Complete: true, RecordedUntil: now, ControlPlane: at}
		h.Deployments = shopDeployments(0)
		for len(h.Deployments) < 100 {
			h.Deployments = append(h.Deployments, h.Deployments[:min(29, 100-len(h.Deployments))]...)
		}
		h.Metrics = shopMetrics(h.Deployments)
		s := page.DeploymentState{Environment: env, GitOpsRepo: at, ObservedAt: now, Verdict: "pending",
			Targets: map[string]deployment.TargetCount{}, Folders: map[string]deployment.FolderState{},
			Clusters: map[string][]deployment.Followed{}}
		for c := range 500 {
			folder := fmt.Sprintf("cluster-type-%02d", c%20)
			s.Clusters[fmt.Sprintf("cluster-%s-%04d", env, c)] = []deployment.Followed{{Folder: folder, State: "current"}}
			s.Folders[folder] = deployment.FolderState{Counts: deployment.Counts{Total: 25, Current: 25}, Verdict: "success",
				Since: now}
		}
		for k := range 2000 {
			target := fmt.Sprintf("workload-%03d-target-%d", k/4, k%4)
			version := fmt.Sprintf("1.%d.%d", k%30, 20-i*((k+2)%3/2))
			since := ago(time.Duration(k) * time.Hour / 3)
			h.Versions = append(h.Versions, history.VersionCount{Target: target, Version: version, State: "current",
				Clusters: 5 + k%20, Since: since, Workload: target[:12], Workspace: target[:10]})
			s.Targets[target] = deployment.TargetCount{
				Current:  5 + k%20,
				Total:    5 + k%20,
				Versions: map[string]int{version: 5 + k%20},
			}
			if k < 100 {
				h.Runs = append(h.Runs, history.Run{Cluster: "cluster-" + env, Since: since,
					Place:     observation.Place{ClusterType: "cluster-type-01", Target: target},
					Condition: observation.Condition{Version: observation.Version{Version: version}, State: "current"}})
			}
		}
		histories, states = append(histories, h), append(states, s)
	}
	return histories, states
}

// The page of 2,000 targets in 5 environments has at most 2 MiB.
func TestHTMLSize(t *testing.T) {
	html, err := htmlOf(largeFleet())
	if err != nil {
		t.Fatal(err)
	}
	const bound = 2 << 20
	t.Logf("%d bytes", len(html))
	if len(html) > bound {
		t.Errorf("the page has %d bytes, more than %d", len(html), bound)
	}
}

// BenchmarkHTML measures the page of 2,000 targets in 5 environments, which should take less than a second.
func BenchmarkHTML(b *testing.B) {
	histories, states := largeFleet()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := htmlOf(histories, states); err != nil {
			b.Fatal(err)
		}
	}
}
