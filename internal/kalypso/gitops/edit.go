package gitops

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// File is a file of a [Folder].
type File struct {
	Path    string // below the folder
	Content []byte // not to be changed once it was given out
}

// Folder is a folder that shall hold the given files and folders and nothing
// else.
type Folder struct {
	Path string        // from the repository's root, or from the folder it is in
	Hash plumbing.Hash // of the tree that it becomes
	// Files are in the byte order of their paths. It is called only where the
	// branch's folder differs, twice where the pack is large, and not from one
	// goroutine alone; it gives the same each time. Nil: there are none.
	Files iter.Seq2[File, error]
	// Folders are those directly in it, beside the ones that Files make: a path
	// is one name. One that the branch has already is not looked into.
	Folders []Folder
}

// Signature says who made a commit, and when.
type Signature struct {
	Name  string
	Email string
	When  time.Time
}

// Edit is one change of a branch: what goes first, then what comes. What it
// does not name stays. Paths are from the repository's root.
type Edit struct {
	Folders []Folder
	Files   map[string][]byte
	Remove  []string // files or folders; what is not there is passed over
	Message string
	Author  Signature
}

// ErrOverlap means that two paths of an edit lie in one another.
var ErrOverlap = errors.New("lies in another path of the same edit")

// check refuses paths that Git cannot hold and those that overlap.
func (e *Edit) check() error {
	var errs []error
	var written []string
	for _, f := range e.Folders {
		written = append(written, f.Path)
	}
	written = append(written, slices.Sorted(maps.Keys(e.Files))...)
	for _, p := range slices.Concat(written, e.Remove) {
		if names, err := splitPath(p); err != nil {
			errs = append(errs, err)
		} else if len(names) == 0 {
			errs = append(errs, &PathError{Path: p, Err: errName})
		}
	}
	// With a slash at the end, a path sorts right before what lies in it.
	slices.SortFunc(written, func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	for i := 1; i < len(written); i++ {
		if strings.HasPrefix(written[i]+"/", written[i-1]+"/") {
			errs = append(errs, &PathError{Path: written[i], Err: ErrOverlap})
		}
	}
	return errors.Join(errs...)
}
