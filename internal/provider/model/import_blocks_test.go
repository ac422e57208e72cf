package model

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// TestImportBlocksShell runs the commands of the comments in a shell. Anyone who can write the environment's branch
// chooses the URL of the base in these commands, so the URL must not run other programs.
func TestImportBlocksShell(t *testing.T) {
	const commit = "5523a85f37d12c0c7c10ab6616644db089fcd6f7"
	for _, repo := range []string{
		"https://acme.io/control-plane",
		"https://acme.io/a;touch${IFS}ran;",
		"https://acme.io/a&touch$IFS'ran'&",
		"git@acme.io:a`touch ran`$(touch ran)\x1b",
		"/srv/a b\ntouch ran\n",
	} {
		text := ImportBlocks(&source.ControlPlane{Layers: []source.Location{{Repo: repo, Commit: commit}}})
		if strings.Contains(text, "\ntouch") || strings.Contains(text, "\x1b") {
			t.Errorf("%q: not escaped:\n%s", repo, text)
		}
		folder := t.TempDir()
		// A program in place of git prints its arguments, one a line.
		if err := programs.Write(filepath.Join(folder, "git"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"); err != nil {
			t.Fatal(err)
		}
		var script strings.Builder
		for line := range strings.Lines(text) {
			if command, ok := strings.CutPrefix(line, "#   git "); ok {
				script.WriteString("git " + command)
			}
		}
		sh := exec.Command("/bin/sh", "-c", script.String())
		sh.Dir, sh.Env = folder, []string{"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH")}
		out, err := sh.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", repo, err, out)
		}
		got := strings.Split(strings.TrimSpace(string(out)), "\n")
		repo = strings.NewReplacer("\x1b", `\x1b`, "\n", `\n`).Replace(repo)
		want := []string{"clone", repo, "control-plane", "-C", "control-plane", "checkout", commit}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: arguments of git (-want +got):\n%s", repo, diff)
		}
		if _, err := os.Stat(filepath.Join(folder, "ran")); err == nil {
			t.Errorf("%q: the shell ran a program of the URL", repo)
		}
	}
}
