package gitremote

import (
	"encoding/binary"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// delta is an object that a pack gives as its difference from another, its base. It names the base by its offset in
// the pack or, if that is 0, by its hash.
type delta struct {
	at     int64 // its own offset
	baseAt int64
	base   plumbing.Hash
	edits  []byte
}

// waiting are the deltas whose base was not read yet.
type waiting struct {
	onOffset map[int64][]delta
	onHash   map[plumbing.Hash][]delta
}

func (w *waiting) add(d delta) {
	if d.baseAt > 0 {
		w.onOffset[d.baseAt] = append(w.onOffset[d.baseAt], d)
	} else {
		w.onHash[d.base] = append(w.onHash[d.base], d)
	}
}

// take removes and returns the deltas that waited under a key.
func take[K comparable](waiting map[K][]delta, key K) []delta {
	ready := waiting[key]
	delete(waiting, key)
	return ready
}

func (w *waiting) empty() bool { return len(w.onOffset) == 0 && len(w.onHash) == 0 }

// resolve applies the deltas whose base came after them, each once: the work grows with their number, not with its
// square.
func (u *unpacker) resolve() error {
	var ready []delta
	for h := range u.waiting.onHash {
		if _, here := u.into[h]; here {
			ready = append(ready, take(u.waiting.onHash, h)...)
		}
	}
	for len(ready) > 0 {
		d := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if err := u.apply(d); err != nil {
			return err
		}
		ready = append(ready, take(u.waiting.onOffset, d.at)...)
		if h, kept := u.at[d.at]; kept {
			ready = append(ready, take(u.waiting.onHash, h)...)
		}
	}
	if !u.waiting.empty() && len(u.dropped) == 0 { // else their bases, named by their content, were dropped
		return fmt.Errorf("%w: the base of a delta is missing", errPack)
	}
	return nil
}

// apply makes the object that a delta describes, or puts the delta off until its base is read.
func (u *unpacker) apply(d delta) error {
	if d.baseAt > 0 {
		if u.dropped[d.baseAt] {
			u.dropped[d.at] = true
			return nil
		}
		d.base = u.at[d.baseAt]
	}
	base, here := u.into[d.base]
	if !here {
		u.waiting.add(d)
		return nil
	}
	// The edits of a delta may copy one byte of the base many million times, so the size is checked before any is
	// applied.
	size, err := resultSize(d.edits)
	if err != nil {
		return err
	}
	if base.Size > 0 || u.tooLarge(base.Kind, size) { // its content would be needed, or is not wanted
		u.dropped[d.at] = true
		return nil
	}
	if err := u.charge(base.Kind, size); err != nil {
		return err
	}
	content, err := packfile.PatchDelta(base.Content, d.edits)
	if err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	return u.keep(d.at, base.Kind, content)
}

// resultSize reads how large the result of a delta is: the second of the two sizes at its start. PatchDelta makes
// no more.
func resultSize(edits []byte) (int64, error) {
	_, n := binary.Uvarint(edits)
	if n <= 0 {
		return 0, fmt.Errorf("%w: a delta with no size", errPack)
	}
	size, n := binary.Uvarint(edits[n:])
	if n <= 0 || size > 1<<53 {
		return 0, fmt.Errorf("%w: a delta with no size", errPack)
	}
	return int64(size), nil
}
