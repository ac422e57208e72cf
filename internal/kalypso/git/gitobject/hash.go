// Package gitobject encodes and hashes Git objects, by the rules in the chapter "Git Objects" of the Git book.
package gitobject

import (
	"crypto/sha1" // Git names objects with it
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/pjbgf/sha1cd"
)

// Size is the length of a hash, in bytes.
const Size = sha1.Size

// Hash is the hash of an object: the SHA-1 of its kind, size and content.
type Hash [Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h is the zero hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// The kinds of objects that this program writes.
const (
	Blob   = "blob"
	Tree   = "tree"
	Commit = "commit"
)

// NewChecksum returns the checksum at the end of a pack. It only protects against accidents.
func NewChecksum() hash.Hash { return sha1.New() }

// Hasher hashes objects that this program made. Use [UntrustedHasher] for all other objects. It is not safe for
// concurrent use.
type Hasher struct {
	object []byte // the last object with its header, because hashing both in one piece is faster
	tree   []byte
}

// NewHasher returns a hasher.
func NewHasher() *Hasher { return &Hasher{} }

// Object returns the hash of an object of a kind, such as [Blob].
func (h *Hasher) Object(kind string, content []byte) Hash {
	h.object = append(appendHeader(h.object[:0], kind, int64(len(content))), content...)
	return sha1.Sum(h.object)
}

// Tree sorts the entries and returns the hash of their tree.
func (h *Hasher) Tree(entries []Entry[Hash]) Hash {
	SortTree(entries)
	h.tree = AppendTree(h.tree[:0], entries)
	return h.Object(Tree, h.tree)
}

// UntrustedHasher hashes objects from elsewhere. SHA-1 is broken: an attacker can create two contents with the same
// hash. The hasher detects such contents. It is not safe for concurrent use.
type UntrustedHasher struct {
	sha1cd.CollisionResistantHash
	header []byte
}

// NewUntrustedHasher returns a hasher.
func NewUntrustedHasher() *UntrustedHasher {
	sum, _ := sha1cd.New().(sha1cd.CollisionResistantHash)
	return &UntrustedHasher{CollisionResistantHash: sum}
}

// Start begins an object of a kind and a size in bytes. Write its content afterwards.
func (h *UntrustedHasher) Start(kind string, size int64) {
	h.header = appendHeader(h.header[:0], kind, size)
	h.Reset()
	_, _ = h.Write(h.header)
}

// Name returns the hash of the data written since Start. attack reports whether the content is part of a collision;
// do not use its hash then.
func (h *UntrustedHasher) Name() (name Hash, attack bool) {
	_, attack = h.CollisionResistantSum(name[:0])
	return name, attack
}

// appendHeader appends the header that Git hashes before the content of an object.
func appendHeader(b []byte, kind string, size int64) []byte {
	b = append(append(b, kind...), ' ')
	return append(strconv.AppendInt(b, size, 10), 0)
}
