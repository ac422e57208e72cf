package rendering_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingPrivateStateOfOtherVersion: if the private state is of another version of the provider, the provider
// reads the delivery again from the branch. It finds foreign changes after the delivery, and a move still moves the
// delivered tree.
func TestAccRenderingPrivateStateOfOtherVersion(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.Apply()
	r.replacePrivateState()
	r.ExpectEmptyPlan()
	r.expectCommits(0)

	before := r.head()
	reconciler := gitserver.Git(t, r.repo, "show", "dev:large/app-a/reconciler.yaml")
	hotfix := gitserver.Seed(t, r.repo, "dev", map[string]string{"large/app-a/reconciler.yaml": "by hand\n"})
	r.replacePrivateState()
	said := []string{
		"Drift: rendered folders changed outside Terraform",
		"commit " + hotfix,
		"- large/app-a/reconciler.yaml",
		`on_drift = "overwrite"`,
	}
	r.expectRefused(said, "plan")
	r.expectRefused(said, "plan", "-refresh=false")
	r.Set("value", "2")
	r.expectRefused(said, "apply", "-auto-approve", "-refresh=false")
	r.Set("value", "1")
	r.Apply("-refresh-only")
	r.expectRefused(said, "plan", "-refresh=false") // the private state of this version lists the drift now

	// Once people have reverted the change, there is no drift.
	gitserver.Seed(t, r.repo, "dev", map[string]string{"large/app-a/reconciler.yaml": reconciler})
	r.ExpectEmptyPlan()
	gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", hotfix)
	r.replacePrivateState()
	r.options("on_drift", "overwrite")
	r.expectCommits(1)
	r.options("on_drift", nil)
	if now := gitserver.Git(t, r.repo, "diff", "--stat", before, "dev"); now != "" {
		t.Errorf("the tree is not restored:\n%s", now)
	}

	// A revert of the whole commit.
	delivered := r.head()
	gitserver.SeedFiles(
		t,
		r.repo,
		"dev",
		"Away with all",
		map[string]gitserver.File{
			"large":     {},
			"small":     {},
			".kalypso":  {},
			"README.md": {Mode: "100644", Content: "Ours.\n"},
		},
	)
	r.replacePrivateState()
	r.expectRefused([]string{"Drift: rendered folders changed outside Terraform", "commit " + r.head(), "Away with all",
		"- .kalypso/rendering.json"}, "plan")
	gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", delivered)

	r.replacePrivateState()
	r.setDestination("path", "below")
	r.options("guardrails", anyRemoval)
	r.expectCommits(1, "-refresh=false")
	r.expectFiles("dev", defaultPaths("below")...)

	// If the strategy changes to none, the apply contacts no server.
	gitserver.Seed(t, r.repo, "dev", map[string]string{"below/large/app-a/reconciler.yaml": "by hand\n"})
	r.replacePrivateState()
	r.options("delivery", map[string]any{"strategy": "none"})
	r.expectCommits(0, "-refresh=false")
}
