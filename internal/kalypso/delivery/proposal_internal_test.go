package delivery

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// TestBranchName: a name is Git's, the same for one rendering always, another one for each, and in no other one's way.
func TestBranchName(t *testing.T) {
	if got, want := branchName("deployment/", key{"dev", "dev", "."}), "deployment/dev-7bf4c8d7"; got != want {
		t.Errorf("got %q, want %q: what is open under the old name is not found", got, want)
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
			if err := gitops.CheckName(name); err != nil || len(name) > 100 {
				t.Errorf("%+v: %q, %v", k, name, err)
			}
			if other, twice := seen[name]; twice {
				t.Errorf("%+v and %+v are both %q", k, other, name)
			}
			seen[name] = k
			if strings.Contains(strings.TrimPrefix(name, prefix), "/") {
				t.Errorf("%q may lie in another branch's name", name)
			}
		}
	}
	for prefix, ok := range map[string]bool{
		"": true, "ours/": true, "-": false, "a..b/": false, "/": false, "refs/": false, "x y": false,
	} {
		if err := checkBranchPrefix(prefix); (err == nil) != ok {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

// TestTrailer: the trailer covers everything of ours on our branch, and identifies the rendering.
func TestTrailer(t *testing.T) {
	k, folders := key{"dev", "dev", "."}, map[string]tree.Hash{"large": {1}, "small": {2}}
	trailers := map[string]bool{}
	for _, s := range []string{
		k.trailer("r", folders), key{"dev", "dev", "a"}.trailer("r", folders), k.trailer("s", folders), k.trailer("r", nil),
		k.trailer("r", map[string]tree.Hash{"large": {1}}), k.trailer("r", map[string]tree.Hash{"large": {2}, "small": {1}}),
	} {
		if trailers[s] || strings.Contains(s, "\n") {
			t.Errorf("%q is twice, or more than a line", s)
		}
		trailers[s] = true
	}
	if k.trailer("", nil) != k.trailer("", map[string]tree.Hash{}) {
		t.Error("no folders are two things")
	}
}

// TestBody: the marker stays, however much is cut.
func TestBody(t *testing.T) {
	const marker = "<!-- marker -->"
	for n, text := range []string{
		"", "short", "with " + marker + " within", strings.Repeat("ä", 200), strings.Repeat("𝄞", 200),
	} {
		got := body(text, marker, 100)
		if characters(got) > 100 || !strings.HasSuffix(got, "\n\n"+marker+"\n") || strings.Count(got, marker) != 1 {
			t.Errorf("%d: %d characters: %q", n, characters(got), got)
		}
		if cut := strings.Contains(got, "(cut)"); cut != (n > 2) {
			t.Errorf("%d: cut is %t: %q", n, cut, got)
		}
	}
}
