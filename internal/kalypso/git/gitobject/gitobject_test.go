package gitobject_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

type entry = gitobject.Entry[gitobject.Hash]

// git runs Git in an empty repository and returns what it prints.
func git(t *testing.T, input string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestObjectHashes compares our hashes of blobs and trees with Git's.
func TestObjectHashes(t *testing.T) {
	hasher, untrusted := gitobject.NewHasher(), gitobject.NewUntrustedHasher()
	for _, content := range []string{"", "hello\n", strings.Repeat("x", 100_000)} {
		want := git(t, content, "hash-object", "--stdin")
		if got := hasher.Object(gitobject.Blob, []byte(content)); got.String() != want {
			t.Errorf("%d bytes are %s, want %s", len(content), got, want)
		}
		untrusted.Start(gitobject.Blob, int64(len(content)))
		_, _ = untrusted.Write([]byte(content))
		if got, attack := untrusted.Name(); got.String() != want || attack {
			t.Errorf("untrusted: %d bytes are %s, attack %t, want %s", len(content), got, attack, want)
		}
	}
	// A folder's name is sorted as if it ended in a slash, which comes after "-" and "." and before "0" and letters.
	var lines []string
	var entries []entry
	for i, name := range []string{"a0", "a.b", "a-b", "aa", "a/", "ab/", "ab0", "ab.c", "ab-", "b.c/", "b", "b.d"} {
		e := entry{Mode: gitobject.ModeFile, Name: name, Hash: hasher.Object(gitobject.Blob, []byte{byte(i)})}
		kind := gitobject.Blob
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			e.Mode, e.Name, kind = gitobject.ModeTree, folder, gitobject.Tree
		}
		entries = append(entries, e)
		lines = append(lines, fmt.Sprintf("%06s %s %s\t%s\n", e.Mode, kind, e.Hash, e.Name))
	}
	want := git(t, strings.Join(lines, ""), "mktree", "--missing")
	if got := hasher.Tree(entries).String(); got != want {
		t.Errorf("the tree is %s, want %s", got, want)
	}
	if got := hasher.Tree(nil).String(); got != git(t, "", "mktree") {
		t.Errorf("the empty tree is %s", got)
	}
}

// TestSortTree compares the order of random entries with the order of their paths.
func TestSortTree(t *testing.T) {
	modes := []string{gitobject.ModeFile, gitobject.ModeTree, "040000", gitobject.ModeModule}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		names := map[string]bool{}
		for range 2 + r.IntN(8) {
			name := ""
			for range 1 + r.IntN(4) {
				name += []string{"a", "b", "-", ".", "0", "é"}[r.IntN(6)]
			}
			names[name] = true
		}
		var got []entry
		for name := range names {
			got = append(got, entry{Mode: modes[r.IntN(len(modes))], Name: name})
		}
		want := slices.Clone(got)
		key := func(e entry) string {
			if e.IsTree() {
				return e.Name + "/"
			}
			return e.Name
		}
		slices.SortFunc(want, func(a, b entry) int { return cmp.Compare(key(a), key(b)) })
		gitobject.SortTree(got)
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
}

// TestParseTree: a tree that is read and written again has the same bytes. A tree that is cut off is an error.
func TestParseTree(t *testing.T) {
	entries := []entry{
		{gitobject.ModeFile, "a", gitobject.Hash{1}},
		{"040000", "b", gitobject.Hash{2}},
		{gitobject.ModeTree, "c d", gitobject.Hash{0, ' ', 3}},
	}
	raw := gitobject.AppendTree(nil, entries)
	got, err := gitobject.ParseTree[gitobject.Hash](raw)
	if d := gocmp.Diff(entries, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if again := gitobject.AppendTree(nil, got); !bytes.Equal(again, raw) {
		t.Errorf("%q is written again as %q", raw, again)
	}
	line := len(raw) / 3
	for n := 1; n < line; n++ {
		if _, err := gitobject.ParseTree[gitobject.Hash](raw[:n]); !errors.Is(err, gitobject.ErrBadTree) {
			t.Errorf("%q: %v", raw[:n], err)
		}
	}
}
