package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// commit packs an edit of a snapshot: the commit and all that is new with it.
// A zero hash: the edit changes nothing.
func (s *Snapshot) commit(ctx context.Context, e *Edit, progress func(stage string, done, total int)) (plumbing.Hash, *pack, error) {
	if err := e.check(); err != nil {
		return plumbing.ZeroHash, nil, err
	}
	p := newPack(s.known())
	w := newPacker(p)
	root, err := s.apply(ctx, e, p, w, progress)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	if root.IsZero() {
		if s.Root.IsZero() {
			return plumbing.ZeroHash, nil, nil
		}
		if root, err = w.add(plumbing.TreeObject, nil); err != nil {
			return plumbing.ZeroHash, nil, err
		}
	}
	if root == s.Root {
		return plumbing.ZeroHash, nil, nil
	}
	text, err := commitText(root, s.Commit, e)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	h, err := w.add(plumbing.CommitObject, text)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	w.flush()
	return h, p, nil
}

// known are the names of all objects that the branch has.
func (s *Snapshot) known() map[plumbing.Hash]struct{} {
	known := make(map[plumbing.Hash]struct{}, 4*len(s.trees))
	for h, entries := range s.trees {
		known[h] = struct{}{}
		for _, e := range entries {
			known[e.hash] = struct{}{}
		}
	}
	return known
}

// apply gives the root tree after an edit; zero where nothing is left.
func (s *Snapshot) apply(ctx context.Context, e *Edit, p *pack, w *packer, progress func(string, int, int)) (plumbing.Hash, error) {
	o := s.overlay(s.Root)
	for _, path := range e.Remove {
		names, _ := splitPath(path)
		o.remove(names)
	}
	if err := s.folders(ctx, e, o, p, w, progress); err != nil {
		return plumbing.ZeroHash, err
	}
	for _, path := range slices.Sorted(maps.Keys(e.Files)) {
		h, err := w.add(plumbing.BlobObject, e.Files[path])
		if err != nil {
			return plumbing.ZeroHash, err
		}
		names, _ := splitPath(path)
		if err := o.set(names, modeFile, h); err != nil {
			return plumbing.ZeroHash, &PathError{Path: path, Err: err}
		}
	}
	if !o.changed {
		return s.Root, nil
	}
	return o.write(w)
}

// folders packs the folders that differ from the branch's.
func (s *Snapshot) folders(ctx context.Context, e *Edit, o *overlay, p *pack, w *packer, progress func(string, int, int)) error {
	c := newCrew(ctx, p)
	defer c.close()
	files := 0
	for _, f := range e.Folders {
		names, _ := splitPath(f.Path)
		at, there := s.find(f.Path)
		h := f.Hash
		switch {
		case there && at.isTree() && at.hash == f.Hash:
		case h.IsZero() || h == emptyTree || f.Files != nil:
			if f.Files == nil {
				f.Files = func(func(File, error) bool) {}
			}
			var err error
			h, err = c.folder(ctx, f, w, func(n int) {
				files += n
				progress(StagePack, files, 0)
			})
			if err != nil {
				return err
			}
		default:
			return fmt.Errorf("folder %s: %w: it has no files", quote(f.Path), ErrTreeMismatch)
		}
		if h.IsZero() || h == emptyTree {
			o.remove(names)
			continue
		}
		if err := o.set(names, modeTree, h); err != nil {
			return &PathError{Path: f.Path, Err: err}
		}
	}
	return nil
}

// errSignature: Git cannot write a commit without an author.
var errSignature = errors.New("a commit needs an author's name and e-mail address, without <, > and line breaks")

func commitText(tree, parent plumbing.Hash, e *Edit) ([]byte, error) {
	a := e.Author
	if strings.TrimSpace(a.Name) == "" || strings.TrimSpace(a.Email) == "" || strings.ContainsAny(a.Name+a.Email, "<>\n\x00") {
		return nil, errSignature
	}
	who := fmt.Sprintf("%s <%s> %d %s", strings.TrimSpace(a.Name), strings.TrimSpace(a.Email), a.When.Unix(), a.When.Format("-0700"))
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	if !parent.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	message := strings.TrimSpace(strings.ReplaceAll(e.Message, "\x00", ""))
	if message == "" {
		return nil, errors.New("a commit needs a message")
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s\n", who, who, message)
	return b.Bytes(), nil
}
