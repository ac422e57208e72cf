package branch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
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
	jobs := make(chan FolderContent)
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(folders)))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			w := newPackWriter(p, out)
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

// folder packs one folder without its subfolders.
func (w *packWriter) folder(ctx context.Context, f FolderContent) error {
	builder := &treeBuilder{packWriter: w}
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

// isEmpty reports whether the folder has no files. Git stores no empty folders, so it will be absent.
func (f FolderContent) isEmpty() bool { return f.Hash.IsZero() || f.Hash == emptyTree }
