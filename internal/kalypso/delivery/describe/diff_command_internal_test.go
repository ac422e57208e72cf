package describe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// TestDiffCommand runs the command that a description shows in a shell. The names of the branch, the path and the
// folder are arguments of git, and a name with shell syntax runs no other program.
func TestDiffCommand(t *testing.T) {
	const base = "5523a85f37d12c0c7c10ab6616644db089fcd6f7"
	for _, test := range []struct {
		by                         destination.Strategy
		branch, path, folder, head string
	}{
		{destination.Push, "dev", ".", "large/a", "dev"},
		{destination.PullRequest, "dev", "fleet", "large/a", "HEAD"},
		{destination.Push, "a;touch${IFS}ran", "b&touch$IFS'ran'", "large/`touch ran`", "a;touch${IFS}ran"},
	} {
		at := destination.Destination{Repo: "https://git.example.com/gitops", Branch: test.branch, Path: test.path}
		s := &delivery.State{}
		s.Destination, s.Base = at, base
		a := &delivery.Arguments{Strategy: test.by, Destination: at}
		command := diffCommand(&delivery.NextTree{Args: a}, s)(test.folder)
		folder := t.TempDir()
		// A script instead of git prints each of its arguments on a line.
		if err := programs.Write(filepath.Join(folder, "git"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"); err != nil {
			t.Fatal(err)
		}
		sh := exec.Command("/bin/sh", "-c", command)
		sh.Dir, sh.Env = folder, []string{"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH")}
		out, err := sh.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		want := []string{"diff", base[:12], test.head, "--", at.Join(test.folder)}
		if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(out)), "\n")); diff != "" {
			t.Errorf("%s: arguments of git (-want +got):\n%s", command, diff)
		}
		if _, err := os.Stat(filepath.Join(folder, "ran")); err == nil {
			t.Errorf("%s runs another program", command)
		}
	}
}
