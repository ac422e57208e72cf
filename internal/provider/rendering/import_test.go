package rendering_test

import (
	"slices"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccRenderingImport: an import reads the delivered tree from the branch, and the same configuration changes
// nothing.
func TestAccRenderingImport(t *testing.T) {
	t.Parallel()
	const address = "kalypso_environment_rendering.this"
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true, "promoted_commit", "v1.2.3")
	r.setDestination("path", "clusters")
	r.expectCommits(1)
	before := r.Rendered()
	r.others()

	r.EmptyState()
	id := "file://" + r.repo + "//clusters?ref=dev"
	for bad, said := range map[string]string{
		"dev@" + id + "&x=y": "if the branch is dev&x=y, write ref=dev%26x=y",
		"dev@" + id + "&preview=all": `sets the preview to "all", which is not one of assignments, none, summary, ` +
			"manifests.",
		"stage@" + id: `rendering of environment "stage": the record clusters/.kalypso/rendering.json says "dev"`,
		"dev@file://" + r.repo + "//elsewhere?ref=dev": "there is no record elsewhere/.kalypso/rendering.json",
		"dev@file://" + r.repo + "//clusters?ref=main": "Check ref in the ID",
	} {
		r.expectRefused([]string{said}, "import", address, bad)
	}
	for preview, shown := range map[string][]string{
		"none": nil, "summary": {"summary"}, "assignments": {"assignments", "folders"},
	} {
		r.Succeed("import", address, "dev@"+id+"&preview="+preview)
		imported := r.Rendered()
		for _, attribute := range []string{"assignments", "folders", "summary"} {
			if got := imported[attribute] != nil; got != slices.Contains(shown, attribute) {
				t.Errorf("the import with preview %s: %s is in the state: %t", preview, attribute, got)
			}
		}
		r.EmptyState()
	}
	r.Succeed("import", address, "dev@"+id)
	same := []string{"tree_hash", "folders", "commit_sha", "assignments", "assignment_count", "promoted_commit"}
	before["commit_sha"] = r.head() // the branch's head contains the tree too
	r.expectSame(before, same...)
	r.expectUpdate(0)
	r.expectSame(before, append(same, "unscheduled")...)
	r.Set("value", "2")
	r.expectCommits(1)
}

// TestAccRenderingImportBranch: ref is the branch as in the configuration, also with a plus sign, or percent-encoded.
func TestAccRenderingImportBranch(t *testing.T) {
	t.Parallel()
	const address = "kalypso_environment_rendering.this"
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.setDestination("branch", "feature+x")
	r.Apply()
	for _, ref := range []string{"feature+x", "feature%2Bx"} {
		r.EmptyState()
		r.Succeed("import", address, "dev@file://"+r.repo+"?ref="+ref)
		if got := asMap(r.Rendered()["gitops_repo"])["branch"]; got != "feature+x" {
			t.Errorf("?ref=%s is the branch %q", ref, got)
		}
	}
}
