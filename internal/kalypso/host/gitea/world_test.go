package gitea_test

import (
	"os"
	"testing"

	server "github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
)

func TestMain(m *testing.M) {
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// TestHost runs the tests of all hosts on a real Gitea.
func TestHost(t *testing.T) {
	t.Parallel()
	hostingtest.Run(t, hosts.Gitea)
}
