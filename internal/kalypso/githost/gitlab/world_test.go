package gitlab_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// TestHost runs the tests of all hosts on GitLab, also while it shows changes with a delay and is served below a
// folder.
func TestHost(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]hostfake.Option{
		"no delay": nil, "delay, below a folder": {hostfake.WithLag(2), hostfake.WithFolder("/git")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hostingtest.Run(t, hosts.GitLab(append(options, hostfake.WithGitBackend())...))
		})
	}
}
