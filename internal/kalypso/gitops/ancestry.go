package gitops

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Commit is one commit of a history.
type Commit struct {
	Hash    plumbing.Hash
	Parents []plumbing.Hash
	When    time.Time // committer time
}

// Ancestry returns the snapshot's commit and its ancestors, up to depth generations, without their trees. Older
// parents appear only in the Parents of their children.
func (s *Snapshot) Ancestry(depth int) ([]Commit, error) {
	want := gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: depth, Filter: filterAll}
	if err := s.reader.Fetch(want, s.store); err != nil {
		return nil, err
	}
	// Within one conversation that has sent the commit before, a server of Git's own may send more than that.
	var all []Commit
	met := map[plumbing.Hash]bool{s.Commit: true}
	for generation := []plumbing.Hash{s.Commit}; len(generation) > 0 && depth > 0; depth-- {
		var next []plumbing.Hash
		for _, hash := range generation {
			c, read, err := s.commitAt(hash)
			switch {
			case err != nil:
				return nil, err
			case !read && hash == s.Commit:
				return nil, fmt.Errorf("commit %s: %w", s.Commit, errNotSent)
			case !read:
				continue
			}
			all = append(all, Commit{Hash: c.Hash, Parents: c.ParentHashes, When: c.Committer.When})
			for _, p := range c.ParentHashes {
				if !met[p] {
					met[p] = true
					next = append(next, p)
				}
			}
		}
		generation = next
	}
	return all, nil
}

// FoldersAt returns the folders directly below a path for each of the commits, with the hashes of their trees. The
// commits must come from [Snapshot.Ancestry]. FoldersAt fetches the trees of all commits together, level by level,
// without file contents. A commit without a folder at the path is not in the result.
func (s *Snapshot) FoldersAt(at string, commits []plumbing.Hash) (map[plumbing.Hash]map[string]plumbing.Hash, error) {
	names, err := splitPath(path.Clean(at))
	if err != nil {
		return nil, err
	}
	trees := make(map[plumbing.Hash]plumbing.Hash, len(commits)) // by commit
	for _, hash := range commits {
		c, read, err := s.commitAt(hash)
		if err == nil && !read {
			err = fmt.Errorf("commit %s: %w", hash, errNotSent)
		}
		if err != nil {
			return nil, err
		}
		trees[hash] = c.TreeHash
	}
	for _, name := range names {
		if err := s.fetchTrees(trees); err != nil {
			return nil, err
		}
		for commit, tree := range trees {
			delete(trees, commit)
			entries, err := s.tree(tree)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Name == name && e.IsTree() {
					trees[commit] = e.Hash
				}
			}
		}
	}
	if err := s.fetchTrees(trees); err != nil {
		return nil, err
	}
	folders := make(map[plumbing.Hash]map[string]plumbing.Hash, len(trees))
	byTree := map[plumbing.Hash]map[string]plumbing.Hash{}
	for commit, tree := range trees {
		if byTree[tree] == nil {
			if byTree[tree], err = s.foldersIn(tree); err != nil {
				return nil, err
			}
		}
		folders[commit] = byTree[tree]
	}
	return folders, nil
}

func (s *Snapshot) foldersIn(tree plumbing.Hash) (map[string]plumbing.Hash, error) {
	entries, err := s.tree(tree)
	folders := map[string]plumbing.Hash{}
	for _, e := range entries {
		if e.IsTree() {
			folders[e.Name] = e.Hash
		}
	}
	return folders, err
}

// fetchTrees fetches trees of several commits. If the server does not serve trees by hash, it fetches the history
// back to the oldest known commit.
func (s *Snapshot) fetchTrees(trees map[plumbing.Hash]plumbing.Hash) error {
	var wants []plumbing.Hash
	for _, tree := range trees {
		if _, here := s.store[tree]; !here {
			wants = append(wants, tree)
		}
	}
	if len(wants) == 0 {
		return nil
	}
	slices.SortFunc(wants, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	err := s.reader.Fetch(gitremote.FetchRequest{Wants: slices.Compact(wants), Filter: filterAll}, s.store)
	if errors.Is(err, gitremote.ErrObjectNotServed) {
		depth := 0
		for _, o := range s.store {
			if o.Kind == plumbing.CommitObject {
				depth++
			}
		}
		want := gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: depth, Filter: filterBlobs}
		err = s.reader.Fetch(want, s.store)
	}
	return err
}
