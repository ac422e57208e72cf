package rendering_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingPrivateStateOfOtherVersion: a private state of another version of the provider is read again from the
// branch. That also finds foreign changes since then, and a move still moves the delivered tree.
func TestAccRenderingPrivateStateOfOtherVersion(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.Apply()
	r.forget()
	r.ExpectEmptyPlan()
	r.expectCommits(0)

	before := r.head()
	reconciler := gitserver.Git(t, r.repo, "show", "dev:large/app-a/reconciler.yaml")
	hotfix := gitserver.Seed(t, r.repo, "dev", map[string]string{"large/app-a/reconciler.yaml": "by hand\n"})
	r.forget()
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
	r.expectRefused(said, "plan", "-refresh=false") // the private state of this version lists it now

	// Once people revert it, it is no drift any more.
	gitserver.Seed(t, r.repo, "dev", map[string]string{"large/app-a/reconciler.yaml": reconciler})
	r.ExpectEmptyPlan()
	gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", hotfix)
	r.forget()
	r.options("on_drift", "overwrite")
	r.expectCommits(1)
	r.options("on_drift", nil)
	if now := gitserver.Git(t, r.repo, "diff", "--stat", before, "dev"); now != "" {
		t.Errorf("the tree is not put right:\n%s", now)
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
	r.forget()
	r.expectRefused([]string{"Drift: rendered folders changed outside Terraform", "commit " + r.head(), "Away with all",
		"- .kalypso/rendering.json"}, "plan")
	gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", delivered)

	r.forget()
	r.setDestination("path", "below")
	r.options("guardrails", anyRemoval)
	r.expectCommits(1, "-refresh=false")
	r.expectFiles("dev", defaultPaths("below")...)

	// A rendering that is only computed from now on contacts no server.
	gitserver.Seed(t, r.repo, "dev", map[string]string{"below/large/app-a/reconciler.yaml": "by hand\n"})
	r.forget()
	r.options("delivery", map[string]any{"strategy": "none"})
	r.expectCommits(0, "-refresh=false")
}
