package gitbranch

import (
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// TreeCache contains a commit and its trees from the root down to a path, in Git's format. If it is kept between runs,
// a branch that has not moved is read without fetching them again. The zero value is an empty cache; a cache of another
// commit is ignored.
type TreeCache struct {
	Commit []byte   `json:"commit,omitempty"`
	Trees  [][]byte `json:"trees,omitempty"`
}

// objects returns the cached objects, or none if the cache belongs to another commit.
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

// TreeCache returns the fetched trees from the root down to a path. It fetches nothing.
func (s *Snapshot) TreeCache(path string) TreeCache {
	content, ok := s.objects.raw(plumbing.CommitObject, s.Commit)
	names, err := splitPath(path)
	if !ok || err != nil {
		return TreeCache{}
	}
	c := TreeCache{Commit: content}
	for at := s.Root; ; names = names[1:] {
		raw, here := s.objects.raw(plumbing.TreeObject, at)
		if !here {
			return c
		}
		c.Trees = append(c.Trees, raw)
		if len(names) == 0 {
			return c
		}
		e, ok, err := s.objects.findBelow(at, names[:1])
		if err != nil || !ok || !e.IsTree() {
			return c
		}
		at = e.Hash
	}
}
