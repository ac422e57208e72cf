package azure_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
)

const (
	fleetClusters = 100_000
	fleetFolders  = 300
)

// fleetPages returns handlers for the pages of an answer with three Flux configurations of each cluster. The pages are
// in files, so that the fake server takes neither time nor memory for them.
func fleetPages(b *testing.B) (pages []http.HandlerFunc) {
	b.Helper()
	const size, rows = 1000, 3 * fleetClusters
	for from := 0; from < rows; from += size {
		var data []any
		for n := from; n < from+size; n++ {
			row := azurefake.Configuration(azurefake.AKS(fmt.Sprintf("cluster-%06d", n/3)), repo, "stage",
				fmt.Sprintf("./fleet/ct-%03d", n%fleetFolders), good)
			row["id"] = fmt.Sprintf("%s-%d", row["id"], n%3)
			data = append(data, row)
		}
		page := map[string]any{"totalRecords": rows, "count": size, "data": data, "resultTruncated": "false"}
		if from+size < rows {
			page["$skipToken"] = fmt.Sprint(from)
		}
		text, err := json.Marshal(page)
		if err != nil {
			b.Fatal(err)
		}
		path := filepath.Join(b.TempDir(), "page.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
		pages = append(pages, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			http.ServeFile(w, r, path)
		})
	}
	return pages
}

// BenchmarkFleet reads 100,000 clusters with three configurations each from Azure, page by page, and evaluates them.
func BenchmarkFleet(b *testing.B) {
	s := azurefake.New(b)
	pages := fleetPages(b)
	source := azure.Source{Config: azure.Config{
		TenantID: azurefake.Tenant, ClientID: azurefake.Client, ClientSecret: azurefake.Secret,
		DisableInstanceDiscovery: true,
		Endpoint:                 azure.Endpoint{ActiveDirectoryAuthorityHost: s.URL, ResourceManagerEndpoint: s.URL},
	}}
	of := rendering
	branch := deployment.GitOpsBranch{
		Name:     "stage",
		Head:     sha,
		Complete: true,
		Folders:  map[string]deployment.ExpectedFolder{},
	}
	of.Folders = nil
	for i := range fleetFolders {
		name := fmt.Sprintf("ct-%03d", i)
		of.Folders = append(of.Folders, name)
		branch.Folders[name] = deployment.ExpectedFolder{Tree: "tree"}
	}
	for b.Loop() {
		s.Instead(pages...)
		branch.History = deployment.NewHistory(sha, []deployment.Commit{{Hash: sha, Time: time.Now()}},
			func(_, _ string) string { return "tree" })
		memory.Measure(b, func() {
			reports, err := source.Reports(b.Context(), of)
			if err != nil {
				b.Fatal(err)
			}
			got, err := deployment.Evaluate(b.Context(), deployment.Input{
				Branch: branch, Reports: reports,
				Rules: deployment.Rules{Deadline: 1e6 * time.Hour, StaleAfter: time.Hour},
			})
			if err != nil || len(got.Clusters) != fleetClusters || got.Verdict != deployment.Success {
				b.Fatal(len(got.Clusters), got.Summary, err)
			}
		})
	}
}
