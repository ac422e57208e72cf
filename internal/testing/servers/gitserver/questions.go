package gitserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// The fakes of Git hosts need facts about their repos in each request. To start git takes longer than to read a fact,
// so these functions read the repo themselves where they can.

// Run runs git in a repo for a request of a fake, and returns the output without white space around it. Unlike [Git],
// it returns an error and does not end the test.
func Run(repo string, args ...string) (string, error) {
	out, err := RunWith(repo, nil, args...)
	return strings.TrimSpace(out), err
}

// Branch returns the commit of a branch of a repo, or "".
func Branch(repo, branch string) string { return reference(repo, "refs/heads/"+branch) }

// reference returns the hash of a reference of a repo, or "".
func reference(repo, name string) string {
	ref, err := storageOf(repo).Reference(plumbing.ReferenceName(name))
	if err != nil {
		return ""
	}
	return ref.Hash().String()
}

// SetReference sets a reference of a repo as Git does, so that a process that reads it at the same time finds the old
// or the new hash. The storage of go-git writes into the file itself, and git may read it while it is still empty and
// fail ("bad object").
func SetReference(repo, name, hash string) error {
	file := filepath.Join(repo, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(file+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = lock.WriteString(hash + "\n")
	return errors.Join(err, lock.Close(), os.Rename(lock.Name(), file))
}

// HasObject reports whether a repo has an object with this full hash.
func HasObject(repo, hash string) bool {
	return plumbing.IsHash(hash) && storageOf(repo).HasEncodedObject(plumbing.NewHash(hash)) == nil
}

// Contains reports whether the commit ancestor is an ancestor of descendant, or equal to it.
func Contains(store storer.EncodedObjectStorer, descendant, ancestor string) bool {
	if descendant == ancestor {
		return true
	}
	from, err := object.GetCommit(store, plumbing.NewHash(ancestor))
	if err != nil {
		return false
	}
	to, err := object.GetCommit(store, plumbing.NewHash(descendant))
	if err != nil {
		return false
	}
	contains, err := from.IsAncestor(to)
	return err == nil && contains
}

// OnBranch reports whether a branch of the repo contains a commit.
func OnBranch(store *filesystem.Storage, commit string) bool {
	heads, err := References(store, "refs/heads/")
	if err != nil {
		return false
	}
	for _, head := range heads {
		if Contains(store, head.String(), commit) {
			return true
		}
	}
	return false
}

// merges caches the results of [MergedTree], by repo and commits. A result never changes.
var merges sync.Map

type merge struct{ repo, first, second string }

// MergedTree returns the tree of a merge of two commits, or "" if they conflict.
func MergedTree(repo, ours, theirs string) string {
	key := merge{repo, ours, theirs}
	if tree, known := merges.Load(key); known {
		return tree.(string) //nolint:forcetypeassert // stored below
	}
	tree := TryGit(repo, "merge-tree", "--write-tree", ours, theirs)
	tree, _, _ = strings.Cut(tree, "\n")
	if HasObject(repo, ours) && HasObject(repo, theirs) { // a missing commit may be pushed later
		merges.Store(key, tree)
	}
	return tree
}
