package gitbranch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// ErrTreeMismatch means that the files of a folder do not produce the announced tree. It is a bug of the program;
// nothing is written.
var ErrTreeMismatch = errors.New("the files of the folder do not produce the announced tree")

// emptyTree is the hash of a tree without entries.
var emptyTree = plumbing.Hash(gitobject.NewHasher().Object(gitobject.Tree, nil))

// packFolders packs folders on all CPUs: their files, the trees of these, and their own tree. It passes the chunks to
// out.
func packFolders(
	ctx context.Context, folders []FolderContent, p *pack, out func([]byte) error,
	folder func(*packWriter, context.Context, FolderContent) error,
) error {
	jobs := make(chan FolderContent, len(folders))
	for _, f := range folders {
		jobs <- f
	}
	close(jobs)
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(folders)))
	parallel.Do(len(errs), func(i int) {
		w := newPackWriter(p, out)
		for f := range jobs {
			if errs[i] == nil {
				errs[i] = folder(w, ctx, f)
			}
		}
		errs[i] = cmp.Or(errs[i], w.flush())
	})
	return errors.Join(errs...)
}

// folder packs one folder without its subfolders.
func (w *packWriter) folder(ctx context.Context, f FolderContent) error {
	h, err := w.writeFolder(ctx, f)
	if err == nil && h != f.Hash && (!f.isEmpty() || !h.IsZero()) {
		err = fmt.Errorf("%w: %s, not %s", ErrTreeMismatch, h, f.Hash)
	}
	if err != nil {
		return fmt.Errorf("folder %s: %w", quote(f.Path), err)
	}
	return nil
}

// writeFolder packs the files of a folder and its trees, and returns the hash of the folder, or zero if it is empty.
func (w *packWriter) writeFolder(ctx context.Context, f FolderContent) (plumbing.Hash, error) {
	dir, _ := editTree(nil, plumbing.ZeroHash) // a new tree
	if f.Files != nil {
		for file, err := range f.Files {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return plumbing.ZeroHash, err
			}
			blob, err := w.add(plumbing.BlobObject, file.Content)
			if err == nil {
				err = dir.setPath(file.Path, gitobject.ModeFile, blob)
			}
			if err != nil {
				return plumbing.ZeroHash, err
			}
		}
	}
	for _, below := range f.Folders {
		if !below.isEmpty() {
			if err := dir.setPath(below.Path, gitobject.ModeTree, below.Hash); err != nil {
				return plumbing.ZeroHash, err
			}
		}
	}
	return dir.write(w, nil)
}

// isEmpty reports whether the folder has no files. Git stores no empty folders, so it will be absent.
func (f FolderContent) isEmpty() bool { return f.Hash.IsZero() || f.Hash == emptyTree }
