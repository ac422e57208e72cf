package gitremote

import (
	"encoding/binary"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// delta is an object stored as its difference from another one, its base.
type delta struct {
	at    int64 // offset of the delta
	base  deltaBase
	edits []byte
}

// deltaBase refers to the base of a delta by its offset in the pack or, if that is 0, by its hash.
type deltaBase struct {
	at   int64
	hash plumbing.Hash
}

// release makes the deltas ready that wait for a base.
func (p *packDecoder) release(base deltaBase) {
	p.ready = append(p.ready, p.pending[base]...)
	delete(p.pending, base)
}

// applyReady applies the deltas whose base came after them. It applies each delta once, so the work grows linearly with
// their number.
func (p *packDecoder) applyReady() error {
	for n := len(p.ready) - 1; n >= 0; n = len(p.ready) - 1 {
		d := p.ready[n]
		p.ready[n] = delta{} // frees its memory
		p.ready = p.ready[:n]
		if err := p.apply(d); err != nil {
			return err
		}
	}
	return nil
}

// apply builds the object of a delta, or defers it until its base is read.
func (p *packDecoder) apply(d delta) error {
	h := d.base.hash
	if d.base.at > 0 {
		h = p.at[d.base.at]
	}
	base, here := p.into[h]
	if !here {
		p.pending[d.base] = append(p.pending[d.base], d)
		return nil
	}
	// A delta may copy one byte of its base many million times. Therefore check the result size before applying it.
	size, err := resultSize(d.edits)
	if err != nil {
		return err
	}
	if base.Size > 0 || p.tooLarge(base.Kind, size) { // base content missing, or result not wanted
		p.leftOut = true
		return nil
	}
	if err := p.charge(base.Kind, size); err != nil {
		return err
	}
	content, err := packfile.PatchDelta(base.Content, d.edits)
	if err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	p.sum.Start(base.Kind.String(), int64(len(content)))
	_, _ = p.sum.Write(content)
	return p.put(d.at, Object{Kind: base.Kind, Content: content})
}

// resultSize returns the size of a delta's result, the second of the two sizes at its start. PatchDelta never
// produces more.
func resultSize(edits []byte) (int64, error) {
	_, base := binary.Uvarint(edits)
	size, result := binary.Uvarint(edits[max(base, 0):])
	if base <= 0 || result <= 0 || size > 1<<53 {
		return 0, fmt.Errorf("%w: a delta has no valid size", errPack)
	}
	return int64(size), nil
}
