package render

import (
	"bytes"
)

// Buffer is the memory of rendered files. A large fleet has hundreds of megabytes of them, and most callers only hash
// them: such a caller resets its buffer and uses it again. The zero value is empty.
type Buffer struct {
	content bytes.Buffer // of all files
	start   int          // where the current file starts
	files   []File
}

// Reset empties the buffer. The files that were rendered to it must not be read any more.
func (b *Buffer) Reset() {
	clear(b.files) // they may refer to earlier memory of the content
	b.files = b.files[:0]
	b.content.Reset()
}

// since returns what was written since the content had n bytes.
func (b *Buffer) since(n int) []byte { return b.content.Bytes()[n:] }
