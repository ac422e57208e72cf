package remote

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
)

// Object is a Git object.
type Object struct {
	Kind    plumbing.ObjectType // commit, tree, blob or tag
	Content []byte
	Size    int64 // of a blob too large to keep, in bytes; 0: Content is complete
}

// Objects are objects by their hashes.
type Objects map[plumbing.Hash]Object

// errPack means that a pack violates its format.
var errPack = errors.New("the server sent an invalid pack")

// maxCommit is the size of the largest commit or tag accepted, in bytes. Both are small: names, a message, a
// signature.
const maxCommit = 4 << 20

// perObject is the memory of an object besides its content, in bytes.
const perObject = 64

// unpack reads a pack into objects. It keeps at most most bytes, and no content of blobs larger than maxBlob, unless
// that is 0. It checks each size before it decompresses an object or applies a delta.
//
// go-git's parser has no such bounds, and takes two to three times the time and memory (BenchmarkUnpack), since it
// prepares an index of the pack.
func unpack(r io.Reader, most, maxBlob int64, into Objects) error {
	return newPackDecoder(r, most, maxBlob, into).run()
}

func newPackDecoder(r io.Reader, most, maxBlob int64, into Objects) *packDecoder {
	return &packDecoder{
		in:   newPackReader(r),
		left: most, maxObjects: most / perObject, maxBlob: maxBlob, into: into,
		at: map[int64]plumbing.Hash{}, dropped: map[int64]bool{}, copying: make([]byte, 32<<10),
		pending: pendingDeltas{map[int64][]delta{}, map[plumbing.Hash][]delta{}},
		sum:     gitobject.NewUntrustedHasher(),
	}
}

type packDecoder struct {
	in         packReader
	z          inflater
	left       int64 // bytes left to keep
	maxObjects int64
	maxBlob    int64
	into       Objects
	at         map[int64]plumbing.Hash // hashes by offset in the pack
	pending    pendingDeltas
	dropped    map[int64]bool // offsets of skipped deltas: base or result too large
	sum        *gitobject.UntrustedHasher
	copying    []byte
}

func (p *packDecoder) run() error {
	var head [12]byte
	if _, err := io.ReadFull(&p.in, head[:]); err != nil {
		return err
	}
	if string(head[:8]) != "PACK\x00\x00\x00\x02" {
		return fmt.Errorf("%w: wrong signature", errPack)
	}
	count := binary.BigEndian.Uint32(head[8:])
	if int64(count) > p.maxObjects {
		return ErrTooLarge
	}
	for range count {
		if err := p.object(); err != nil {
			return err
		}
	}
	if err := p.in.checkSum(); err != nil {
		return err
	}
	return p.resolve()
}

func (p *packDecoder) object() error {
	start := p.in.offset()
	kind, size, err := p.header()
	if err != nil {
		return err
	}
	d := delta{at: start}
	switch kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		if p.tooLarge(kind, size) {
			return p.drop(start, size)
		}
		content, err := p.inflate(kind, size)
		if err != nil {
			return err
		}
		return p.keep(start, kind, content)
	case plumbing.OFSDeltaObject:
		back, err := p.distance()
		if err != nil {
			return err
		}
		if d.baseAt = start - back; d.baseAt <= 0 || back <= 0 {
			return fmt.Errorf("%w: a delta without a base", errPack)
		}
	case plumbing.REFDeltaObject:
		if _, err := io.ReadFull(&p.in, d.base[:]); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: unknown object type %d", errPack, kind)
	}
	if d.edits, err = p.inflate(kind, size); err != nil {
		return err
	}
	return p.apply(d)
}

// charge subtracts the size of an object from the bytes left.
func (p *packDecoder) charge(kind plumbing.ObjectType, size int64) error {
	named := kind == plumbing.CommitObject || kind == plumbing.TagObject
	if p.left -= size; p.left < 0 || named && size > maxCommit {
		return ErrTooLarge
	}
	return nil
}

func (p *packDecoder) keep(at int64, kind plumbing.ObjectType, content []byte) error {
	p.sum.Start(kind.String(), int64(len(content)))
	_, _ = p.sum.Write(content)
	return p.put(at, Object{Kind: kind, Content: content})
}

// put stores an object under the hash of the data written to it.
func (p *packDecoder) put(at int64, o Object) error {
	name, attack := p.sum.Name()
	if attack {
		return ErrCollision
	}
	h := plumbing.Hash(name)
	p.into[h] = o
	p.at[at] = h
	return nil
}

func (p *packDecoder) tooLarge(kind plumbing.ObjectType, size int64) bool {
	return kind == plumbing.BlobObject && p.maxBlob > 0 && size > p.maxBlob
}

// drop hashes a blob without keeping its content.
func (p *packDecoder) drop(at, size int64) error {
	if err := p.startInflate(); err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	p.sum.Start(gitobject.Blob, size)
	n, err := io.Copy(p.sum, io.LimitReader(p.z, size+1))
	if err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	if n != size {
		return fmt.Errorf("%w: an object has the wrong length", errPack)
	}
	return p.put(at, Object{Kind: plumbing.BlobObject, Size: size})
}

// header reads the kind and the size of an object: four bits of the size in the first byte, seven in each following
// byte, lowest bits first.
func (p *packDecoder) header() (plumbing.ObjectType, int64, error) {
	c, err := p.in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size := plumbing.ObjectType(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = p.in.ReadByte(); err != nil {
			return 0, 0, err
		}
		if shift > 53 {
			return 0, 0, fmt.Errorf("%w: an object without a size", errPack)
		}
		size |= int64(c&0x7f) << shift
	}
	return kind, size, nil
}

// distance reads the distance from a delta back to its base.
func (p *packDecoder) distance() (int64, error) {
	c, err := p.in.ReadByte()
	if err != nil {
		return 0, err
	}
	back := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = p.in.ReadByte(); err != nil {
			return 0, err
		}
		if back > 1<<53 {
			return 0, fmt.Errorf("%w: a delta without a base", errPack)
		}
		back = (back+1)<<7 | int64(c&0x7f)
	}
	return back, nil
}

// inflate decompresses content of known size.
func (p *packDecoder) inflate(kind plumbing.ObjectType, size int64) ([]byte, error) {
	if err := p.charge(kind, size); err != nil {
		return nil, err
	}
	if err := p.startInflate(); err != nil {
		return nil, fmt.Errorf("%w: %w", errPack, err)
	}
	// A false size must not allocate memory.
	var b bytes.Buffer
	b.Grow(int(min(size, 1<<20)))
	// Most objects are small. Buffer.ReadFrom would allocate half a KiB more than each needs.
	n, err := io.CopyBuffer(struct{ io.Writer }{&b}, io.LimitReader(p.z, size+1), p.copying)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPack, err)
	}
	if n != size {
		return nil, fmt.Errorf("%w: an object has the wrong length", errPack)
	}
	return b.Bytes(), nil
}

// inflater is zlib's reader, reused for all objects.
type inflater interface {
	io.Reader
	zlib.Resetter
}

func (p *packDecoder) startInflate() error {
	if p.z != nil {
		return p.z.Reset(&p.in, nil)
	}
	z, err := zlib.NewReader(&p.in)
	if err != nil {
		return err
	}
	var ok bool
	if p.z, ok = z.(inflater); !ok {
		return errors.New("zlib's reader cannot be reused")
	}
	return nil
}
