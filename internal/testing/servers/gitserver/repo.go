// Package gitserver runs real Git servers on loopback for tests: git http-backend behind HTTP(S), and sshd.
package gitserver

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// Env returns the environment for every git process in a test. Git ignores the machine's configuration, never prompts,
// and uses fixed names and dates.
func Env() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	return append(env, hermetic...)
}

var hermetic = []string{
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_COUNT=1",
	"GIT_CONFIG_KEY_0=safe.directory",
	"GIT_CONFIG_VALUE_0=*",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_AUTHOR_NAME=Somebody", "GIT_AUTHOR_EMAIL=somebody@acme.io", "GIT_AUTHOR_DATE=1700000000 +0000",
	"GIT_COMMITTER_NAME=Somebody", "GIT_COMMITTER_EMAIL=somebody@acme.io", "GIT_COMMITTER_DATE=1700000000 +0000",
	"LC_ALL=C",
}

// Git runs git in a folder and returns its output.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return git(t, dir, nil, args...)
}

// TryGit runs git in a folder and returns its output, or "" if it fails.
func TryGit(dir string, args ...string) string {
	out, _ := RunWith(dir, nil, args...)
	return out
}

func git(t testing.TB, dir string, stdin []byte, args ...string) string {
	t.Helper()
	out, err := RunWith(dir, stdin, args...)
	must.Succeed(t, err)
	return out
}

// RunWith runs git in a folder with a standard input, and returns its output. It does not end the test.
func RunWith(dir string, stdin []byte, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, Env(), bytes.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, errOut.String())
	}
	return out.String(), nil
}

// config is the configuration of a repo. It disables garbage collection, since a git process could still run in the
// background when the folder is removed. It disables fsync, since no repo is used after its test.
const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\tfsync = none\n" +
	"[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n[http]\n\treceivepack = true\n"

// InitBare creates an empty bare repository and returns its path. It writes the files itself (see gitrepository-layout)
// and does not run git init, which would take more than ten milliseconds.
func InitBare(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo.git")
	InitBareAt(t, dir)
	return dir
}

// InitBareAt does the same as [InitBare], at a given path.
func InitBareAt(t testing.TB, dir string) {
	t.Helper()
	for _, folder := range []string{"hooks", "objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": config} {
		programs.WriteFile(t, filepath.Join(dir, name), content)
	}
}

// File is a file of a commit, with its mode.
type File struct {
	Mode    string // such as "100755" or "120000"; for "160000", Content is the hash of a commit
	Content string
}

// Seed adds a commit to a branch, which writes the files and does not change other files. It returns the commit.
func Seed(t testing.TB, repo, branch string, files map[string]string) string {
	t.Helper()
	with := map[string]File{}
	for p, c := range files {
		with[p] = File{Mode: "100644", Content: c}
	}
	return SeedFiles(t, repo, branch, "Seed", with)
}

// SeedFiles adds a commit as [Seed] does, with modes and a message. An empty mode removes the path.
func SeedFiles(t testing.TB, repo, branch, message string, files map[string]File) string {
	t.Helper()
	var b bytes.Buffer
	ref := "refs/heads/" + branch
	fmt.Fprintf(&b, "commit %s\nauthor Somebody <somebody@acme.io> 1700000000 +0000\n", ref)
	fmt.Fprintf(&b, "committer Somebody <somebody@acme.io> 1700000000 +0000\ndata %d\n%s\n", len(message)+1, message+"\n")
	if head := Rev(t, repo, branch); head != "" {
		fmt.Fprintf(&b, "from %s\n", head)
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		switch f := files[p]; f.Mode {
		case "":
			fmt.Fprintf(&b, "D %s\n", p)
		case "160000":
			fmt.Fprintf(&b, "M 160000 %s %s\n", f.Content, p)
		default:
			fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", f.Mode, p, len(f.Content), f.Content)
		}
	}
	FastImport(t, repo, b.String())
	return Rev(t, repo, branch)
}

// FastImport runs git fast-import with a script.
func FastImport(t testing.TB, repo, script string) {
	t.Helper()
	git(t, repo, []byte(script), "fast-import", "--quiet", "--date-format=raw")
}

// Rev returns the commit of a branch, or "".
func Rev(t testing.TB, repo, branch string) string {
	t.Helper()
	return Branch(repo, branch)
}

// Tree returns the content of all files of a revision, by path. It starts git to resolve the revision only if it is
// neither a branch nor a full hash.
func Tree(t testing.TB, repo, rev string) map[string]string {
	t.Helper()
	name := cmp.Or(Branch(repo, rev), rev)
	if !plumbing.IsHash(name) {
		name = strings.TrimSpace(Git(t, repo, "rev-parse", "--verify", "--end-of-options", rev))
	}
	store, hash, files := storageOf(repo), plumbing.NewHash(name), map[string]string{}
	if c, err := object.GetCommit(store, hash); err == nil {
		hash = c.TreeHash
	}
	tree, err := object.GetTree(store, hash)
	if err == nil {
		err = tree.Files().ForEach(func(f *object.File) (err error) {
			files[f.Name], err = f.Contents()
			return err
		})
	}
	if err != nil {
		t.Fatalf("the files of %s in %s: %v", rev, repo, err)
	}
	return files
}

// Modes returns the mode and the hash of all entries of a revision, by path, as "mode hash".
func Modes(t testing.TB, repo, rev string) map[string]string {
	t.Helper()
	modes := map[string]string{}
	listed := Git(t, repo, "ls-tree", "-r", "-z", "--format=%(objectmode) %(objectname)%x09%(path)", rev)
	for entry := range strings.SplitSeq(listed, "\x00") {
		if mode, path, found := strings.Cut(entry, "\t"); found {
			modes[path] = mode
		}
	}
	return modes
}

// MkTree writes a tree with these entries, in the format of git ls-tree, and returns its hash.
func MkTree(t testing.TB, repo, entries string) string {
	t.Helper()
	return strings.TrimSpace(git(t, repo, []byte(entries), "mktree"))
}

// Log returns the subjects of a branch's commits, newest first.
func Log(t testing.TB, repo, branch string) []string {
	t.Helper()
	if Rev(t, repo, branch) == "" {
		return nil
	}
	return strings.Split(strings.TrimSpace(Git(t, repo, "log", "--format=%s", "refs/heads/"+branch)), "\n")
}

// Hook installs a hook that prints a text to its standard error and exits with a code.
func Hook(t testing.TB, repo, name, text string, code int) {
	t.Helper()
	writeHook(t, repo, name, fmt.Sprintf("cat >/dev/null\ncat >&2 <<'END'\n%s\nEND\nexit %d\n", text, code))
}

// Protect makes a repo reject pushes to branches with a message. In the message, $1 stands for the branch.
func Protect(t testing.TB, repo, text string, branches ...string) {
	t.Helper()
	writeHook(t, repo, "update", fmt.Sprintf("case \"$1\" in\nrefs/heads/%s) ;;\n*) exit 0 ;;\nesac\n"+
		"cat >&2 <<END\n%s\nEND\nexit 1\n", strings.Join(branches, "|refs/heads/"), text))
}

func writeHook(t testing.TB, repo, name, script string) {
	t.Helper()
	must.Succeed(t, programs.Write(filepath.Join(repo, "hooks", name), "#!/bin/sh\n"+script))
}

// Fsck fails the test if git fsck --strict finds a problem.
func Fsck(t testing.TB, repo string) {
	t.Helper()
	Git(t, repo, "fsck", "--strict", "--full", "--no-dangling")
}
