package gitobject_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// names are names of entries, and whether Git refuses them.
var names = map[string]bool{
	"a": false, "a.yaml": false, ".github": false, ".gitignore": false, ".gitmodules": false, "git": false, "...": false,
	"git~2": false, ".git1": false, ".gitx ": false, ". ": false, " .git": false, `dev-disk-by\x2duuid.mount`: false,
	"\xff": false, ".g\xffit": false, ".git\ufffd": false, "a:b": false,
	"con": false, "G\u0131T~1": false, ".g\u0131t": false,
	"": true, ".": true, "..": true, "a/b": true, "/": true, "../evil.yaml": true,
	".git": true, ".GIT": true, ".Git": true, "git~1": true, "GIT~1": true, ".git ": true, ".git.": true, ".git. . ": true,
	".git:": true, ".git::$INDEX_ALLOCATION": true, ".git ::$INDEX_ALLOCATION": true, "git~1:x": true, "git~1 .": true,
	".g\u200cit": true, "\u206f.git\ufeff": true, ".GIT\u202a": true, ".git\xff": true, ".git\uffff": true,
	`a\.git`: true, `.git\config`: true, `a\git~1\b`: true, `\.git. `: true,
}

// links are names of symbolic links, and whether Git refuses them.
var links = map[string]bool{
	"a": false, ".gitignore": false, ".gitmodule": false, "gitmod~5": false, "gi7eba~": false, "gi7eb~x1": false,
	`.gitmodules\a`: false, "gi7ebaa1": false, "gi7eba~01": false,
	".gitmodules": true, ".GITMODULES": true, ".gitmodules .": true, ".gitmodules:x": true, "gitmod~1": true,
	"GITMOD~4 ": true, "gi7eba~1": true, "GI7E~123": true, "~1234567": true, ".gitm\u200dodules": true,
	`a\.gitmodules`: true,
}

// TestNames: a name that Git refuses is an error where trees are parsed. The verdicts are compared with those of Git.
func TestNames(t *testing.T) {
	for mode, names := range map[string]map[string]bool{
		gitobject.ModeFile: names, gitobject.ModeTree: names, gitobject.ModeLink: links,
	} {
		for name, refused := range names {
			if name == ".gitmodules" && mode == gitobject.ModeTree {
				continue // Git accepts the name, but wants a file
			}
			t.Run(fmt.Sprintf("%s %q", mode, name), func(t *testing.T) {
				t.Parallel()
				raw := treeOf(entry{Mode: mode, Name: name})
				entries, err := gitobject.ParseTree[gitobject.Hash](raw)
				if errors.Is(err, gitobject.ErrBadTree) != refused || len(entries) != 1 {
					t.Errorf("%d entries, error %v, refused %t", len(entries), err, refused)
				}
				if by := fsck(t, raw); by != refused {
					t.Errorf("Git refuses it: %t", by)
				}
			})
		}
	}
}

// TestDuplicateNames: a name that occurs twice is an error, also if entries in between are in Git's order.
func TestDuplicateNames(t *testing.T) {
	file, folder := gitobject.ModeFile, gitobject.ModeTree
	for _, tt := range []struct {
		entries []entry
		refused bool
	}{
		{[]entry{{Mode: file, Name: "a"}, {Mode: file, Name: "a.b"}, {Mode: folder, Name: "b"}}, false},
		{[]entry{{Mode: folder, Name: "a-b"}, {Mode: folder, Name: "a"}, {Mode: file, Name: "a0"}}, false},
		{[]entry{{Mode: file, Name: "a"}, {Mode: file, Name: "a"}}, true},
		{[]entry{{Mode: file, Name: "a"}, {Mode: folder, Name: "a"}}, true},
		{[]entry{{Mode: file, Name: "a"}, {Mode: file, Name: "a-b"}, {Mode: file, Name: "a.b"},
			{Mode: folder, Name: "a"}}, true},
	} {
		raw := treeOf(tt.entries...)
		if _, err := gitobject.ParseTree[gitobject.Hash](raw); errors.Is(err, gitobject.ErrBadTree) != tt.refused {
			t.Errorf("%v: %v", tt.entries, err)
		}
		if by := fsck(t, raw); by != tt.refused {
			t.Errorf("%v: Git refuses it: %t", tt.entries, by)
		}
	}
}

// TestLargeTree: a tree with too many entries is an error before all of them are parsed.
func TestLargeTree(t *testing.T) {
	one := gitobject.AppendTree(nil, []entry{{gitobject.ModeFile, "a", gitobject.Hash{1}}})
	raw := bytes.Repeat(one, gitobject.MaxEntries+1)
	if _, err := gitobject.ParseTree[gitobject.Hash](raw); !errors.Is(err, gitobject.ErrTooManyEntries) {
		t.Errorf("got %v", err)
	}
}

// FuzzNames compares verdicts on the names of files, or of links, with those of Git.
func FuzzNames(f *testing.F) {
	for name := range names {
		f.Add(name, false)
	}
	for name := range links {
		f.Add(name, true)
	}
	f.Fuzz(func(t *testing.T, name string, link bool) {
		if strings.Contains(name, "\x00") || len(name) > 1000 {
			t.Skip("a name ends at NUL, and Git refuses long ones")
		}
		mode := gitobject.ModeFile
		if link {
			mode = gitobject.ModeLink
		}
		raw := treeOf(entry{Mode: mode, Name: name})
		_, err := gitobject.ParseTree[gitobject.Hash](raw)
		if by := fsck(t, raw); by != errors.Is(err, gitobject.ErrBadTree) {
			t.Errorf("%q: %v, Git refuses it: %t", name, err, by)
		}
	})
}

// fsck reports whether git fsck --strict refuses a tree. The tree's only entries are the empty blob and the empty tree.
func fsck(t *testing.T, raw []byte) bool {
	t.Helper()
	repo := t.TempDir()
	for _, folder := range []string{"refs", "objects"} {
		must.Succeed(t, os.Mkdir(filepath.Join(repo, folder), 0o700))
	}
	must.Succeed(t, os.WriteFile(filepath.Join(repo, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	writeLoose(t, repo, gitobject.Blob, nil)
	writeLoose(t, repo, gitobject.Tree, nil)
	writeLoose(t, repo, gitobject.Tree, raw)
	cmd := exec.CommandContext(t.Context(), "git", "-C", repo, "fsck", "--strict", "--no-dangling")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil && !bytes.Contains(out, []byte("error in tree")) {
		t.Fatalf("%v: %s", err, out)
	}
	return err != nil
}

// writeLoose writes an object into a repo.
func writeLoose(t *testing.T, repo, kind string, content []byte) {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = fmt.Fprintf(z, "%s %d\x00%s", kind, len(content), content)
	must.Succeed(t, z.Close())
	name := gitobject.NewHasher().Object(kind, content).String()
	folder := filepath.Join(repo, "objects", name[:2])
	must.Succeed(t, os.MkdirAll(folder, 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(folder, name[2:]), b.Bytes(), 0o600))
}

// treeOf returns the bytes of a tree with these entries, each with an object that exists.
func treeOf(entries ...entry) []byte {
	for i, e := range entries {
		kind := gitobject.Blob
		if e.IsTree() {
			kind = gitobject.Tree
		}
		entries[i].Hash = gitobject.NewHasher().Object(kind, nil)
	}
	return gitobject.AppendTree(nil, entries)
}
