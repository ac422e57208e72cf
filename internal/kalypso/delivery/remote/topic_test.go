package remote

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// TestBranchName: the name of a branch is valid in Git, and each rendering has its own. No name is a folder of another
// branch's name, which Git does not allow.
func TestBranchName(t *testing.T) {
	if got, want := branchName("deployment/", key{"dev", "dev", "."}), "deployment/dev-7bf4c8d7"; got != want {
		t.Errorf("got %q, want %q: open pull requests from the old name would not be found", got, want)
	}
	seen := map[string]key{}
	for _, k := range []key{
		{"dev", "dev", "."}, {"dev", "main", "."}, {"dev", "main", "clusters"}, {"dev", "main", "clusters/a"},
		{"dev", "main-clusters", "."},
		{"dev-main", "clusters", "."}, {"a..b", "feature/ü", "..."}, {"ü", "ü", "."}, {"-", "@{", ".lock"}, {"é", "é", "."},
		{strings.Repeat("e", 300), strings.Repeat("b", 300), "."}, {strings.Repeat("e", 300), strings.Repeat("b", 300), "p"},
	} {
		for _, prefix := range []string{"deployment/", "", "a/b-"} {
			name := branchName(prefix, k)
			if err := gitbranch.CheckName(name); err != nil || len(name) > 100 {
				t.Errorf("%+v: %q, %v", k, name, err)
			}
			if other, twice := seen[name]; twice {
				t.Errorf("%+v and %+v are both %q", k, other, name)
			}
			seen[name] = k
			if strings.Contains(strings.TrimPrefix(name, prefix), "/") {
				t.Errorf("%q could be in the folder of another branch", name)
			}
		}
	}
}

// TestContents: the trailer of our commit covers all our files on our branch.
func TestContents(t *testing.T) {
	folders, all := map[string]tree.Hash{"large": {1}, "small": {2}}, map[string]bool{}
	for _, s := range []string{
		contents("r", folders), contents("s", folders), contents("r", nil), contents("r", map[string]tree.Hash{"large": {1}}),
		contents("r", map[string]tree.Hash{"large": {2}, "small": {1}}),
	} {
		if all[s] {
			t.Errorf("%q occurs twice", s)
		}
		all[s] = true
	}
	if contents("", nil) != contents("", map[string]tree.Hash{}) {
		t.Error("an empty map has other contents than nil")
	}
	// Branches contain commits of earlier versions with this trailer.
	k := key{"dev", "dev", "."}
	const want = "Kalypso-Rendering: 702d3ffc59efebcd228cddfd305d9cb727e090b3"
	if got := pullrequest.Trailer(k.marker(), contents("r", folders)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
