package observe_test

import (
	"errors"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestHostileFolders: a folder on the GitOps branch with 2^60 paths, or with a name that Git refuses, is an error.
func TestHostileFolders(t *testing.T) {
	t.Parallel()
	for _, want := range []error{gitbranch.ErrTooManyEntries, gitobject.ErrBadTree} {
		repo := gitserver.InitBare(t)
		head := branchWith(t, repo, map[string]string{"web/reconciler.yaml": reconciler("web", "file://"+repo, ".")})
		tree := gitserver.Bomb(t, repo, 60, "f.yaml", "x")
		if errors.Is(want, gitobject.ErrBadTree) {
			tree = gitserver.WriteTree(t, repo, gitserver.TreeEntry{Mode: "40000", Name: "..", Hash: tree})
		}
		gitserver.SetTree(t, repo, "stage", "fleet/large/web/hostile", tree)
		req := request(t, "file://"+repo, report("a", "large", head))
		req.Versions = true
		if _, err := observe.Look(t.Context(), req, time.Now); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
