package gitbranch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// objects are the commits, trees and files of a repository, fetched on demand and then kept.
type objects struct {
	tip    plumbing.Hash // the commit to fetch if the server serves no object by hash
	reader *gitremote.Reader
	store  gitremote.Objects
	trees  map[plumbing.Hash]parsedTree // of store
}

// parsedTree contains the entries of a tree, and the reason why their names are invalid.
type parsedTree struct {
	entries []entry
	invalid error
}

// newObjects returns the objects of a commit and its history. It finds fetched objects in store, and adds to it.
func newObjects(tip plumbing.Hash, reader *gitremote.Reader, store gitremote.Objects) *objects {
	return &objects{tip: tip, reader: reader, store: store, trees: map[plumbing.Hash]parsedTree{}}
}

// errNotSent means that the server's answer lacks a requested object.
var errNotSent = errors.New("the server did not send this object")

// fetch fetches the objects that are not in the store. If the server does not serve them by hash, it fetches as many
// of the last commits as are known, with all their trees, and with the files unless a filter leaves them out.
func (o *objects) fetch(wants []plumbing.Hash, filter packp.Filter) error {
	err := o.fetchByHash(wants, filter)
	if !errors.Is(err, gitremote.ErrObjectNotServed) {
		return err
	}
	if filter != "" {
		filter = filterBlobs
	}
	commits := 0
	for _, known := range o.store {
		if known.Kind == plumbing.CommitObject {
			commits++
		}
	}
	return o.fetchCommits(o.tip, max(commits, 1), filter)
}

// fetchByHash fetches the objects that are not in the store, each once.
func (o *objects) fetchByHash(wants []plumbing.Hash, filter packp.Filter) error {
	met := map[plumbing.Hash]bool{plumbing.ZeroHash: true}
	wants = slices.DeleteFunc(wants, func(h plumbing.Hash) bool {
		_, here := o.store[h]
		twice := met[h]
		met[h] = true
		return here || twice
	})
	if len(wants) == 0 {
		return nil
	}
	return o.reader.Fetch(gitremote.FetchRequest{Wants: wants, Filter: filter}, o.store)
}

// fetchCommits fetches a commit and its ancestors, up to depth generations. The filter leaves objects out.
func (o *objects) fetchCommits(commit plumbing.Hash, depth int, filter packp.Filter) error {
	want := gitremote.FetchRequest{Wants: []plumbing.Hash{commit}, Depth: depth, Filter: filter}
	return o.reader.Fetch(want, o.store)
}

// fetchSubtrees fetches all trees below the given trees.
func (o *objects) fetchSubtrees(trees []plumbing.Hash) error {
	missing, err := o.missingSubtrees(trees...)
	if err != nil {
		return err
	}
	return o.fetch(missing, filterBlobs)
}

// missingSubtrees returns the topmost trees below the given trees that are not in the store. It visits each tree once,
// and without recursion: a repo can list one tree at many paths, and nest trees deeper than the stack. It leaves out
// what is below a corrupt tree, since the walk that comes to this tree names its folder.
func (o *objects) missingSubtrees(trees ...plumbing.Hash) (missing []plumbing.Hash, err error) {
	met := map[plumbing.Hash]bool{}
	for rest := slices.Clone(trees); len(rest) > 0; {
		tree := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if tree.IsZero() || met[tree] {
			continue
		}
		met[tree] = true
		if err := o.reader.Context().Err(); err != nil {
			return nil, err
		}
		if _, here := o.store[tree]; !here {
			missing = append(missing, tree)
			continue
		}
		entries, err := o.tree(tree)
		if err != nil && !isFolderFault(err) {
			return nil, err
		}
		for _, e := range entries {
			if e.IsTree() && !met[e.Hash] {
				rest = append(rest, e.Hash)
			}
		}
	}
	return missing, nil
}

// raw returns the content of an object in the store.
func (o *objects) raw(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, bool) {
	found, ok := o.store[h]
	return found.Content, ok && found.Kind == kind
}

