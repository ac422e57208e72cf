package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"
)

// FuzzListing: whatever the ignore files say, each file of the folder is in one list at most, in no dot folder, and the
// lists do not depend on the order of the entries. A last pattern for all files decides: it ignores all of them, or
// none.
func FuzzListing(f *testing.F) {
	for _, ignore := range []string{
		"", "*.yaml", "!a.yaml", "/b/", "b/**/c.yaml", "**/", "[", "[a-", "\\", "\\!a.yaml", "# c", "a.yaml \r\n", "  ",
		"b/*\n!b/c.yaml", strings.Repeat("*a", 50), strings.Repeat("**/", 50) + "x", "!", "/", "//", "\xff", "a?c", "{a,b}",
	} {
		f.Add(ignore, "", "x/a.yaml\nx/b/c.yaml\nx/.git/a.yml\nx/B/C.yaml\nx/kustomization.yaml\nx/.sops.yaml")
		f.Add("*", ignore, "x/a.yaml\nx/b/b/c.yaml\nx/link\nx/")
	}
	f.Fuzz(func(t *testing.T, above, ignore, paths string) {
		var entries []entry
		for i, path := range strings.Split(paths, "\n") {
			if !strings.HasPrefix(path, "x/") || slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool {
				return name == "" || name == "." || name == ".."
			}) {
				continue // Git has no such path
			}
			mode := []filemode.FileMode{filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Submodule}[i%4]
			entries = append(entries, entry{path, mode})
		}
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
		entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.path == b.path })
		list := func(last string) listing {
			return newListing("x", entries, map[string]string{ignoreFile: above, "x/" + ignoreFile: ignore + last})
		}
		l := list("")
		met := map[string]bool{}
		for _, path := range slices.Concat(l.files, l.links, l.modules, l.kustomizations) {
			known := slices.ContainsFunc(entries, func(e entry) bool { return e.path == path })
			if met[path] || !known || hidden(strings.TrimPrefix(path, "x/")) {
				t.Errorf("%q is listed: twice %v, known %v", path, met[path], known)
			}
			met[path] = true
		}
		slices.Reverse(entries)
		reversed := list("")
		for _, l := range []*listing{&l, &reversed} {
			slices.Sort(l.links)
			slices.Sort(l.modules)
			slices.Sort(l.kustomizations)
		}
		options := cmp.AllowUnexported(listing{})
		if diff := cmp.Diff(l, reversed, options); diff != "" {
			t.Errorf("in another order:\n%s", diff)
		}
		if diff := cmp.Diff(listing{}, list("\n*\n"), options); diff != "" {
			t.Errorf("all files are ignored, but these are listed:\n%s", diff)
		}
		all := newListing("x", entries, nil)
		got := list("\n!*\n")
		for _, l := range []*listing{&all, &got} {
			slices.Sort(l.links)
			slices.Sort(l.modules)
			slices.Sort(l.kustomizations)
		}
		if diff := cmp.Diff(all, got, options); diff != "" {
			t.Errorf("no file is ignored (-without patterns +got):\n%s", diff)
		}
	})
}
