package comparisonlookup_test

import (
	"errors"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison/comparisonlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestHostileFolders: a folder with 2^60 paths, or with a name that Git refuses, is an error of its side.
func TestHostileFolders(t *testing.T) {
	f := newFleet(t, gitserver.WithFilter())
	for _, environment := range []string{"stage", "bomb", "names"} {
		gitserver.Seed(t, f.repo, environment, files(environment, ""))
	}
	gitserver.SetTree(t, f.repo, "bomb", "small/app", gitserver.Bomb(t, f.repo, 60, "f.yaml", "x"))
	gitserver.SetTree(t, f.repo, "names", "small/app", gitserver.WriteTree(t, f.repo,
		gitserver.TreeEntry{Mode: "100644", Name: "..", Hash: gitserver.WriteBlob(t, f.repo, "x")}))
	for branch, want := range map[string]error{
		"bomb": gitbranch.ErrTooManyEntries, "names": gitobject.ErrBadTree,
	} {
		_, _, err := comparisonlookup.Read(t.Context(), f.request("stage", branch, ""))
		side, ok := errors.AsType[*comparisonlookup.SideError](err)
		if !ok || !side.Right || !errors.Is(err, want) {
			t.Errorf("%s: %v", branch, err)
		}
	}
}
