// Package hosts has the Git hosts that tests run over, each as a [hostingtest.World]: the fakes of GitHub, GitLab and
// Azure DevOps, and a real Gitea.
package hosts

import (
	"slices"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// Host is a host that tests run over.
type Host struct {
	Name string // as [githost.Traits.Host]
	Case string // distinguishes hosts of the same name; "": not needed
	New  func(t *testing.T) *hostingtest.World
}

// String names a subtest.
func (h Host) String() string { return h.Name + h.Case }

// All returns all hosts, or GitHub in a short run.
func All() []Host {
	all := []Host{
		{Name: "GitHub", New: GitHub()},
		{Name: "GitLab", New: GitLab()},
		{Name: "GitLab", Case: ", which lags", New: GitLab(hostfake.WithLag(2))},
		{Name: "Azure DevOps", New: AzureDevOps()},
		{Name: "Azure DevOps", Case: ", which lags", New: AzureDevOps(hostfake.WithLag(5))},
		{Name: "Gitea", New: Gitea},
	}
	if testing.Short() {
		return all[:1]
	}
	return all
}

// Prompt returns the hosts without those that see pushes late: for tests that do not depend on that.
func Prompt() []Host {
	return slices.DeleteFunc(All(), func(h Host) bool { return h.Case != "" })
}