// commit decodes a commit in the store.
func (o *objects) commit(h plumbing.Hash) (Commit, bool, error) {
	raw, ok := o.raw(plumbing.CommitObject, h)
	if !ok {
		return Commit{}, false, nil
	}
	encoded := &plumbing.MemoryObject{}
	encoded.SetType(plumbing.CommitObject)
	_, _ = encoded.Write(raw)
	c := &object.Commit{}
	if err := c.Decode(encoded); err != nil {
		return Commit{}, true, fmt.Errorf("commit %s: %w", h, err)
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return Commit{
		Hash: h, Tree: c.TreeHash, Parents: c.ParentHashes, When: c.Committer.When,
		Author:  Author{Name: c.Author.Name, Email: c.Author.Email, When: c.Author.When},
		Subject: strings.TrimSpace(subject), Message: c.Message,
	}, true, nil
}

// rootOf returns the root tree of a commit in the store.
func (o *objects) rootOf(h plumbing.Hash) (plumbing.Hash, error) {
	c, ok, err := o.commit(h)
	switch {
	case err != nil:
		return plumbing.ZeroHash, err
	case !ok:
		return plumbing.ZeroHash, fmt.Errorf("commit %s: %w", h, errNotSent)
	}
	return c.Tree, nil
}

// tree returns the entries of a tree, and fetches it if needed. It does not check names: a tree that is only searched
// for a path, or written back with a change, may have invalid ones beside it. See validTree.
func (o *objects) tree(h plumbing.Hash) ([]entry, error) {
	parsed, err := o.parse(h)
	return parsed.entries, err
}

// validTree returns the entries of a tree as tree does. It returns [gitobject.ErrBadTree] if Git refuses a name.
func (o *objects) validTree(h plumbing.Hash) ([]entry, error) {
	parsed, err := o.parse(h)
	return parsed.entries, cmp.Or(err, parsed.invalid)
}

func (o *objects) parse(h plumbing.Hash) (parsedTree, error) {
	if parsed, ok := o.trees[h]; ok {
		return parsed, nil
	}
	if _, here := o.store[h]; !here {
		if err := o.fetch([]plumbing.Hash{h}, filterAll); err != nil {
			return parsedTree{}, err
		}
	}
	raw, ok := o.raw(plumbing.TreeObject, h)
	if !ok {
		return parsedTree{}, fmt.Errorf("%w: %s is missing", gitobject.ErrBadTree, h)
	}
	entries, err := gitobject.ParseTree[plumbing.Hash](raw)
	if err != nil && entries == nil {
		return parsedTree{}, err
	}
	o.trees[h] = parsedTree{entries, err}
	return o.trees[h], nil
}

// children returns the entries of a tree by name, or none if its hash is zero.
func (o *objects) children(tree plumbing.Hash) (map[string]entry, error) {
	children := map[string]entry{}
	if tree.IsZero() {
		return children, nil
	}
	entries, err := o.tree(tree)
	for _, e := range entries {
		children[e.Name] = e
	}
	return children, err
}

// find looks up a path below a root tree, which is zero if there is none. The root itself is a tree without a name.
func (o *objects) find(root plumbing.Hash, path string) (found entry, ok bool, err error) {
	names, invalid := splitPath(path)
	if invalid != nil || root.IsZero() {
		return entry{}, false, nil //nolint:nilerr // Git has no such path
	}
	return o.findBelow(root, names)
}

// findBelow looks up a path from a tree.
func (o *objects) findBelow(tree plumbing.Hash, names []string) (found entry, ok bool, err error) {
	at := entry{Mode: gitobject.ModeTree, Hash: tree}
	for _, name := range names {
		if !at.IsTree() {
			return entry{}, false, nil
		}
		entries, err := o.tree(at.Hash)
		if err != nil {
			return entry{}, false, err
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.Name == name })
		if i < 0 {
			return entry{}, false, nil
		}
		at = entries[i]
	}
	return at, true, nil
}

// readFiles fetches the contents of entries together. It leaves out entries that are no files.
func readFiles[K comparable](o *objects, entries map[K]entry) (map[K][]byte, error) {
	blobs := map[K]plumbing.Hash{}
	for key, e := range entries {
		if !e.Hash.IsZero() && !e.IsTree() && e.Mode != gitobject.ModeModule {
			blobs[key] = e.Hash
		}
	}
	if err := o.fetch(slices.Collect(maps.Values(blobs)), ""); err != nil {
		return nil, err
	}
	files := make(map[K][]byte, len(blobs))
	for key, blob := range blobs {
		content, ok := o.raw(plumbing.BlobObject, blob)
		if !ok {
			return nil, &PathError{Path: entries[key].Name, Err: errNotSent}
		}
		files[key] = content
	}
	return files, nil
}

// folders returns the folders among the entries of a tree, by name, with the hashes of their trees. It leaves out names
// that Git refuses.
func folders(entries []entry) map[string]plumbing.Hash {
	found := map[string]plumbing.Hash{}
	for _, e := range entries {
		if e.IsTree() && gitobject.CheckName(e.Name) == nil {
			found[e.Name] = e.Hash
		}
	}
	return found
}
