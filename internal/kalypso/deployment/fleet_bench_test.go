package deployment_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
)

// BenchmarkFleet evaluates the reports of 100,000 clusters, three of each, in 300 cluster types. Every tenth cluster
// runs an older commit, and every hundredth is offline and does not say which folder it follows.
func BenchmarkFleet(b *testing.B) {
	const clusters, folders = 100_000, 300
	now := time.Now()
	w := deployment.Input{
		Branch: deployment.GitOpsBranch{
			Name:     "stage",
			Head:     "head",
			Complete: true,
			Folders:  map[string]deployment.ExpectedFolder{},
		},
		Rules: deployment.Rules{Deadline: time.Hour, StaleAfter: time.Hour},
	}
	for i := range folders {
		w.Branch.Folders[fmt.Sprintf("ct-%03d", i)] = deployment.ExpectedFolder{Tree: "tree"}
	}
	for i := range 3 * clusters {
		r := deployment.Report{
			Cluster: fmt.Sprintf("cluster-%06d", i/3), Folder: fmt.Sprintf("ct-%03d", i%folders),
			Object: fmt.Sprintf("Kustomization fleet-%d", i%3), Revision: "stage@sha1:head", Health: deployment.Healthy,
			Time: now, Now: now, Recorded: true,
		}
		switch {
		case i/3%100 == 0:
			r.Health, r.Folder = deployment.Offline, ""
		case i/3%10 == 0:
			r.Revision = "stage@sha1:old"
		}
		w.Reports = append(w.Reports, r)
	}
	for b.Loop() {
		commits := []deployment.Commit{{Hash: "head", Parents: []string{"old"}, Time: now}, {Hash: "old", Time: now}}
		w.Branch.History = deployment.NewHistory("head", commits, func(commit, _ string) string {
			return map[string]string{"head": "tree", "old": "older"}[commit]
		})
		memory.Measure(b, func() {
			got, err := deployment.Evaluate(b.Context(), w)
			if err != nil || len(got.Clusters) != clusters || len(got.Problems) == 0 {
				b.Fatal(len(got.Clusters), got.Summary, err)
			}
		})
	}
}
