package describe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/diff"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Lines are the lines that change in rendered files. Each change is one group, with all the folders that it reaches.
type Lines struct {
	folders []comparison.Folder
	files   FilesOf
	groups  [][]fileChange // of the same change, in the order of the folders
	unknown []int          // the folders whose files are not known
	command func(folder string) string
	secrets []string // of config values, which the files don't contain
}

// FolderFiles are the files of a folder, sorted by name; none if there is no folder.
type FolderFiles struct {
	Namespace string
	Files     []render.File
}

// Buffers contain the files of a folder before and after a change.
type Buffers struct {
	Before, After  render.Buffer
	edits          []diff.Edit // of one file
	lines, pattern []byte      // see fileChange
}

// FilesOf returns the files of folder i before and after a change, or false if they are not known. They are in b.
type FilesOf func(i int, b *Buffers) (before, after FolderFiles, known bool)

// fileChange is a change of one file. It contains no lines, since there are many: they are rendered again.
type fileChange struct {
	folder  int32
	file    int32 // among those that change in the folder
	removes bool  // lines, or the file
	renamed bool  // the lines contain names of the folder
	// lines identifies the changed lines, and group the changes that are shown as one. At first, it identifies the lines
	// without the names of the folder.
	lines, group [16]byte
}

// foldersPerChunk is the number of folders that are compared one after another.
const foldersPerChunk = 64

// NewLines groups the changes of the files in folders, which must be sorted. It calls files from several goroutines.
// command returns the command that shows the changes of one folder; it may be nil. secrets are texts that no line
// shows, beside those that the files of a folder show to be secrets. NewLines returns nil if ctx is done.
func NewLines(
	ctx context.Context, folders []comparison.Folder, files FilesOf, command func(folder string) string, secrets []string,
) *Lines {
	l := &Lines{folders: folders, files: files, command: command, secrets: secrets}
	all := l.compareAll(ctx)
	if ctx.Err() != nil {
		return nil
	}
	// Equal lines are one group. Groups become one if only names of folders differ: if all folders of a group are equal
	// without their names, and contain names.
	for _, same := range runs(all, func(c fileChange) [16]byte { return c.lines }) {
		group := same[0].group
		for i := range same {
			if same[i].group != group || !same[i].renamed {
				group = same[i].lines
				break
			}
		}
		for i := range same {
			same[i].group = group
		}
	}
	l.groups = runs(all, func(c fileChange) [16]byte { return c.group })
	slices.SortStableFunc(l.groups, func(a, b []fileChange) int {
		if a[0].removes != b[0].removes {
			if a[0].removes {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].folder, b[0].folder), cmp.Compare(a[0].file, b[0].file))
	})
	return l
}

// compareAll returns the changes of the files of all folders. There are many, so it makes little garbage.
func (l *Lines) compareAll(ctx context.Context) []fileChange {
	all := make([]fileChange, 0, len(l.folders))
	buffers := sync.Pool{New: func() any { return &Buffers{} }}
	var adding sync.Mutex
	parallel.Do((len(l.folders)+foldersPerChunk-1)/foldersPerChunk, func(n int) {
		b := buffers.Get().(*Buffers) //nolint:forcetypeassert // nothing else is stored
		defer buffers.Put(b)
		changes := make([]fileChange, 0, foldersPerChunk)
		var unknown []int
		for i := n * foldersPerChunk; i < min(len(l.folders), (n+1)*foldersPerChunk) && ctx.Err() == nil; i++ {
			var known bool
			changes, known = l.compare(changes, i, b)
			if !known {
				unknown = append(unknown, i)
			}
		}
		adding.Lock()
		defer adding.Unlock()
		all, l.unknown = append(all, changes...), append(l.unknown, unknown...)
	})
	slices.Sort(l.unknown)
	return all
}

// runs sorts changes by a key and the file, and returns those with the same key.
func runs(all []fileChange, key func(fileChange) [16]byte) [][]fileChange {
	slices.SortFunc(all, func(a, b fileChange) int {
		x, y := key(a), key(b)
		return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(a.folder, b.folder), cmp.Compare(a.file, b.file))
	})
	return slices.Collect(lists.Runs(all, key))
}

