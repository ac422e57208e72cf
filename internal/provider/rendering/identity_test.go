package rendering_test

import (
	"fmt"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The identity of a rendering is its destination. It changes with the arguments, and an import accepts it.
func TestAccRenderingIdentity(t *testing.T) {
	t.Parallel()
	const address = "kalypso_environment_rendering.this"
	r := newRendering(t, gitserver.InitBare(t))
	identity := map[string]any{"environment": "dev", "repo": "file://" + r.repo, "branch": "dev", "path": nil}
	r.options("create_branch", true, "guardrails", anyRemoval)
	r.Apply()
	r.ExpectIdentity(address, identity)

	r.setDestination("path", "clusters", "branch", "feature&x=1")
	r.Apply()
	identity["path"], identity["branch"] = "clusters", "feature&x=1"
	r.ExpectIdentity(address, identity)
	r.ExpectEmptyPlan()

	r.EmptyState()
	imported := r.ImportByIdentity(address, fmt.Sprintf(
		`{ environment = "dev", repo = "file://%s", branch = "feature&x=1", path = "clusters" }`, r.repo))
	if imported {
		r.ExpectEmptyPlan()
		r.ExpectIdentity(address, identity)
	}
}
