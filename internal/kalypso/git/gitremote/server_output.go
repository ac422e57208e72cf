package gitremote

import (
	"fmt"
	"strings"
	"sync"
)

// The sizes of serverOutput, in bytes.
const (
	keptOutput  = 64 << 10 // of the beginning, and as much of the end
	shownOutput = 8 << 10  // of the beginning, and as much of the end
)

// serverOutput keeps the beginning and the end of what a server prints: the reason of a refusal may be the first line
// or the last one. It keeps much more than it shows, so that secrets are found before anything is cut.
type serverOutput struct {
	redact func(string) string // replaces secrets; nil: there are none

	mu         sync.Mutex
	head, tail []byte
	left       int // bytes between head and tail
}

func (w *serverOutput) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	first := min(n, keptOutput-len(w.head))
	w.head = append(w.head, p[:first]...)
	w.tail = append(w.tail, p[first:]...)
	if len(w.tail) > 2*keptOutput {
		w.dropTail()
	}
	return n, nil
}

// dropTail drops what precedes the last bytes of the tail.
func (w *serverOutput) dropTail() {
	if over := len(w.tail) - keptOutput; over > 0 {
		w.left += over
		w.tail = append(w.tail[:0], w.tail[over:]...)
	}
}

// lines returns the non-empty lines. If there are too many, one line in their middle says how much is left out. If the
// server overwrote a line with carriage returns, lines returns its last version.
func (w *serverOutput) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	redact := w.redact
	if redact == nil {
		redact = func(text string) string { return text }
	}
	w.dropTail()
	if w.left == 0 {
		text := redact(string(w.head) + string(w.tail))
		if len(text) <= 2*shownOutput {
			return outputLines(text)
		}
		return shortened(text[:shownOutput], text[len(text)-shownOutput:], len(text)-2*shownOutput)
	}
	// Half a secret, where bytes are missing, is not found: show nothing that is close to these bytes.
	head, tail := redact(string(w.head)), redact(string(w.tail))
	end := min(shownOutput, max(0, len(head)-shownOutput))
	start := max(len(tail)-shownOutput, min(len(tail), shownOutput))
	return shortened(head[:end], tail[start:], w.left+len(head)-end+start)
}

// shortened returns the lines of two texts, and a line between them that says how many bytes are left out.
func shortened(head, tail string, left int) []string {
	if i := strings.LastIndexByte(head, '\n'); i >= 0 { // whole lines
		left += len(head) - i
		head = head[:i]
	}
	if _, rest, cut := strings.Cut(tail, "\n"); cut && strings.TrimSpace(rest) != "" {
		left += len(tail) - len(rest)
		tail = rest
	}
	gap := fmt.Sprintf("[… %d bytes left out …]", left)
	return append(append(outputLines(strings.ToValidUTF8(head, "")), gap), outputLines(strings.ToValidUTF8(tail, ""))...)
}

// outputLines returns the non-empty lines of a text.
func outputLines(text string) (all []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r ")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		line = strings.TrimSpace(line)
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}
