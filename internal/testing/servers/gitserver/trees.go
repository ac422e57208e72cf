package gitserver

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// TreeEntry is an entry of a tree, also one that Git refuses.
type TreeEntry struct{ Mode, Name, Hash string }

// WriteTree writes a tree with these entries as they are, and returns its hash.
func WriteTree(t testing.TB, repo string, entries ...TreeEntry) string {
	t.Helper()
	var raw []byte
	for _, e := range entries {
		hash, err := hex.DecodeString(e.Hash)
		must.Succeed(t, err)
		raw = append(fmt.Appendf(raw, "%s %s\x00", e.Mode, e.Name), hash...)
	}
	return strings.TrimSpace(git(t, repo, raw, "hash-object", "-t", "tree", "--literally", "-w", "--stdin"))
}

// WriteBlob writes a file and returns its hash.
func WriteBlob(t testing.TB, repo, content string) string {
	t.Helper()
	return strings.TrimSpace(git(t, repo, []byte(content), "hash-object", "-w", "--stdin"))
}

// Bomb writes trees, each of which lists the next one twice, and returns the hash of the first. The last one has a
// file, which has 2^levels paths. Each tree has about 60 bytes.
func Bomb(t testing.TB, repo string, levels int, file, content string) string {
	t.Helper()
	tree := WriteTree(t, repo, TreeEntry{"100644", file, WriteBlob(t, repo, content)})
	for range levels {
		tree = WriteTree(t, repo, TreeEntry{"40000", "a", tree}, TreeEntry{"40000", "b", tree})
	}
	return tree
}

// SetTree adds a commit to a branch, which puts a tree at a path. It returns the commit.
func SetTree(t testing.TB, repo, branch, path, tree string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter Somebody <somebody@acme.io> 1700000000 +0000\ndata 4\nTree\n", branch)
	if head := Rev(t, repo, branch); head != "" {
		fmt.Fprintf(&b, "from %s\n", head)
	}
	fmt.Fprintf(&b, "M 040000 %s %q\n", tree, path)
	FastImport(t, repo, b.String())
	return Rev(t, repo, branch)
}
