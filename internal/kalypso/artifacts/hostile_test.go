package artifacts_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// TestHostileFolders: a folder with 2^60 paths, or with a name that leads out of it, is an error. Nothing is published
// of it.
func TestHostileFolders(t *testing.T) {
	for name, write := range map[string]func(repo string) string{
		"too many files": func(repo string) string { return gitserver.Bomb(t, repo, 60, "f.yaml", "x") },
		`the name "..`: func(repo string) string {
			return gitserver.WriteTree(t, repo,
				gitserver.TreeEntry{Mode: "100644", Name: "../evil.yaml", Hash: gitserver.WriteBlob(t, repo, "evil: true")})
		},
		`the name ".GIT"`: func(repo string) string {
			return gitserver.WriteTree(t, repo,
				gitserver.TreeEntry{Mode: "40000", Name: ".GIT", Hash: gitserver.Bomb(t, repo, 1, "f.yaml", "x")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.deliver(t, twoTypes, "large", "small")
			tree := write(f.at.Repo)
			commit := gitserver.SetTree(t, f.at.Repo, f.at.Branch, "fleet/large/hostile", tree)
			server := registryserver.Start(t)
			_, uploads, err := f.publish(t, publication(t, server.Host), commit)
			if err == nil || uploads > 0 || server.Requests()[http.MethodPut] > 0 {
				t.Fatalf("%d uploads, %v", uploads, err)
			}
			for _, want := range []string{name, "fleet/large/hostile", commit} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not name %s: %v", want, err)
				}
			}
		})
	}
}
