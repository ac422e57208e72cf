package render

import (
	"bytes"
)

// Buffer contains rendered files. The files of a large fleet take hundreds of megabytes, and most callers only hash
// them: such a caller resets its buffer and uses it again. The zero value is empty.
type Buffer struct {
	content bytes.Buffer // of all files
	start   int          // where the current file starts
	files   []File
}

// Reset empties the buffer. Files that were rendered to it must not be read afterwards.
func (b *Buffer) Reset() {
	clear(b.files) // the files may refer to earlier memory of the content
	b.files = b.files[:0]
	b.content.Reset()
}

// since returns the content after its first n bytes.
func (b *Buffer) since(n int) []byte { return b.content.Bytes()[n:] }
