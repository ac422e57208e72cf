package rendering_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

var refusedChange = regexp.MustCompile(`accepted_changes = \["([a-z]+-[0-9a-f]{12})"\]`)

// refusedID expects a plan to be refused with all of the texts and one ID to accept, and returns the ID.
func (r *rendering) refusedID(texts []string) string {
	r.T.Helper()
	r.expectRefused(texts, "plan")
	found := refusedChange.FindAllStringSubmatch(r.Terraform("plan", "-no-color").Text(), -1)
	if len(found) != 1 {
		r.T.Fatalf("the plan names the IDs %v", found)
	}
	return found[0][1]
}

// TestAccRenderingAcceptedChanges: the ID in an error allows the refused change, in plan and apply, and no other
// change.
func TestAccRenderingAcceptedChanges(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "deletion_protection", false)
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small"})
	r.expectCommits(1)

	// Drift. Another commit of people has another ID.
	byHand := func(content string) {
		t.Helper()
		gitserver.SeedFiles(t, r.repo, "dev", "By hand", map[string]gitserver.File{
			"large/app-a/reconciler.yaml": {Mode: "100644", Content: content},
		})
	}
	drifted := []string{"Drift: rendered folders changed outside Terraform"}
	byHand("one")
	first := r.refusedID(drifted)
	byHand("two")
	r.options("accepted_changes", []string{first})
	second := r.refusedID(drifted)
	if first == second || !strings.HasPrefix(second, "drift-") {
		t.Errorf("the IDs are %s and %s", first, second)
	}
	r.options("accepted_changes", []string{first, second})
	r.expectCommits(1)
	if out := r.Succeed("plan", "-no-color"); !strings.Contains(out.Text(), "Accepted changes are no longer needed") {
		t.Errorf("the plan does not note that the IDs are no longer needed:\n%s", out.Stdout)
	}

	// If a branch or a repo does not exist, the error says only that, and nothing about folders that the move would
	// remove. If other people own folders at the destination, this error comes before the error about the move.
	r.options("accepted_changes", nil, "create_branch", nil)
	for _, typo := range []struct{ argument, value, says string }{
		{"branch", "dve", "Branch not found"}, {"repo", "file://" + r.repo + ".typo", "Repo not found"},
	} {
		r.setDestination(typo.argument, typo.value)
		r.expectRefused([]string{typo.says, strings.TrimPrefix(typo.value, "file://")}, "plan")
		if out := r.Terraform("plan", "-no-color"); strings.Contains(out.Text(), "guardrails") {
			t.Errorf("a typo in the %s is reported as a guardrail:\n%s", typo.argument, out.Stderr)
		}
	}
	gitserver.Seed(t, r.repo, "live", map[string]string{"large/README.md": "Of people.\n"})
	r.setDestination("branch", "live", "repo", "file://"+r.repo)
	occupied := r.refusedID([]string{"Folders are not owned by this rendering"})
	r.options("accepted_changes", []string{occupied})
	move := r.refusedID([]string{"Change exceeds guardrails", "moves away", "on_move"})
	r.options("accepted_changes", []string{occupied, move})
	r.Apply()
	r.ExpectEmptyPlan()
	if files := gitserver.Tree(t, r.repo, "live"); files["large/README.md"] == "Of people.\n" ||
		files["small/app-c/reconciler.yaml"] == "" {
		t.Errorf("the new branch contains %v", files)
	}
	if files := gitserver.Tree(t, r.repo, "dev"); len(files) > 0 {
		t.Errorf("the previous branch contains %v", files)
	}
	r.options("accepted_changes", []string{"drift-3F2A"})
	r.ExpectError([]string{"Invalid ID of a change"}, "plan", "-no-color")
}
