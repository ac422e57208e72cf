package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestUnpack reads packs that git made without deltas and with both kinds of deltas, and finds each object by its hash.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("", "init", "--quiet", "--bare")
	var names []string
	var body strings.Builder
	for i := range 60 {
		fmt.Fprintf(&body, "line %d of a file that grows\n", i)
		names = append(names, strings.TrimSpace(run(body.String(), "hash-object", "-w", "--stdin")))
	}
	for _, args := range [][]string{
		{"pack-objects", "--stdout", "--window=50"},
		{"pack-objects", "--stdout", "--window=50", "--delta-base-offset"},
		{"pack-objects", "--stdout", "--window=0"},
	} {
		pack := run(strings.Join(names, "\n")+"\n", args...)
		got := Objects{}
		if err := unpack(strings.NewReader(pack), 1<<20, 0, got); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		for i, name := range names {
			if o := got[plumbing.NewHash(name)]; o.Kind != plumbing.BlobObject ||
				!strings.HasSuffix(string(o.Content), fmt.Sprintf("line %d of a file that grows\n", i)) {
				t.Fatalf("%v: object %d is missing", args, i)
			}
		}
		if len(got) != len(names) {
			t.Errorf("%v: got %d objects, want %d", args, len(got), len(names))
		}
		if err := unpack(strings.NewReader(pack), 10<<10, 0, Objects{}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("bound of the pack: got %v", err)
		}
		got = Objects{}
		if err := unpack(strings.NewReader(pack), 20<<10, 1000, got); err != nil {
			t.Fatalf("%v: with a bound for each file: %v", args, err)
		}
		for i, name := range names {
			o, there := got[plumbing.NewHash(name)]
			size := int64(len("line 0 of a file that grows\n")*10 + len("line 10 of a file that grows\n")*(i-9))
			switch {
			case i < 10: // not kept if it is a delta on a large object
				if (there || args[2] == "--window=0") && (len(o.Content) == 0 || o.Size > 0) {
					t.Errorf("%v: the small object %d is not kept", args, i)
				}
			case size > 1000 && (len(o.Content) > 0 || there && o.Size != size):
				t.Errorf("%v: object %d has %d bytes, of which %d are kept, and its recorded size is %d", args, i, size,
					len(o.Content), o.Size)
			}
		}
		for at := 0; at < len(pack); at += 1 + len(pack)/200 {
			broken := []byte(pack)
			broken[at] ^= 0x10
			if unpack(bytes.NewReader(broken), 1<<20, 0, Objects{}) == nil {
				t.Fatalf("%v: byte %d changed without an error", args, at)
			}
			if unpack(strings.NewReader(pack[:at]), 1<<20, 0, Objects{}) == nil {
				t.Fatalf("%v: cut at %d without an error", args, at)
			}
		}
	}
}
