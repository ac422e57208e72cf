package deployment_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// TestCollector: each text of a report counts, and so does a report without any.
func TestCollector(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	for name, report := range map[string]deployment.Report{
		"nothing": {}, "cluster": {Cluster: long}, "folder": {Folder: long}, "object": {Object: long},
		"revision": {Revision: long}, "message": {Message: long},
	} {
		c := deployment.Collector{Max: 100_000}
		most := c.Max / 1000
		if name == "nothing" {
			most = c.Max / 100
		}
		var err error
		for err == nil && len(c.Reports) <= most {
			err = c.Add(report)
		}
		if n := len(c.Reports); !errors.Is(err, deployment.ErrTooManyReports) || n == 0 {
			t.Errorf("%s: %d reports, %v", name, n, err)
		}
	}
}
