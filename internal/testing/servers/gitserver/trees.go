package gitserver

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
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
	return writeObject(t, repo, "tree", raw)
}

// WriteBlob writes a file and returns its hash.
func WriteBlob(t testing.TB, repo, content string) string {
	t.Helper()
	return writeObject(t, repo, "blob", []byte(content))
}

// writeObject writes a loose object to a bare repo, and returns its hash. A process of Git for each took most of the
// time of the tests with many trees.
func writeObject(t testing.TB, repo, kind string, content []byte) string {
	t.Helper()
	object := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	hash := fmt.Sprintf("%x", sha1.Sum(object))
	file := filepath.Join(repo, "objects", hash[:2], hash[2:])
	if _, err := os.Stat(file); err == nil {
		return hash
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(object)
	must.Succeed(t, err)
	must.Succeed(t, w.Close())
	must.Succeed(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Succeed(t, os.WriteFile(file, packed.Bytes(), 0o444))
	return hash
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
