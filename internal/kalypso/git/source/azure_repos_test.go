package source_test

import (
	"path/filepath"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestWorkloadsAzureAddresses: two registrations name one repo in Azure Repos by its two addresses. If one address
// cannot be reached, the registration with the other address still works.
func TestWorkloadsAzureAddresses(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"w/w.yaml": workload("shop")})
	mirrors, errs := gitremote.ParseMirrors(map[string]string{
		"https://acme.visualstudio.com/p/_git": filepath.Join(t.TempDir(), "none"),
		"https://dev.azure.com/acme/p/_git":    filepath.Dir(repo),
	})
	if errs != nil {
		t.Fatal(errs)
	}
	client, err := gitremote.NewClient(nil, func(s *gitremote.Settings) { s.Mirrors = mirrors })
	if err != nil {
		t.Fatal(err)
	}
	registration := func(name, url string) *fleet.WorkloadRegistration {
		return &fleet.WorkloadRegistration{Meta: fleet.Meta{Name: name}, Repo: url, Branch: "main", Path: "w"}
	}
	got := source.NewReader(client, source.DefaultLimits).Workloads(t.Context(), []*fleet.WorkloadRegistration{
		registration("a", "https://acme.visualstudio.com/p/_git/"+filepath.Base(repo)),
		registration("b", "https://dev.azure.com/acme/p/_git/"+filepath.Base(repo)),
	}, source.FollowOptions{})
	wants(t, got.Problems, []string{"error a Repo not found"}, "acme.visualstudio.com")
	if len(got.Names[fleet.KindWorkload]) != 1 || got.Names[fleet.KindWorkload][0] != "shop" {
		t.Errorf("the workloads are %v", got.Names[fleet.KindWorkload])
	}
}
