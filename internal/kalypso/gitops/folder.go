package gitops

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
)

// ErrTreeMismatch means that the files of a folder do not make the tree that
// was announced. It is a fault of the program, and nothing is written.
var ErrTreeMismatch = errors.New("the files of the folder do not make the tree that was announced")

// errOrder: files came out of order, or a file and a folder have one name.
var errOrder = errors.New("out of the byte order of paths, or there twice")

// emptyTree is the hash of a tree without entries.
var emptyTree = plumbing.Hash(gitobject.NewHasher().Object(gitobject.Tree, nil))

// differing is a folder of an edit that is not on the branch as it shall be.
type differing struct {
	Folder
	old plumbing.Hash // the tree that the branch has there; zero: none
}

// manyTrees is how many trees are asked for one by one. Where there are more, and
// they are a good part of those in the folders that hold them, all below these
// are. Up to fewTrees of them are fetched along with the trees they are in: a
// round trip costs more.
const (
	manyTrees = 256
	fewTrees  = 1024
)

// differing finds the folders that differ from the branch's, and those in them,
// level by level, and fetches the trees that they have there: what these hold is
// not packed again.
func (s *Snapshot) differing(folders []Folder) ([]Folder, error) {
	var all []Folder
	var level []differing
	for _, f := range folders {
		at, there, err := s.find(f.Path)
		if err != nil {
			return nil, err
		}
		level = appendDiffering(level, f, at, there)
	}
	var above []plumbing.Hash
	children := 0 // of the folders above
	for len(level) > 0 {
		var wants, missing []plumbing.Hash
		within := 0 // the folders that those that are missing shall hold
		for _, d := range level {
			wants = append(wants, d.old)
			all = append(all, d.Folder)
			if _, here := s.store[d.old]; !here && !d.old.IsZero() {
				missing, within = append(missing, d.old), within+len(d.Folders)
			}
		}
		var err error
		switch {
		case len(wants) > manyTrees && 4*len(wants) > children:
			err = s.bringBelow(above)
		case within > 0 && within <= fewTrees:
			err = s.bringBelow(missing)
		}
		if err == nil {
			err = s.bring(slices.Clone(wants), filterAll)
		}
		if err != nil {
			return nil, err
		}
		var next []differing
		children = 0
		for _, d := range level {
			if len(d.Folders) == 0 {
				continue
			}
			there := map[string]entry{}
			if !d.old.IsZero() {
				entries, err := s.tree(d.old)
				if err != nil {
					return nil, err
				}
				for _, e := range entries {
					there[e.Name] = e
				}
				children += len(there)
			}
			for _, f := range d.Folders {
				at, ok := there[f.Path]
				next = appendDiffering(next, f, at, ok)
			}
		}
		level, above = next, wants
	}
	return all, nil
}

func appendDiffering(all []differing, f Folder, at entry, there bool) []differing {
	switch {
	case there && at.IsTree() && at.Hash == f.Hash:
		return all
	case there && at.IsTree():
		return append(all, differing{f, at.Hash})
	}
	return append(all, differing{f, plumbing.ZeroHash})
}

// packFolders packs folders on all cores: of each its files, the trees they make,
// and its own. out takes the chunks.
func packFolders(ctx context.Context, folders []Folder, p *pack, out func([]byte) error, folder func(*packer, context.Context, Folder) error) error {
	jobs := make(chan Folder)
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(folders)))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			w := newPacker(p, out)
			for f := range jobs {
				if errs[i] == nil {
					errs[i] = folder(w, ctx, f)
				}
			}
			if errs[i] == nil {
				errs[i] = w.flush()
			}
		})
	}
	for _, f := range folders {
		jobs <- f
	}
	close(jobs)
	wg.Wait()
	return errors.Join(errs...)
}

