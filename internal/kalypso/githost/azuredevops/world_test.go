package azuredevops_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// TestHost runs the tests of all hosts on Azure DevOps, also while it shows changes with a delay.
func TestHost(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]hostfake.Option{
		"no delay": nil, "delay": {hostfake.WithLag(2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hostingtest.Run(t, hosts.AzureDevOps(options...))
		})
	}
}
