// Package diff compares two versions of a file by lines, and writes unified diffs, as git diff does.
package diff

import (
	"bytes"
	"strings"

	fdiff "github.com/go-git/go-git/v5/plumbing/format/diff"
	"github.com/go-git/go-git/v5/utils/diff"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// Edit is a run of lines that are all kept, all removed, or all added.
type Edit struct {
	Op    Op
	Lines []byte
}

// Op says whether a change keeps, removes or adds lines.
type Op = fdiff.Operation

// The operations.
const (
	Equal  = fdiff.Equal
	Add    = fdiff.Add
	Delete = fdiff.Delete
)

// Content implements [fdiff.Chunk].
func (e Edit) Content() string { return string(e.Lines) }

// Type implements [fdiff.Chunk].
func (e Edit) Type() fdiff.Operation { return e.Op }

// maxCompared limits the lines between the first and the last difference that are compared. If there are more, the diff
// removes and adds them as a whole, since the time to compare grows with the square of their number.
const maxCompared = 4000

// AppendEdits appends the edits that make after from before.
func AppendEdits(edits []Edit, before, after []byte) []Edit {
	head := commonLines(before, after)
	b, a := before[head:], after[head:]
	tail := commonTail(b, a)
	same := b[len(b)-tail:]
	b, a = b[:len(b)-tail], a[:len(a)-tail]
	add := func(op Op, lines []byte) {
		if len(lines) > 0 {
			edits = append(edits, Edit{op, lines})
		}
	}
	add(Equal, before[:head])
	removed, added := bytes.Count(b, []byte("\n")), bytes.Count(a, []byte("\n"))
	switch first, last := replacedLines(b, a, removed, added); {
	case first[0] > 0:
		edits = append(edits, Edit{Delete, b[:first[0]]}, Edit{Add, a[:first[1]]}, Edit{Equal, b[first[0]:last[0]]},
			Edit{Delete, b[last[0]:]}, Edit{Add, a[last[1]:]})
	case removed*added <= 1 || removed+added > maxCompared:
		add(Delete, b)
		add(Add, a)
	default:
		ops := map[diffmatchpatch.Operation]Op{
			diffmatchpatch.DiffEqual: Equal, diffmatchpatch.DiffDelete: Delete, diffmatchpatch.DiffInsert: Add,
		}
		for _, d := range diff.Do(string(b), string(a)) {
			add(ops[d.Type], []byte(d.Text))
		}
	}
	add(Equal, same)
	return edits
}

// replacedLines returns where the first lines of two texts end and where their last lines begin, or zeros unless these
// lines alone differ. Most changes of a value that is hashed are like this. They need no search.
func replacedLines(b, a []byte, removed, added int) (first, last [2]int) {
	if removed != added || removed < 3 || b[len(b)-1] != '\n' || a[len(a)-1] != '\n' {
		return first, last
	}
	ends := [2]int{bytes.IndexByte(b, '\n') + 1, bytes.IndexByte(a, '\n') + 1}
	begins := [2]int{bytes.LastIndexByte(b[:len(b)-1], '\n') + 1, bytes.LastIndexByte(a[:len(a)-1], '\n') + 1}
	if !bytes.Equal(b[ends[0]:begins[0]], a[ends[1]:begins[1]]) {
		return first, last
	}
	return ends, begins
}

// commonLines returns the length of the common lines at the start of both texts.
func commonLines(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonTail returns the length of the common lines at the end of both texts.
func commonTail(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	tail := a[len(a)-n:]
	if startsLine(a, n) && startsLine(b, n) {
		return n
	}
	_, whole, _ := bytes.Cut(tail, []byte("\n"))
	return len(whole)
}

// startsLine reports whether the last n bytes of a text begin a line.
func startsLine(text []byte, n int) bool { return n == len(text) || text[len(text)-n-1] == '\n' }

// Unified writes edits as the hunks of a unified diff, each with three lines around it, without the header that names
// the files.
func Unified(edits []Edit) string {
	var b strings.Builder
	_ = fdiff.NewUnifiedEncoder(&b, fdiff.DefaultContextLines).Encode(patch(edits)) // writing to memory does not fail
	return b.String()
}

// patch is a [fdiff.Patch] of one file whose name is not written.
type patch []Edit

func (patch) Message() string                  { return "" }
func (p patch) FilePatches() []fdiff.FilePatch { return []fdiff.FilePatch{p} }
func (patch) IsBinary() bool                   { return false }
func (patch) Files() (from, to fdiff.File)     { return nil, nil }
func (p patch) Chunks() (chunks []fdiff.Chunk) {
	for _, e := range p {
		chunks = append(chunks, e)
	}
	return chunks
}