// folder packs one folder without those in it.
func (w *packer) folder(ctx context.Context, f Folder) error {
	builder := &treeBuilder{packer: w}
	if f.Files != nil {
		for file, err := range f.Files {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("folder %s: %w", quote(f.Path), err)
			}
			blob, err := w.add(plumbing.BlobObject, file.Content)
			if err == nil {
				err = builder.add(file.Path, blob)
			}
			if err != nil {
				return fmt.Errorf("folder %s: %w", quote(f.Path), err)
			}
		}
	}
	h, err := builder.finish(f.Folders)
	if err != nil {
		return fmt.Errorf("folder %s: %w", quote(f.Path), err)
	}
	if !f.isEmpty() && h != f.Hash || f.isEmpty() && !h.IsZero() {
		return fmt.Errorf("folder %s: %w: %s, not %s", quote(f.Path), ErrTreeMismatch, h, f.Hash)
	}
	return nil
}

// isEmpty tells whether the folder shall not be there: Git has no empty one.
func (f Folder) isEmpty() bool { return f.Hash.IsZero() || f.Hash == emptyTree }

// treeBuilder makes trees of files that come in the byte order of their paths,
// which is Git's order: what is open is the way to the last one.
type treeBuilder struct {
	packer *packer
	open   []level // open[0] is the folder itself
	last   string
	raw    []byte
}

type level struct {
	name    string
	entries []entry
}

func (t *treeBuilder) add(path string, blob plumbing.Hash) error {
	names, err := splitPath(path)
	if err != nil {
		return err
	}
	if len(names) == 0 || path <= t.last {
		return &PathError{Path: path, Err: errOrder}
	}
	t.last = path
	if t.open == nil {
		t.open = []level{{}}
	}
	dirs, name := names[:len(names)-1], names[len(names)-1]
	same := 0
	for same < len(dirs) && same+1 < len(t.open) && t.open[same+1].name == dirs[same] {
		same++
	}
	if err := t.shut(same + 1); err != nil {
		return err
	}
	for _, d := range dirs[same:] {
		t.open = append(t.open, level{name: d})
	}
	top := &t.open[len(t.open)-1]
	top.entries = append(top.entries, entry{Mode: gitobject.ModeFile, Name: name, Hash: blob})
	return nil
}

// shut writes the open folders from a depth on.
func (t *treeBuilder) shut(depth int) error {
	for len(t.open) > depth {
		done := t.open[len(t.open)-1]
		h, err := t.write(done)
		if err != nil {
			return err
		}
		t.open = t.open[:len(t.open)-1]
		top := &t.open[len(t.open)-1]
		// All that sorts between a file and a folder of one name starts with it.
		for i := len(top.entries) - 1; i >= 0 && strings.HasPrefix(top.entries[i].Name, done.name); i-- {
			if top.entries[i].Name == done.name {
				return &PathError{Path: done.name, Err: errOrder}
			}
		}
		top.entries = append(top.entries, entry{Mode: gitobject.ModeTree, Name: done.name, Hash: h})
	}
	return nil
}

func (t *treeBuilder) write(l level) (plumbing.Hash, error) {
	t.raw = gitobject.AppendTree(t.raw[:0], l.entries)
	return t.packer.add(plumbing.TreeObject, t.raw)
}

// finish puts folders beside the files, and gives the hash of the whole; zero
// where it is empty.
func (t *treeBuilder) finish(folders []Folder) (plumbing.Hash, error) {
	if t.open == nil {
		t.open = []level{{}}
	}
	if err := t.shut(1); err != nil {
		return plumbing.ZeroHash, err
	}
	top := &t.open[0]
	taken := make(map[string]bool, len(top.entries))
	for _, e := range top.entries {
		taken[e.Name] = true
	}
	for _, f := range folders {
		names, err := splitPath(f.Path)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if len(names) != 1 || taken[f.Path] {
			return plumbing.ZeroHash, &PathError{Path: f.Path, Err: errOrder}
		}
		taken[f.Path] = true
		if !f.isEmpty() {
			top.entries = append(top.entries, entry{Mode: gitobject.ModeTree, Name: f.Path, Hash: f.Hash})
		}
	}
	if len(top.entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	gitobject.SortTree(top.entries)
	return t.write(*top)
}
