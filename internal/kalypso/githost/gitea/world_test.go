package gitea_test

import (
	"os"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	giteaserver.Stop()
	os.Exit(code)
}

// TestHost runs the tests of all hosts on a real Gitea.
func TestHost(t *testing.T) {
	t.Parallel()
	hostingtest.Run(t, hosts.Gitea)
}
