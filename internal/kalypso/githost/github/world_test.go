package github_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// TestHost runs the tests of all hosts on GitHub.
func TestHost(t *testing.T) {
	t.Parallel()
	hostingtest.Run(t, hosts.GitHub(hostfake.WithGitBackend()))
}
