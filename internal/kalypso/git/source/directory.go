package source

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/localfile"
)

// readDirectory reads a local folder. The paths in contents begin with the folder's path as given, so they are
// relative to the working directory.
func (r *Reader) readDirectory(ctx context.Context, c *contents) {
	root := c.location.Directory
	if at, err := os.Stat(root); err != nil || !at.IsDir() {
		c.err = fmt.Errorf("%w: %s does not exist or is not a directory. The path is relative to the working directory; "+
			"prefix it with path.module for a folder of the module",
			ErrFolderNotFound, root)
		return
	}
	// The folder itself may be a link: its author chose it.
	walked, err := filepath.EvalSymlinks(root)
	if err != nil {
		c.err = err
		return
	}
	var entries []entry
	ignores := map[string]string{}
	err = filepath.WalkDir(walked, func(at string, d fs.DirEntry, err error) error {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(walked, at)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || rel == ".":
			return err
		case d.IsDir():
			if hidden(rel + "/") {
				return fs.SkipDir
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			entries = append(entries, entry{rel, filemode.Symlink})
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		entries = append(entries, entry{rel, filemode.Regular})
		if d.Name() != ignoreFile {
			return nil
		}
		text, err := localfile.Read(at, localfile.MaxSmall)
		ignores[rel] = string(text)
		return named(at, err)
	})
	if err != nil {
		c.err = err
		return
	}
	c.err = checkIgnoreWork(entries, ignores)
	if c.err != nil {
		return
	}
	c.listing = newListing(".", entries, ignores)
	for _, group := range []*[]string{&c.files, &c.links, &c.kustomizations} {
		for i, rel := range *group {
			(*group)[i] = path.Join(filepath.ToSlash(root), rel)
		}
	}
	c.text, c.tooLarge = map[string]string{}, map[string]int64{}
	for _, at := range c.files {
		c.err = ctx.Err()
		if c.err == nil {
			c.err = r.readFile(c, at)
		}
		if c.err != nil {
			return
		}
	}
}

func (r *Reader) readFile(c *contents, at string) error {
	info, err := os.Stat(at)
	if err != nil {
		return err
	}
	if info.Size() > r.limits.File {
		c.tooLarge[at] = info.Size()
		return nil
	}
	text, err := localfile.Read(at, r.limits.File)
	c.text[at] = string(text)
	return named(at, err)
}

// named adds the file to an error.
func named(at string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// within reports whether folder is other, or is inside it.
func within(folder, other string) bool {
	folder, err := filepath.Abs(folder)
	other, failed := filepath.Abs(other)
	rel, unrelated := filepath.Rel(other, folder)
	return cmp.Or(err, failed, unrelated) == nil && filepath.IsLocal(rel)
}
