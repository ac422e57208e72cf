package describe

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"io"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/diff"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/parallel"
)

// Lines are the lines that change in rendered files. Each change is one group, with all the folders that it reaches.
type Lines struct {
	folders []FolderName
	files   FilesOf
	groups  [][]fileChange // of the same change, in the order of the folders
	unknown []int          // the folders whose files are not known
	command func(folder string) string
}

// FolderName names the folder of a deployment target.
type FolderName struct{ ClusterType, Target string }

func (f FolderName) String() string { return f.ClusterType + "/" + f.Target }

// FolderFiles are the files of a folder, sorted by name; none if there is no folder.
type FolderFiles struct {
	Namespace string
	Files     []render.File
}

// Buffers contain the files of a folder before and after a change.
type Buffers struct{ Before, After render.Buffer }

// FilesOf returns the files of folder i before and after a change, or false if they are not known. They are in b.
type FilesOf func(i int, b *Buffers) (before, after FolderFiles, known bool)

// fileChange is a change of one file. It contains no lines, since there are many: they are rendered again.
type fileChange struct {
	folder  int32
	file    int32 // among those that change in the folder
	kind    Kind
	removes bool // lines, or the file
	renamed bool // the lines contain names of the folder
	// lines identifies the changed lines, and pattern the lines without the names of the folder. group is one of them.
	lines, pattern, group [16]byte
}

// foldersPerChunk is the number of folders that are compared one after another.
const foldersPerChunk = 64

// NewLines groups the changes of the files in folders, which must be sorted. It calls files from several goroutines.
// command returns the command that shows the changes of one folder; it may be nil.
func NewLines(folders []FolderName, files FilesOf, command func(folder string) string) *Lines {
	l := &Lines{folders: folders, files: files, command: command}
	unknown := make([]bool, len(folders))
	all := slices.Concat(parallel.Map((len(folders)+foldersPerChunk-1)/foldersPerChunk, func(n int) (all []fileChange) {
		b := &Buffers{}
		for i := n * foldersPerChunk; i < min(len(folders), (n+1)*foldersPerChunk); i++ {
			changes, known := l.compare(i, b)
			all, unknown[i] = append(all, changes...), !known
		}
		return all
	})...)
	for i := range folders {
		if unknown[i] {
			l.unknown = append(l.unknown, i)
		}
	}
	// Equal lines are one group. Groups become one if only names of folders differ: if all folders of a group have the
	// same pattern, and it contains names.
	for _, same := range runs(all, func(c fileChange) [16]byte { return c.lines }) {
		group := same[0].pattern
		for i := range same {
			if same[i].pattern != group || !same[i].renamed {
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

// runs sorts changes by a key and the folder, and returns those with the same key.
func runs(all []fileChange, key func(fileChange) [16]byte) (same [][]fileChange) {
	slices.SortStableFunc(all, func(a, b fileChange) int {
		x, y := key(a), key(b)
		return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(a.folder, b.folder))
	})
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && key(all[to]) == key(all[from]) {
			to++
		}
		same = append(same, all[from:to:to])
		from = to
	}
	return same
}

// changedFile is a file before and after a change; nil: there is none.
type changedFile struct{ before, after *render.File }

func (f changedFile) kind() Kind {
	switch {
	case f.before == nil:
		return Added
	case f.after == nil:
		return Removed
	}
	return Changed
}

func (f changedFile) name() string {
	if f.after != nil {
		return f.after.Name
	}
	return f.before.Name
}

func (f changedFile) edits() []diff.Edit {
	var before, after []byte
	if f.before != nil {
		before = f.before.Content
	}
	if f.after != nil {
		after = f.after.Content
	}
	return diff.Edits(before, after)
}

// changedFiles returns the files that differ, by name.
func changedFiles(before, after []render.File) (changed []changedFile) {
	for i, j := 0, 0; i < len(before) || j < len(after); {
		var f changedFile
		if j == len(after) || i < len(before) && before[i].Name <= after[j].Name {
			f.before = &before[i]
		}
		if i == len(before) || j < len(after) && after[j].Name <= before[i].Name {
			f.after = &after[j]
		}
		if f.before != nil {
			i++
		}
		if f.after != nil {
			j++
		}
		if f.before == nil || f.after == nil || !bytes.Equal(f.before.Content, f.after.Content) {
			changed = append(changed, f)
		}
	}
	return changed
}

// compare returns the changes of the files of folder i.
func (l *Lines) compare(i int, b *Buffers) (changes []fileChange, known bool) {
	b.Before.Reset()
	b.After.Reset()
	before, after, known := l.files(i, b)
	if !known {
		return nil, false
	}
	for n, f := range changedFiles(before.Files, after.Files) {
		c := fileChange{folder: int32(i), file: int32(n), kind: f.kind(), removes: f.kind() == Removed}
		lines, patterns := sha256.New(), sha256.New()
		head := string(rune('0'+c.kind)) + f.name() + "\x00"
		_, _ = io.WriteString(lines, head)
		_, _ = io.WriteString(patterns, "pattern"+head)
		for _, e := range f.edits() {
			if e.Op == diff.Equal {
				continue
			}
			names, op := after.Namespace, "+"
			if e.Op == diff.Delete {
				names, op, c.removes = before.Namespace, "-", true
			}
			text := string(e.Lines)
			pattern := withoutNames(text, names, l.folders[i])
			c.renamed = c.renamed || pattern != text
			for _, part := range []string{op, text, "\x00"} {
				_, _ = io.WriteString(lines, part)
			}
			for _, part := range []string{op, pattern, "\x00"} {
				_, _ = io.WriteString(patterns, part)
			}
		}
		copy(c.lines[:], lines.Sum(nil))
		copy(c.pattern[:], patterns.Sum(nil))
		changes = append(changes, c)
	}
	return changes, true
}

// withoutNames replaces the names of a folder in lines, the longest first, where they are whole words. Lines that
// become equal are equal but for the names. The marks contain a character that text does not.
func withoutNames(lines, namespace string, f FolderName) string {
	if strings.Contains(lines, "\x00") {
		return lines
	}
	names := [3]struct{ name, mark string }{
		{namespace, "\x00\x01"}, {f.ClusterType, "\x00\x02"}, {f.Target, "\x00\x03"},
	}
	slices.SortStableFunc(names[:], func(a, b struct{ name, mark string }) int {
		return cmp.Compare(len(b.name), len(a.name))
	})
	for _, n := range names {
		lines = replaceWord(lines, n.name, n.mark)
	}
	return lines
}

// replaceWord replaces a word in a text.
func replaceWord(text, word, with string) string {
	if word == "" || !strings.Contains(text, word) {
		return text
	}
	var b strings.Builder
	from := 0
	for at := 0; ; {
		n := strings.Index(text[at:], word)
		if n < 0 {
			break
		}
		start, end := at+n, at+n+len(word)
		if at = start + 1; start > 0 && isWord(text[start-1]) || end < len(text) && isWord(text[end]) {
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
