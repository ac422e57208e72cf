// Package digest names inputs by their content: what has the same digest is the same, so that what was made of it need not
// be made again.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Digest is the SHA-256 of inputs. The zero Digest is of what is not all known yet: it is equal to nothing, itself
// included.
type Digest [sha256.Size]byte

// IsZero reports whether d is of what is not all known.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Writer collects inputs. Each part is written with its length, so that no two sequences of parts read the same.
type Writer struct {
	hash    hash.Hash
	part    []byte
	unknown bool
}

// New begins a digest of inputs of a kind: the same parts of another kind have another digest.
func New(kind string) *Writer {
	w := &Writer{hash: sha256.New()}
	w.Text(kind)
	return w
}

// Text adds a text. With one that is [fleet.Unknown] the digest is zero.
func (w *Writer) Text(text string) {
	w.unknown = w.unknown || fleet.IsUnknown(text)
	w.count(len(text))
	w.part = append(w.part, text...)
	w.flush()
}

// Texts adds texts, their number and order included.
func (w *Writer) Texts(texts []string) {
	w.count(len(texts))
	for _, text := range texts {
		w.Text(text)
	}
}

// Map adds the keys and values of m in whatever order it has them.
func (w *Writer) Map(m map[string]string) {
	w.count(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		w.Text(k)
		w.Text(m[k])
	}
}

// Digest adds what d is of. With a zero one the digest is zero.
func (w *Writer) Digest(d Digest) {
	w.unknown = w.unknown || d.IsZero()
	w.part = append(w.part, d[:]...)
	w.flush()
}

// Sum is the digest of all that was added.
func (w *Writer) Sum() (d Digest) {
	w.flush()
	if !w.unknown {
		w.hash.Sum(d[:0])
	}
	return d
}

func (w *Writer) count(n int) { w.part = binary.AppendUvarint(w.part, uint64(n)) } //nolint:gosec // not negative

func (w *Writer) flush() {
	w.hash.Write(w.part)
	w.part = w.part[:0]
}
