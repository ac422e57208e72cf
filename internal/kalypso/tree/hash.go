package tree

import (
	"crypto/sha1" //nolint:gosec // Git's object names are SHA-1
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
	"strings"
)

// Hash is the name of a Git object.
type Hash [sha1.Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h is no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// entry is an entry of a Git tree.
type entry struct {
	name   string
	folder bool
	hash   Hash
}

// hasher computes the names of Git objects.
type hasher struct {
	sha hash.Hash
	buf []byte
}

func newHasher() *hasher { return &hasher{sha: sha1.New()} } //nolint:gosec // as above

func (h *hasher) object(kind string, content []byte) (sum Hash) {
	h.sha.Reset()
	header := append(h.buf[:0], kind...)
	header = append(header, ' ')
	header = strconv.AppendInt(header, int64(len(content)), 10)
	header = append(header, 0)
	h.buf = header
	h.sha.Write(header)
	h.sha.Write(content)
	h.sha.Sum(sum[:0])
	return sum
}

func (h *hasher) blob(content []byte) Hash { return h.object("blob", content) }

// tree is the name of the tree with these entries, in any order.
func (h *hasher) tree(entries []entry) Hash { return h.object("tree", raw(entries)) }

// raw is the tree with these entries, which it sorts, as Git keeps it.
func raw(entries []entry) []byte {
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.sortName(), b.sortName()) })
	var content []byte
	for _, e := range entries {
		mode := "100644 "
		if e.folder {
			mode = "40000 "
		}
		content = append(content, mode...)
		content = append(content, e.name...)
		content = append(content, 0)
		content = append(content, e.hash[:]...)
	}
	return content
}

// sortName is the name by which Git sorts the entry: folders as if they ended in a slash.
func (e entry) sortName() string {
	if e.folder {
		return e.name + "/"
	}
	return e.name
}
