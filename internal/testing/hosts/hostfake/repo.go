package hostfake

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Repo is a bare repo of a fake.
type Repo struct {
	Dir string
	git *gitserver.Server
}

// AddRepo creates an empty repo with a path, such as acme/gitops.git.
func (s *Server) AddRepo(t testing.TB, path string) Repo {
	t.Helper()
	dir := filepath.Join(s.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		t.Fatal(err)
	}
	gitserver.InitBareAt(t, dir)
	return Repo{dir, s.Git}
}

// Run runs git.
func (r Repo) Run(args ...string) (string, error) { return gitserver.Run(r.Dir, args...) }

// Ask runs git to answer a question. If git fails, which means no, it returns "".
func (r Repo) Ask(args ...string) string {
	out, err := r.Run(args...)
	if err != nil {
		return ""
	}
	return out
}

// Head returns the commit of a branch, or "".
func (r Repo) Head(branch string) string { return gitserver.Branch(r.Dir, branch) }

// Commit returns the full hash of a commit, or "".
func (r Repo) Commit(hash string) string {
	if plumbing.IsHash(hash) {
		if _, err := gitobject.GetCommit(r.git.Storage(r.Dir), plumbing.NewHash(hash)); err == nil {
			return hash
		}
	}
	return r.Ask("rev-parse", "--verify", "--quiet", "--end-of-options", hash+"^{commit}")
}

// Contains reports whether a commit is an ancestor of another one, or equal to it.
func (r Repo) Contains(descendant, ancestor string) bool {
	return gitserver.Contains(r.git.Storage(r.Dir), descendant, ancestor)
}

// IsOnBranch reports whether a commit is on a branch.
func (r Repo) IsOnBranch(commit string) bool { return gitserver.OnBranch(r.git.Storage(r.Dir), commit) }

// ErrConflict means that Git cannot merge.
var ErrConflict = errors.New("the branches conflict")

// Merge commits the merged tree of two commits with these parents.
func (r Repo) Merge(message, ours, theirs string, parents ...string) (string, error) {
	tree := gitserver.MergedTree(r.Dir, ours, theirs)
	if tree == "" {
		return "", ErrConflict
	}
	args := []string{"commit-tree", tree, "-m", message}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return r.Run(args...)
}

// MergeBy merges a head into a base by a method: merge, squash or rebase. The message is not used by rebase, whose
// options are those of git rebase.
func (r Repo) MergeBy(method, base, head, message string, options ...string) (string, error) {
	switch method {
	case "squash":
		return r.Merge(message, base, head, base)
	case "rebase":
		return r.rebase(base, head, options...)
	}
	return r.Merge(message, base, head, base, head)
}

// rebase rebases the commits of a head onto a base.
func (r Repo) rebase(base, head string, options ...string) (string, error) {
	folder, err := os.MkdirTemp("", "hostfake-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	tree := filepath.Join(folder, "tree")
	if _, err := r.Run("worktree", "add", "--quiet", "--detach", tree, head); err != nil {
		return "", err
	}
	defer r.Ask("worktree", "remove", "--force", tree)
	if _, err := gitserver.Run(tree, append(append([]string{"rebase", "--quiet"}, options...), base)...); err != nil {
		return "", ErrConflict
	}
	return gitserver.Run(tree, "rev-parse", "HEAD")
}

// MoveBranch moves a branch from one commit to another.
func (r Repo) MoveBranch(branch, to, from string) error {
	_, err := r.Run("update-ref", "refs/heads/"+branch, to, from)
	return err
}
