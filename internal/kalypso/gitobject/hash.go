// Package gitobject encodes Git's objects and names them. Its rules are those of the chapter "Git Objects" of Git's book.
package gitobject

import (
	"crypto/sha1" // Git names objects with it
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/pjbgf/sha1cd"
)

// Size is the length of a hash, bytes.
const Size = sha1.Size

// Hash is the name of an object: the SHA-1 of its kind, size and content.
type Hash [Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h is no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// The kinds of objects that have a content of ours.
const (
	Blob   = "blob"
	Tree   = "tree"
	Commit = "commit"
)

// NewChecksum returns the sum that ends a pack. It protects from accidents alone.
func NewChecksum() hash.Hash { return sha1.New() }

// Hasher names objects that we made. Those of others are named by [UntrustedHasher]. It is not for concurrent use.
type Hasher struct {
	sum    hash.Hash
	header []byte
	tree   []byte
}

// NewHasher returns a hasher.
func NewHasher() *Hasher { return &Hasher{sum: sha1.New()} }

// Object is the name of an object of a kind, such as [Blob].
func (h *Hasher) Object(kind string, content []byte) (name Hash) {
	h.header = appendHeader(h.header[:0], kind, int64(len(content)))
	h.sum.Reset()
	_, _ = h.sum.Write(h.header)
	_, _ = h.sum.Write(content)
	h.sum.Sum(name[:0])
	return name
}

// Tree is the name of the tree with these entries, which it sorts.
func (h *Hasher) Tree(entries []Entry[Hash]) Hash {
	SortTree(entries)
	h.tree = AppendTree(h.tree[:0], entries)
	return h.Object(Tree, h.tree)
}

// UntrustedHasher names objects that others made. SHA-1 is broken: whoever makes two contents together can give them
// the same name. The hasher detects such contents. It is not for concurrent use.
type UntrustedHasher struct {
	sha1cd.CollisionResistantHash
	header []byte
}

// NewUntrustedHasher returns a hasher.
func NewUntrustedHasher() *UntrustedHasher {
	sum, _ := sha1cd.New().(sha1cd.CollisionResistantHash)
	return &UntrustedHasher{CollisionResistantHash: sum}
}

// Start begins an object of a kind and a size in bytes. Write its content next.
func (h *UntrustedHasher) Start(kind string, size int64) {
	h.header = appendHeader(h.header[:0], kind, size)
	h.Reset()
	_, _ = h.Write(h.header)
}

// Name is the name of what was written since Start. attack reports whether the content was made to share its name with
// another one; such a name must not be used.
func (h *UntrustedHasher) Name() (name Hash, attack bool) {
	_, attack = h.CollisionResistantSum(name[:0])
	return name, attack
}

// appendHeader appends what stands before the content of an object when it is named.
func appendHeader(b []byte, kind string, size int64) []byte {
	b = append(append(b, kind...), ' ')
	return append(strconv.AppendInt(b, size, 10), 0)
}
