package gitremote

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
)

// Object is an object as Git stores it.
type Object struct {
	Kind    plumbing.ObjectType // commit, tree, blob or tag
	Content []byte
	Size    int64 // of a blob that was too large to keep; 0: Content is all of it
}

// Objects are objects by their names.
type Objects map[plumbing.Hash]Object

// errPack is a pack that breaks the rules of its format.
var errPack = errors.New("the server sent a broken pack")

// maxCommit is the size of the largest commit or tag that is read, bytes. Both are small: names, a message, a
// signature.
const maxCommit = 4 << 20

// perObject is what an object takes in memory beside its content, bytes.
const perObject = 64

// unpack reads a pack into objects. It keeps no more than most bytes, and the
// content of no blob that is larger than maxBlob, unless that is 0. Nothing is
// decompressed, or made of a delta, before its size is known to fit.
//
// go-git's parser has no such bounds, and takes two to three times as long and
// as much memory (BenchmarkUnpack): it keeps what an index of the pack needs.
func unpack(r io.Reader, most, maxBlob int64, into Objects) error {
	return newUnpacker(r, most, maxBlob, into).run()
}

func newUnpacker(r io.Reader, most, maxBlob int64, into Objects) *unpacker {
	return &unpacker{
		in:   newPackReader(r),
		left: most, maxObjects: most / perObject, maxBlob: maxBlob, into: into,
		at: map[int64]plumbing.Hash{}, dropped: map[int64]bool{}, copying: make([]byte, 32<<10),
		waiting: waiting{map[int64][]delta{}, map[plumbing.Hash][]delta{}},
		sum:     gitobject.NewUntrustedHasher(),
	}
}

type unpacker struct {
	in         packReader
	z          inflater
	left       int64 // bytes that may still be kept
	maxObjects int64
	maxBlob    int64
	into       Objects
	at         map[int64]plumbing.Hash // objects by their offset in the pack
	waiting    waiting
	dropped    map[int64]bool // offsets of deltas that were not applied, as their base or result is too large
	sum        *gitobject.UntrustedHasher
	copying    []byte
}

func (u *unpacker) run() error {
	var head [12]byte
	if _, err := io.ReadFull(&u.in, head[:]); err != nil {
		return err
	}
	if string(head[:8]) != "PACK\x00\x00\x00\x02" {
		return fmt.Errorf("%w: it does not start as one", errPack)
	}
	count := binary.BigEndian.Uint32(head[8:])
	if int64(count) > u.maxObjects {
		return ErrTooLarge
	}
	for range count {
		if err := u.object(); err != nil {
			return err
		}
	}
	if err := u.in.checkSum(); err != nil {
		return err
	}
	return u.resolve()
}

func (u *unpacker) object() error {
	start := u.in.offset()
	kind, size, err := u.header()
	if err != nil {
		return err
	}
	d := delta{at: start}
	switch kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		if u.tooLarge(kind, size) {
			return u.drop(start, size)
		}
		content, err := u.inflate(kind, size)
		if err != nil {
			return err
		}
		return u.keep(start, kind, content)
	case plumbing.OFSDeltaObject:
		back, err := u.distance()
		if err != nil {
			return err
		}
		if d.baseAt = start - back; d.baseAt <= 0 || back <= 0 {
			return fmt.Errorf("%w: a delta with no base", errPack)
		}
	case plumbing.REFDeltaObject:
		if _, err := io.ReadFull(&u.in, d.base[:]); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: an object of kind %d", errPack, kind)
	}
	if d.edits, err = u.inflate(kind, size); err != nil {
		return err
	}
	return u.apply(d)
}

// charge takes the size of an object from what may still be kept.
func (u *unpacker) charge(kind plumbing.ObjectType, size int64) error {
	named := kind == plumbing.CommitObject || kind == plumbing.TagObject
	if u.left -= size; u.left < 0 || named && size > maxCommit {
		return ErrTooLarge
	}
	return nil
}

func (u *unpacker) keep(at int64, kind plumbing.ObjectType, content []byte) error {
	u.sum.Start(kind.String(), int64(len(content)))
	_, _ = u.sum.Write(content)
	return u.put(at, Object{Kind: kind, Content: content})
}

// put stores an object under its name, the sum of all that was written to it.
func (u *unpacker) put(at int64, o Object) error {
	name, attack := u.sum.Name()
	if attack {
		return ErrCollision
	}
	h := plumbing.Hash(name)
	u.into[h] = o
	u.at[at] = h
	return nil
}

func (u *unpacker) tooLarge(kind plumbing.ObjectType, size int64) bool {
	return kind == plumbing.BlobObject && u.maxBlob > 0 && size > u.maxBlob
}

// drop reads a blob for its name alone.
func (u *unpacker) drop(at, size int64) error {
	if err := u.startInflate(); err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	u.sum.Start(gitobject.Blob, size)
	n, err := io.Copy(u.sum, io.LimitReader(u.z, size+1))
	if err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	if n != size {
		return fmt.Errorf("%w: an object is not as long as it says", errPack)
	}
	return u.put(at, Object{Kind: plumbing.BlobObject, Size: size})
}

// header reads kind and size: four bits of the size in the first byte, seven
// in each that follows, the lowest first.
func (u *unpacker) header() (plumbing.ObjectType, int64, error) {
	c, err := u.in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size := plumbing.ObjectType(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = u.in.ReadByte(); err != nil {
			return 0, 0, err
		}
		if shift > 53 {
			return 0, 0, fmt.Errorf("%w: an object of no size", errPack)
		}
		size |= int64(c&0x7f) << shift
	}
	return kind, size, nil
}

// distance reads how far back the base of a delta starts.
func (u *unpacker) distance() (int64, error) {
	c, err := u.in.ReadByte()
	if err != nil {
		return 0, err
	}
	back := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = u.in.ReadByte(); err != nil {
			return 0, err
		}
		if back > 1<<53 {
			return 0, fmt.Errorf("%w: a delta with no base", errPack)
		}
		back = (back+1)<<7 | int64(c&0x7f)
	}
	return back, nil
}

// inflate reads compressed content whose size is known.
func (u *unpacker) inflate(kind plumbing.ObjectType, size int64) ([]byte, error) {
	if err := u.charge(kind, size); err != nil {
		return nil, err
	}
	if err := u.startInflate(); err != nil {
		return nil, fmt.Errorf("%w: %w", errPack, err)
	}
	// A size that is a lie must not cost its memory.
	var b bytes.Buffer
	b.Grow(int(min(size, 1<<20)))
	// There are many small objects, and what the buffer itself reads takes half a KiB more than it is long.
	n, err := io.CopyBuffer(struct{ io.Writer }{&b}, io.LimitReader(u.z, size+1), u.copying)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPack, err)
	}
	if n != size {
		return nil, fmt.Errorf("%w: an object is not as long as it says", errPack)
	}
	return b.Bytes(), nil
}

// inflater is what zlib's reader is, so that one serves all objects.
type inflater interface {
	io.Reader
	zlib.Resetter
}

func (u *unpacker) startInflate() error {
	if u.z != nil {
		return u.z.Reset(&u.in, nil)
	}
	z, err := zlib.NewReader(&u.in)
	if err != nil {
		return err
	}
	var ok bool
	if u.z, ok = z.(inflater); !ok {
		return errors.New("zlib's reader cannot be used again")
	}
	return nil
}
