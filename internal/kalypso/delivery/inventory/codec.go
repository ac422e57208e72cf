package inventory

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// StoredTargets contains all lists of targets of a stored state. Most folders have targets of the same names, so each
// name is stored once. Hashes can't be compressed, so they are kept apart.
type StoredTargets struct {
	Names []string `json:"names,omitempty"`
	// Lists contains one list after another. A list begins with twice the number of its targets, plus one if it has
	// whole hashes. Each target is twice the distance of its name in Names from the one after the last name, plus one if
	// all its files are empty.
	Lists []byte `json:"lists,omitempty"`

	Hashes []byte         `json:"-"` // of all targets: whole, or [ShortHash]
	known  map[string]int // the indices of Names, while targets are added
}

// Add adds a list at the end.
func (s *StoredTargets) Add(targets []Target) {
	whole := slices.ContainsFunc(targets, func(t Target) bool { return t.FullHash != tree.Hash{} })
	s.Lists = binary.AppendUvarint(s.Lists, uint64(len(targets))<<1|bit(whole)) //nolint:gosec // not negative
	next := 0
	for _, t := range targets {
		at := s.indexOf(t.Name, next)
		s.Lists = binary.AppendVarint(s.Lists, int64(at-next)<<1|int64(bit(t.Empty))) //nolint:gosec // 0 or 1
		next = at + 1
		hash := t.FullHash
		copy(hash[:], t.Hash[:])
		s.Hashes = append(s.Hashes, hash[:hashSize(whole)]...)
	}
}

// indexOf returns the index of a name, and adds it if it is new. likely is looked at first.
func (s *StoredTargets) indexOf(name string, likely int) int {
	if likely < len(s.Names) && s.Names[likely] == name {
		return likely
	}
	at, ok := s.known[name]
	if !ok {
		if s.known == nil {
			s.known = map[string]int{}
		}
		at = len(s.Names)
		s.Names, s.known[name] = append(s.Names, name), at
	}
	return at
}

// ErrTargets means that stored targets do not have the form of this version.
var ErrTargets = errors.New("not the names and the hashes of deployment targets")

// Next removes the next list, and returns it; nil if it is empty.
func (s *StoredTargets) Next() ([]Target, error) {
	count, n := binary.Uvarint(s.Lists)
	whole := count&1 == 1
	size := hashSize(whole)
	count >>= 1
	if n <= 0 || count > uint64(len(s.Hashes)/size) {
		return nil, ErrTargets
	}
	s.Lists = s.Lists[n:]
	if count == 0 {
		return nil, nil
	}
	targets := make([]Target, count)
	next := int64(0)
	for i := range targets {
		distance, n := binary.Varint(s.Lists)
		at := next + distance>>1
		if n <= 0 || at < 0 || at >= int64(len(s.Names)) {
			return nil, ErrTargets
		}
		s.Lists, next = s.Lists[n:], at+1
		t, hash := &targets[i], s.Hashes[i*size:(i+1)*size]
		t.Name, t.Empty = s.Names[at], distance&1 == 1
		copy(t.Hash[:], hash)
		if whole && slices.ContainsFunc(hash[len(t.Hash):], func(b byte) bool { return b != 0 }) {
			copy(t.FullHash[:], hash)
		}
	}
	s.Hashes = s.Hashes[len(targets)*size:]
	return targets, nil
}

func hashSize(whole bool) int {
	if whole {
		return len(tree.Hash{})
	}
	return len(ShortHash{})
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
