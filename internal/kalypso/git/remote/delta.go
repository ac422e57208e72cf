package remote

import (
	"encoding/binary"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// delta is an object stored as its difference from another one, its base. It refers to the base by offset in the pack
// or, if that is 0, by hash.
type delta struct {
	at     int64 // offset of the delta
	baseAt int64
	base   plumbing.Hash
	edits  []byte
}

// pendingDeltas are deltas whose base has not been read yet.
type pendingDeltas struct {
	byOffset map[int64][]delta
	byHash   map[plumbing.Hash][]delta
}

func (w *pendingDeltas) add(d delta) {
	if d.baseAt > 0 {
		w.byOffset[d.baseAt] = append(w.byOffset[d.baseAt], d)
	} else {
		w.byHash[d.base] = append(w.byHash[d.base], d)
	}
}

// take removes and returns the deltas pending under a key.
func take[K comparable](pending map[K][]delta, key K) []delta {
	ready := pending[key]
	delete(pending, key)
	return ready
}

func (w *pendingDeltas) empty() bool { return len(w.byOffset) == 0 && len(w.byHash) == 0 }

// resolve applies the deltas whose base came after them. It applies each delta once, so the work grows linearly with
// their number.
func (p *packDecoder) resolve() error {
	var ready []delta
	for h := range p.pending.byHash {
		if _, here := p.into[h]; here {
			ready = append(ready, take(p.pending.byHash, h)...)
		}
	}
	for len(ready) > 0 {
		d := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if err := p.apply(d); err != nil {
			return err
		}
		ready = append(ready, take(p.pending.byOffset, d.at)...)
		if h, kept := p.at[d.at]; kept {
			ready = append(ready, take(p.pending.byHash, h)...)
		}
	}
	if !p.pending.empty() && len(p.dropped) == 0 { // otherwise their bases were dropped
		return fmt.Errorf("%w: the base of a delta is missing", errPack)
	}
	return nil
}

// apply builds the object of a delta, or defers it until its base is read.
func (p *packDecoder) apply(d delta) error {
	if d.baseAt > 0 {
		if p.dropped[d.baseAt] {
			p.dropped[d.at] = true
			return nil
		}
		d.base = p.at[d.baseAt]
	}
	base, here := p.into[d.base]
	if !here {
		p.pending.add(d)
		return nil
	}
	// A delta may copy one byte of its base many million times. Therefore check the result size before applying it.
	size, err := resultSize(d.edits)
	if err != nil {
		return err
	}
	if base.Size > 0 || p.tooLarge(base.Kind, size) { // base content missing, or result not wanted
		p.dropped[d.at] = true
		return nil
	}
	if err := p.charge(base.Kind, size); err != nil {
		return err
	}
	content, err := packfile.PatchDelta(base.Content, d.edits)
	if err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	return p.keep(d.at, base.Kind, content)
}

// resultSize returns the size of a delta's result, the second of the two sizes at its start. PatchDelta never
// produces more.
func resultSize(edits []byte) (int64, error) {
	_, n := binary.Uvarint(edits)
	if n <= 0 {
		return 0, fmt.Errorf("%w: a delta has no valid size", errPack)
	}
	size, n := binary.Uvarint(edits[n:])
	if n <= 0 || size > 1<<53 {
		return 0, fmt.Errorf("%w: a delta has no valid size", errPack)
	}
	return int64(size), nil
}
