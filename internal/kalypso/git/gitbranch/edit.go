package gitbranch

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/signing"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// File is a file of a [FolderContent].
type File struct {
	Path    string // relative to the folder
	Content []byte // must not be modified
}

// FolderContent is the desired content of a folder: these files and folders, and nothing else.
type FolderContent struct {
	Path string        // relative to the repository root or to the parent folder
	Hash plumbing.Hash // of the resulting tree
	// Files yields the files. It is called only if the folder on the branch differs, up to three times, and from several
	// goroutines. It must yield the same files each time. Nil means no files.
	Files iter.Seq2[File, error]
	// Folders are the direct subfolders, in addition to the subfolders in the paths of Files; each path is a single name.
	// Subfolders that the branch already has are not read.
	Folders []FolderContent
	// Stored means that the repo already contains the tree, for example in the branch's history. Only its hash is written,
	// and Files and Folders are not used. If the tree is missing, the server rejects the push.
	Stored bool
}

// Author is the author and committer of a commit.
type Author struct {
	Name  string
	Email string
	When  time.Time // of the commit
	// Trailers are the lines at the end of the message: a key, such as Signed-off-by → its value. See [CheckTrailer].
	Trailers map[string]string
	Signer   signing.Signer // nil: the commit has no signature
}

// Edit is one change to a branch: it removes paths, then sets folders and files. All other paths stay. Paths are
// relative to the repository root.
type Edit struct {
	Folders []FolderContent
	Files   map[string][]byte
	Remove  []string // files or folders; missing ones are skipped
	Message string
	// NoTrailers says that no line of the message is a trailer, although its end may look like trailers.
	NoTrailers bool
	// Trailer are lines that end the message, after the author's trailers. It may be empty.
	Trailer string
	Author  Author
}

// ErrOverlap means that one path of an edit lies inside another.
var ErrOverlap = errors.New("overlaps another path of the same edit")

// check rejects paths that Git cannot store, and paths that overlap.
func (e *Edit) check() error {
	var errs []error
	written := lists.Map(e.Folders, func(f FolderContent) string { return f.Path })
	written = append(written, slices.Sorted(maps.Keys(e.Files))...)
	for _, p := range slices.Concat(written, e.Remove) {
		if names, err := splitPath(p); err != nil {
			errs = append(errs, err)
		} else if len(names) == 0 {
			errs = append(errs, &PathError{Path: p, Err: gitobject.ErrName})
		}
	}
	// With a trailing slash, a path sorts right before the paths inside it.
	slices.SortFunc(written, func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	for i := 1; i < len(written); i++ {
		if strings.HasPrefix(written[i]+"/", written[i-1]+"/") {
			errs = append(errs, &PathError{Path: written[i], Err: ErrOverlap})
		}
	}
	return errors.Join(errs...)
}
