package remote_test

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestHostileTrees: trees with 2^60 paths, and names that Git refuses, stop no apply. In our folders, they are drift
// that the next apply overwrites. Elsewhere they stay as they are.
func TestHostileTrees(t *testing.T) {
	for name, write := range map[string]func(repo string) string{
		"bomb": func(repo string) string { return gitserver.Bomb(t, repo, 60, "f.yaml", "x") },
		"bomb of records": func(repo string) string {
			return gitserver.Bomb(t, repo, 60, path.Base(record.File), "x")
		},
		"name outside": func(repo string) string {
			return gitserver.WriteTree(t, repo,
				gitserver.TreeEntry{Mode: "40000", Name: "..", Hash: gitserver.Bomb(t, repo, 1, "f.yaml", "x")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			start, b := time.Now(), newBranch(t)
			tree := write(b.repo)
			foreign := gitserver.SetTree(t, b.repo, "dev", "foreign", tree)
			s := b.deliver(b.request("1", usual, nil), 1)
			gitserver.SetTree(t, b.repo, "dev", "large/a-x", tree)
			s = b.observe(s)
			o := b.request("1", usual, s)
			if !o.overwrites() {
				t.Error("the changed folder is no drift")
			}
			b.deliver(o, 1)
			for at, want := range map[string]string{"foreign": tree, "large/a-x": ""} {
				got := strings.TrimSpace(gitserver.Git(t, b.repo, "rev-parse", "dev:"+at))
				if (got == tree) != (want == tree) {
					t.Errorf("%s is %s", at, got)
				}
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %s after %s", took, foreign)
			}
		})
	}
}
