package azure

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// TestReportsOfManyStatuses: a configuration with 3,000 folders and 3,000 statuses has nine million reports. They are
// no more than the bound.
func TestReportsOfManyStatuses(t *testing.T) {
	t.Parallel()
	var kustomizations, statuses []string
	for i := range 3000 {
		kustomizations = append(kustomizations, fmt.Sprintf(`"k%d":{"path":"large%[1]d"}`, i))
		statuses = append(statuses, fmt.Sprintf(`{"name":"r%d","kind":"HelmRelease"}`, i))
	}
	page, err := parsePage[configuration]([]byte(`{"data":[{"id":"x","properties":{"gitRepository":{` +
		`"url":"https://x.io/a/b","repositoryRef":{"branch":"dev"}},"kustomizations":{` +
		strings.Join(kustomizations, ",") + `},"statuses":[` + strings.Join(statuses, ",") + `]}}]}`))
	if err != nil || len(page.Data) != 1 {
		t.Fatal(page, err)
	}
	found := deployment.Collector{Max: 8 << 20}
	of := deployment.Rendering{Repo: "https://x.io/a/b", Branch: "dev", Path: "."}
	err = page.Data[0].report(of, &found)
	if n := len(found.Reports); !errors.Is(err, deployment.ErrTooManyReports) || n < 10_000 || n > 8<<20/256 {
		t.Errorf("%d reports, %v", n, err)
	}
}
