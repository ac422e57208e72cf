package gitbranch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// commitBuilder turns an edit of a branch into one commit.
type commitBuilder struct {
	onto *Snapshot
	edit *Edit
}

// build packs the commit with all new objects. It returns the branch after the commit, or the unchanged branch if the
// edit changes nothing.
func (c commitBuilder) build(ctx context.Context, opts PushOptions) (*Snapshot, *pack, error) {
	if err := c.edit.check(); err != nil {
		return nil, nil, err
	}
	changed, err := c.changedFolders()
	if err != nil {
		return nil, nil, err
	}
	editor, err := c.applyRemovals()
	if err != nil {
		return nil, nil, err
	}
	known, err := c.knownObjects()
	if err != nil {
		return nil, nil, err
	}
	p := newPack(known, opts.packBuffer)
	if err := packChanged(ctx, changed, p, opts.Progress); err != nil {
		return nil, nil, err
	}
	w := newPackWriter(p, p.appendChunk)
	written := gitremote.Objects{}
	root, err := c.applyWrites(editor, w, written)
	if err != nil {
		return nil, nil, err
	}
	if root.IsZero() {
		if c.onto.Root.IsZero() {
			return c.onto, nil, nil
		}
		root, err = w.add(plumbing.TreeObject, nil)
		if err != nil {
			return nil, nil, err
		}
	}
	if root == c.onto.Root {
		return c.onto, nil, nil
	}
	text, err := commitText(root, c.onto.Commit, c.edit)
	if err != nil {
		return nil, nil, err
	}
	h, err := w.add(plumbing.CommitObject, text)
	if err != nil {
		return nil, nil, err
	}
	if err := w.flush(); err != nil {
		return nil, nil, err
	}
	written[h] = gitremote.Object{Kind: plumbing.CommitObject, Content: text}
	maps.Copy(written, c.onto.objects.store)
	after := newSnapshot(h, c.onto.objects.reader, written)
	after.Root = root
	return after, p, nil
}

// packChanged packs the changed folders until the pack buffer is full. It defers the rest.
func packChanged(
	ctx context.Context, folders []FolderContent, p *pack, progress func(stage string, done, total int),
) error {
	var mu sync.Mutex
	done := 0
	return packFolders(ctx, folders, p, p.appendChunk, func(w *packWriter, ctx context.Context, f FolderContent) error {
		w.countOnly = !p.hasRoom(f)
		err := w.folder(ctx, f)
		mu.Lock()
		defer mu.Unlock()
		done++
		progress(stagePack, done, len(folders))
		return err
	})
}

// knownObjects returns the hashes of the objects that the branch is known to have.
func (c commitBuilder) knownObjects() (map[plumbing.Hash]struct{}, error) {
	store := c.onto.objects.store
	known := make(map[plumbing.Hash]struct{}, 4*len(store))
	for h, o := range store {
		known[h] = struct{}{}
		if o.Kind != plumbing.TreeObject {
			continue
		}
		for raw := o.Content; len(raw) > 0; { // without allocating entries
			_, _, below, rest, err := gitobject.CutEntry[plumbing.Hash](raw)
			if err != nil {
				return nil, err
			}
			known[below], raw = struct{}{}, rest
		}
	}
	return known, nil
}

// applyRemovals returns an editor of the root tree without the paths that an edit removes.
func (c commitBuilder) applyRemovals() (*treeEditor, error) {
	editor, err := editTree(c.onto.objects, c.onto.Root)
	for i := 0; err == nil && i < len(c.edit.Remove); i++ {
		names, _ := splitPath(c.edit.Remove[i])
		err = editor.remove(names)
	}
	return editor, err
}

// applyWrites sets the folders and files of an edit, and writes the changed trees. It returns the root tree, or zero
// if nothing is left, and adds the trees to written.
func (c commitBuilder) applyWrites(
	editor *treeEditor, w *packWriter, written gitremote.Objects,
) (plumbing.Hash, error) {
	for _, f := range c.edit.Folders {
		if f.isEmpty() {
			names, _ := splitPath(f.Path)
			if err := editor.remove(names); err != nil {
				return plumbing.ZeroHash, &PathError{Path: f.Path, Err: err}
			}
		} else if err := editor.setPath(f.Path, gitobject.ModeTree, f.Hash); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.edit.Files)) {
		h, err := w.add(plumbing.BlobObject, c.edit.Files[path])
		if err == nil {
			err = editor.setPath(path, gitobject.ModeFile, h)
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
	}
	if !editor.changed {
		return c.onto.Root, nil
	}
	return editor.write(w, written)
}

// CheckAuthor returns an error if part is not usable as the name or e-mail address of a commit author.
func CheckAuthor(part string) error {
	switch {
	case strings.TrimSpace(part) == "":
		return errors.New("the text is blank; a Git author needs a name and an e-mail address")
	case strings.ContainsAny(part, "<>\r\n\x00"):
		return errors.New("a Git author must not contain line breaks or the characters < and >")
	case printable.Line(part) != part:
		return errors.New("a Git author must not contain control characters")
	}
	return nil
}

// commitText returns a commit as Git stores it, signed if its author signs.
func commitText(tree, parent plumbing.Hash, e *Edit) ([]byte, error) {
	a := e.Author
	if err := errors.Join(CheckAuthor(a.Name), CheckAuthor(a.Email), CheckMessage(e.Message)); err != nil {
		return nil, err
	}
	name, email := strings.TrimSpace(a.Name), strings.TrimSpace(a.Email)
	who := fmt.Sprintf("%s <%s> %d %s", name, email, a.When.Unix(), a.When.Format("-0700"))
	var header bytes.Buffer
	fmt.Fprintf(&header, "tree %s\n", tree)
	if !parent.IsZero() {
		fmt.Fprintf(&header, "parent %s\n", parent)
	}
	fmt.Fprintf(&header, "author %s\ncommitter %s\n", who, who)
	message := "\n" + e.message() + "\n"
	if a.Signer != nil {
		signature, err := a.Signer([]byte(header.String()+message), a.When)
		if err != nil {
			return nil, err
		}
		lines := strings.ReplaceAll(strings.TrimSpace(string(signature)), "\n", "\n ") // a header continues after a space
		fmt.Fprintf(&header, "gpgsig %s\n", lines)
	}
	return append(header.Bytes(), message...), nil
}