// changedFile is a file before and after a change; nil: there is none.
type changedFile struct{ before, after *render.File }

func (f changedFile) kind() inventory.Kind { return inventory.KindOf(f.before != nil, f.after != nil) }

func (f changedFile) name() string {
	if f.after != nil {
		return f.after.Path
	}
	return f.before.Path
}

// appendEdits appends the edits of the file.
func (f changedFile) appendEdits(edits []diff.Edit) []diff.Edit {
	var before, after []byte
	if f.before != nil {
		before = f.before.Content
	}
	if f.after != nil {
		after = f.after.Content
	}
	return diff.AppendEdits(edits, before, after)
}

// changedFiles returns the files that differ, by name.
func changedFiles(before, after []render.File) (changed []changedFile) {
	for was, is := range lists.Pairs(before, after, func(f *render.File) string { return f.Path }) {
		if was == nil || is == nil || !bytes.Equal(was.Content, is.Content) {
			changed = append(changed, changedFile{was, is})
		}
	}
	return changed
}

// compare appends the changes of the files of folder i.
func (l *Lines) compare(changes []fileChange, i int, b *Buffers) (all []fileChange, known bool) {
	b.Before.Reset()
	b.After.Reset()
	before, after, known := l.files(i, b)
	if !known {
		return changes, false
	}
	for n, f := range changedFiles(before.Files, after.Files) {
		c := fileChange{folder: int32(i), file: int32(n), removes: f.kind() == inventory.Removed}
		b.lines = append(append(append(b.lines[:0], '0'+byte(f.kind())), f.name()...), 0)
		b.pattern = append(append(b.pattern[:0], "pattern"...), b.lines...)
		b.edits = f.appendEdits(b.edits[:0])
		for _, e := range b.edits {
			if e.Op == diff.Equal {
				continue
			}
			names, op := after.Namespace, byte('+')
			if e.Op == diff.Delete {
				names, op, c.removes = before.Namespace, '-', true
			}
			pattern := withoutNames(e.Lines, names, l.folders[i])
			c.renamed = c.renamed || !bytes.Equal(pattern, e.Lines)
			b.lines = append(append(append(b.lines, op), e.Lines...), 0)
			b.pattern = append(append(append(b.pattern, op), pattern...), 0)
		}
		lines, pattern := sha256.Sum256(b.lines), sha256.Sum256(b.pattern)
		copy(c.lines[:], lines[:])
		copy(c.group[:], pattern[:])
		changes = append(changes, c)
	}
	return changes, true
}

// withoutNames replaces the names of a folder in lines, the longest first, where they are whole words. Lines that
// become equal are equal but for the names. The marks contain a character that text does not.
func withoutNames(lines []byte, namespace string, f comparison.Folder) []byte {
	if bytes.IndexByte(lines, 0) >= 0 {
		return lines
	}
	names := [3]struct{ name, mark string }{
		{namespace, "\x00\x01"}, {f.ClusterType, "\x00\x02"}, {f.Target, "\x00\x03"},
	}
	slices.SortStableFunc(names[:], func(a, b struct{ name, mark string }) int {
		return cmp.Compare(len(b.name), len(a.name))
	})
	for _, n := range names {
		if n.name != "" && bytes.Contains(lines, []byte(n.name)) {
			lines = []byte(replaceWord(string(lines), n.name, n.mark))
		}
	}
	return lines
}

// replaceWord replaces a word in a text.
func replaceWord(text, word, with string) string {
	var b strings.Builder
	from := 0
	for at := 0; ; {
		n := strings.Index(text[at:], word)
		if n < 0 {
			break
		}
		start, end := at+n, at+n+len(word)
		at = start + 1
		if start > 0 && isWord(text[start-1]) || end < len(text) && isWord(text[end]) {
			continue
		}
		b.WriteString(text[from:start])
		b.WriteString(with)
		from, at = end, end
	}
	b.WriteString(text[from:])
	return b.String()
}

// isWord reports whether a byte is a part of a word. The marks of names are not.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
