package gitstore_test

import (
	"errors"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestHostileFolders: records beside a folder with 2^60 paths, or with a name that Git refuses, are not written. The
// error names the reason.
func TestHostileFolders(t *testing.T) {
	t.Parallel()
	for _, want := range []error{gitbranch.ErrTooManyEntries, gitobject.ErrBadTree} {
		repo := gitserver.InitBare(t)
		tree := gitserver.Bomb(t, repo, 60, "f", "x")
		if errors.Is(want, gitobject.ErrBadTree) {
			tree = gitserver.WriteTree(t, repo, gitserver.TreeEntry{Mode: "40000", Name: "..", Hash: tree})
		}
		gitserver.SetTree(t, repo, branch, "h/prod/2026", tree)
		s := open(t, repo, "h", gitbranch.Author{})
		_, err := s.Record(t.Context(), history.Write{Observation: observed(at(1, 31, 10), map[string]string{"c1": "1"})})
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
