package gitops

import (
	"maps"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Way is a commit and trees of it, those on the way from its root to a path, as
// Git keeps them. Who holds that of a branch from one run to the next reads a branch
// that has not moved without fetching them again. The zero value is of no use
// and no harm, and so is one of another commit.
type TreeCache struct {
	Commit []byte   `json:"commit,omitempty"`
	Trees  [][]byte `json:"trees,omitempty"`
}

// objects are those of the way to a commit; none where it is of another one.
func (c TreeCache) objects(commit plumbing.Hash) gitremote.Objects {
	objects, hasher := gitremote.Objects{}, gitobject.NewHasher()
	if plumbing.Hash(hasher.Object(gitobject.Commit, c.Commit)) != commit {
		return objects
	}
	objects[commit] = gitremote.Object{Kind: plumbing.CommitObject, Content: c.Commit}
	for _, raw := range c.Trees {
		objects[plumbing.Hash(hasher.Object(gitobject.Tree, raw))] = gitremote.Object{Kind: plumbing.TreeObject, Content: raw}
	}
	return objects
}

// Way is the way to a path, as far as it is there. Nothing is fetched.
func (s *Snapshot) TreeCache(path string) TreeCache {
	content, ok := s.raw(plumbing.CommitObject, s.Commit)
	names, err := splitPath(path)
	if !ok || err != nil {
		return TreeCache{}
	}
	c := TreeCache{Commit: content}
	for at, here := s.Root, true; here; {
		var raw []byte
		if raw, here = s.raw(plumbing.TreeObject, at); !here {
			break
		}
		c.Trees = append(c.Trees, raw)
		if len(names) == 0 {
			break
		}
		here = false
		entries, err := s.tree(at)
		if err != nil {
			break
		}
		for _, e := range entries {
			if e.Name == names[0] {
				at, here = e.Hash, e.IsTree()
			}
		}
		names = names[1:]
	}
	return c
}

// after is the branch with a commit on top of the snapshot. What was read before,
// and what was written above the folders, is there.
func (s *Snapshot) after(commit, root plumbing.Hash, text []byte) *Snapshot {
	objects := maps.Clone(s.store)
	maps.Copy(objects, s.written)
	objects[commit] = gitremote.Object{Kind: plumbing.CommitObject, Content: text}
	next := newSnapshot(commit, s.reader, objects)
	next.Root = root
	return next
}
