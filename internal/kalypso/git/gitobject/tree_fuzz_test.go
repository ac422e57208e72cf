package gitobject_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

// FuzzTree: a tree that is parsed is written again with the same bytes. Its names are valid and occur once.
func FuzzTree(f *testing.F) {
	for name := range names {
		f.Add(treeOf(entry{Mode: gitobject.ModeFile, Name: name}, entry{Mode: gitobject.ModeTree, Name: "b"}))
	}
	f.Add([]byte("100644 a\x00short"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, err := gitobject.ParseTree[gitobject.Hash](raw)
		if err != nil && !errors.Is(err, gitobject.ErrBadTree) {
			t.Fatal(err)
		}
		if entries != nil && !bytes.Equal(gitobject.AppendTree(nil, entries), raw) {
			t.Errorf("%q is written again as %q", raw, gitobject.AppendTree(nil, entries))
		}
		if err != nil {
			return
		}
		met := map[string]bool{}
		for _, e := range entries {
			if gitobject.CheckName(e.Name) != nil || met[e.Name] {
				t.Errorf("the name %q is accepted", e.Name)
			}
			met[e.Name] = true
		}
	})
}
