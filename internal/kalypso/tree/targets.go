package tree

import (
	"bytes"
	"iter"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
)

// HashSize is the length of a whole hash, bytes.
const HashSize = gitobject.Size

// Targets are the folders of a cluster type's deployment targets, by name, each with the hash of its tree: those of a folder
// that was kept from an earlier run with the beginnings of their hashes alone, perhaps, which are enough to see what changed.
// There are so many of them that they lie in few pieces. Copies share what they hold.
type Targets struct {
	Names  []string
	Hashes []byte // Size bytes of each
	Size   int    // HashSize: they are whole
	Empty  []byte // a bit for each, beginning with the lowest, as far as any is set
}

// Target is the folder of a deployment target.
type Target struct {
	Name  string
	Hash  []byte // as much as is known of it
	Empty bool   // all its files are empty
}

// Add adds a target, whose name sorts after those of the others. It is for targets that are being put together: not for copies
// of others, nor for hashes that were cut.
func (t *Targets) Add(name string, hash Hash, empty bool) {
	i := t.Len()
	t.Names, t.Hashes, t.Size = append(t.Names, name), append(t.Hashes, hash[:]...), HashSize
	if empty {
		t.Empty = append(t.Empty, make([]byte, i/8+1-len(t.Empty))...)
		t.Empty[i/8] |= 1 << (i % 8)
	}
}

// Len is the number of targets.
func (t Targets) Len() int { return len(t.Names) }

// At is the target i.
func (t Targets) At(i int) Target {
	return Target{
		Name:  t.Names[i],
		Hash:  t.Hashes[i*t.Size : (i+1)*t.Size],
		Empty: i/8 < len(t.Empty) && t.Empty[i/8]>>(i%8)&1 == 1,
	}
}

// Whole reports whether the hashes are known to the last byte.
func (t Targets) Whole() bool { return t.Size == HashSize || t.Len() == 0 }

// Cut is t with at most size bytes of each hash.
func (t Targets) Cut(size int) Targets {
	if size >= t.Size {
		return t
	}
	hashes := make([]byte, 0, t.Len()*size)
	for i := range t.Names {
		hashes = append(hashes, t.At(i).Hash[:size]...)
	}
	t.Hashes, t.Size = hashes, size
	return t
}

// Same reports whether the hashes are the same, as far as both are known.
func (t Target) Same(other Target) bool {
	n := min(len(t.Hash), len(other.Hash))
	return bytes.Equal(t.Hash[:n], other.Hash[:n])
}

// Equal reports whether both are the same targets, as far as their hashes are known.
func (t Targets) Equal(other Targets) bool {
	for was, now := range t.Pairs(other) {
		if was == nil || now == nil || !was.Same(*now) || was.Empty != now.Empty {
			return false
		}
	}
	return true
}

// Pairs are the targets of both by name; of a pair, one may be nil.
func (t Targets) Pairs(other Targets) iter.Seq2[*Target, *Target] {
	return func(yield func(was, now *Target) bool) {
		for i, j := 0, 0; i < t.Len() || j < other.Len(); {
			var order int
			switch {
			case i == t.Len():
				order = 1
			case j == other.Len():
				order = -1
			default:
				order = strings.Compare(t.Names[i], other.Names[j])
			}
			var was, now *Target
			if order <= 0 {
				was, i = new(t.At(i)), i+1
			}
			if order >= 0 {
				now, j = new(other.At(j)), j+1
			}
			if !yield(was, now) {
				return
			}
		}
	}
}
