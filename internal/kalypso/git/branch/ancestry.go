package branch

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
)

// Commit is one commit of a history.
type Commit struct {
	Hash    plumbing.Hash
	Tree    plumbing.Hash
	Parents []plumbing.Hash
	When    time.Time // committer time
	Author  Author
	Subject string // first line of the message
}

// Ancestry returns the snapshot's commit and its ancestors, up to depth generations, without their trees. Older
// parents appear only in the Parents of their children.
func (s *Snapshot) Ancestry(depth int) ([]Commit, error) {
	all, err := s.AncestryOf(s.Commit, depth)
	if err == nil && len(all) == 0 && depth > 0 {
		err = fmt.Errorf("commit %s: %w", s.Commit, errNotSent)
	}
	return all, err
}

// AncestryOf is [Snapshot.Ancestry] of another commit, which may have left the branch. It returns no commits if the
// server does not serve that one.
func (s *Snapshot) AncestryOf(commit plumbing.Hash, depth int) ([]Commit, error) {
	want := gitremote.FetchRequest{Wants: []plumbing.Hash{commit}, Depth: depth, Filter: filterAll}
	err := s.reader.Fetch(want, s.store)
	if err != nil && (commit == s.Commit || !errors.Is(err, gitremote.ErrObjectNotServed)) {
		return nil, err
	}
	// Within one conversation that has sent the commit before, a server of Git's own may send more than that.
	var all []Commit
	met := map[plumbing.Hash]bool{commit: true}
	for generation := []plumbing.Hash{commit}; len(generation) > 0 && depth > 0; depth-- {
		var next []plumbing.Hash
		for _, hash := range generation {
			c, read, err := s.commitAt(hash)
			switch {
			case err != nil:
				return nil, err
			case !read:
				continue
			}
			all = append(all, Commit{
				Hash: c.Hash, Tree: c.TreeHash, Parents: c.ParentHashes, When: c.Committer.When, Author: authorOf(c),
				Subject: subjectOf(c),
			})
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

// FirstParents returns those of the commits that come after each other along first parents, starting at the head, and
// whether the last one has no parent. The commits come from [Snapshot.Ancestry].
func FirstParents(head plumbing.Hash, commits []Commit) (chain []Commit, whole bool) {
	byHash := make(map[plumbing.Hash]Commit, len(commits))
	for _, c := range commits {
		byHash[c.Hash] = c
	}
	for at := head; ; {
		c, read := byHash[at]
		if !read {
			return chain, false
		}
		chain = append(chain, c)
		if len(c.Parents) == 0 {
			return chain, true
		}
		at = c.Parents[0]
	}
}

// Hashes returns the hashes of commits.
func Hashes(commits []Commit) []plumbing.Hash {
	hashes := make([]plumbing.Hash, len(commits))
	for i, c := range commits {
		hashes[i] = c.Hash
	}
	return hashes
}

// FoldersAt returns the folders directly below a path for each of the commits, with the hashes of their trees. The
// commits must come from [Snapshot.Ancestry]. FoldersAt fetches the trees of all commits together, level by level,
// without file contents. A commit without a folder at the path is not in the result.
func (s *Snapshot) FoldersAt(at string, commits []plumbing.Hash) (map[plumbing.Hash]map[string]plumbing.Hash, error) {
	trees, err := s.treesAt(at, commits)
	if err != nil {
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

// FileAt returns the contents of a file at each of the commits, which must come from [Snapshot.Ancestry]. It fetches
// what they need together. A commit without the file is not in the result.
func (s *Snapshot) FileAt(file string, commits []plumbing.Hash) (map[plumbing.Hash][]byte, error) {
	trees, err := s.treesAt(path.Dir(file), commits)
	if err != nil {
		return nil, err
	}
	blobs := map[plumbing.Hash]plumbing.Hash{} // by commit
	var wants []plumbing.Hash
	for commit, tree := range trees {
		entries, err := s.tree(tree)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Name == path.Base(file) && !e.IsTree() && e.Mode != gitobject.ModeModule {
				blobs[commit] = e.Hash
				wants = append(wants, e.Hash)
			}
		}
	}
	if err := s.fetchOfHistory(wants, "", ""); err != nil {
		return nil, err
	}
	files := make(map[plumbing.Hash][]byte, len(blobs))
	for commit, blob := range blobs {
		content, ok := s.raw(plumbing.BlobObject, blob)
		if !ok {
			return nil, &PathError{Path: file, Err: errNotSent}
		}
		files[commit] = content
	}
	return files, nil
}

// treesAt returns the tree of the folder at a path for each of the commits, fetched with its entries. A commit without
// such a folder is not in the result.
func (s *Snapshot) treesAt(at string, commits []plumbing.Hash) (map[plumbing.Hash]plumbing.Hash, error) {
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
	return trees, s.fetchTrees(trees)
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

// fetchTrees fetches trees of several commits.
func (s *Snapshot) fetchTrees(trees map[plumbing.Hash]plumbing.Hash) error {
	return s.fetchOfHistory(slices.Collect(maps.Values(trees)), filterAll, filterBlobs)
}

// fetchOfHistory fetches the objects that are not in the store. If the server does not serve them by hash, it fetches
// the history back to the oldest known commit, with another filter.
func (s *Snapshot) fetchOfHistory(wants []plumbing.Hash, filter, ofHistory packp.Filter) error {
	wants = slices.DeleteFunc(wants, func(h plumbing.Hash) bool { _, here := s.store[h]; return here })
	if len(wants) == 0 {
		return nil
	}
	slices.SortFunc(wants, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	err := s.reader.Fetch(gitremote.FetchRequest{Wants: slices.Compact(wants), Filter: filter}, s.store)
	if errors.Is(err, gitremote.ErrObjectNotServed) {
		depth := 0
		for _, o := range s.store {
			if o.Kind == plumbing.CommitObject {
				depth++
			}
		}
		want := gitremote.FetchRequest{Wants: []plumbing.Hash{s.Commit}, Depth: depth, Filter: ofHistory}
		err = s.reader.Fetch(want, s.store)
	}
	return err
}
