package hostingtest

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// local is the test's own bare repo, from which branches are pushed to the repo of a world.
type local struct {
	testing.TB
	dir    string
	people *Repo
}

// push pushes one more commit to a branch, and returns it.
func (l local) push(branch string) string {
	l.Helper()
	commit := l.commit(branch)
	l.send(branch)
	return commit
}

// commit adds one more commit to the test's own branch.
func (l local) commit(branch string) string {
	l.Helper()
	name := strings.ReplaceAll(branch, "/", "-") + ".txt"
	return gitserver.Seed(l, l.dir, branch,
		map[string]string{name: "after " + gitserver.Rev(l, l.dir, branch) + "\n"})
}

// branch creates a branch with a commit on top of main, as the test pushed it last.
func (l local) branch(name string) {
	l.Helper()
	l.git("branch", name, "main")
	l.push(name)
}

// send pushes branches at once.
func (l local) send(branches ...string) {
	l.Helper()
	l.git(append([]string{"push", "--quiet", "--force", l.people.Remote}, branches...)...)
}

// pull updates the test's own branch from the host.
func (l local) pull(branch string) {
	l.Helper()
	l.git("fetch", "--quiet", l.people.Remote, "+"+branch+":"+branch)
}

// git runs git in the test's own repo.
func (l local) git(args ...string) string {
	l.Helper()
	return gitserver.Git(l, l.dir, args...)
}

// head returns the commit of a branch on the host, or "".
func (l local) head(branch string) string {
	l.Helper()
	commit, _, _ := strings.Cut(l.git("ls-remote", l.people.Remote, "refs/heads/"+branch), "\t")
	return commit
}
