package versions_test

import (
	"errors"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestHostileFolders: folders of a team with 2^60 paths, or with a name that Git refuses, are errors of their places
// alone.
func TestHostileFolders(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"web/deploy.yaml": deploymentYAML("1")})
	gitserver.SetTree(t, repo, "main", "bomb", gitserver.Bomb(t, repo, 60, "f", "x"))
	gitserver.SetTree(t, repo, "main", "manifests", gitserver.Bomb(t, repo, 60, "f.yaml", "x"))
	commit := gitserver.SetTree(t, repo, "main", "names", gitserver.WriteTree(t, repo,
		gitserver.TreeEntry{Mode: "100644", Name: "..", Hash: gitserver.WriteBlob(t, repo, "x")}))
	_, url := gitserver.Serve(t, repo, gitserver.WithFilter())
	want := map[string]error{
		"web": nil, "bomb": gitbranch.ErrTooManyEntries, "manifests": versions.ErrFiles, "names": gitobject.ErrBadTree,
	}
	var places []versions.At
	for path := range want {
		places = append(places, at(url, path, commit))
	}
	read := versions.Read(t.Context(), newClient(t), places, false)
	for path, want := range want {
		if got := read[at(url, path, commit)].Err; !errors.Is(got, want) {
			t.Errorf("%s: %v", path, got)
		}
	}
}
