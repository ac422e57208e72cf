package gitremote

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // Git names objects with it
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
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

// unpack reads a pack into objects. It keeps no more than most bytes, and the
// content of no blob that is larger than maxBlob, unless that is 0.
//
// go-git's parser takes four times as long for the many small trees that this
// is about: it keeps offsets, checksums and positions for an index.
func unpack(r io.Reader, most, maxBlob int64, into Objects) error {
	u := &unpacker{
		in:   packReader{r: r, buf: make([]byte, 64<<10), sum: sha1.New()},
		left: most, maxBlob: maxBlob, into: into, at: map[int64]plumbing.Hash{}, dropped: map[int64]bool{}, copying: make([]byte, 32<<10),
	}
	return u.run()
}

type unpacker struct {
	in      packReader
	z       inflater
	left    int64
	maxBlob int64
	into    Objects
	at      map[int64]plumbing.Hash // where in the pack an object starts
	late    []lateDelta             // whose base was not there yet
	dropped map[int64]bool          // where a delta starts that has no base, as that is too large
	sum     hash.Hash
	head    []byte
	copying []byte
}

// lateDelta names its base by its place in the pack or, where that is 0, by
// its hash.
type lateDelta struct {
	at     int64
	baseAt int64
	base   plumbing.Hash
	delta  []byte
}

func (u *unpacker) run() error {
	var head [12]byte
	if _, err := io.ReadFull(&u.in, head[:]); err != nil {
		return err
	}
	if string(head[:8]) != "PACK\x00\x00\x00\x02" {
		return fmt.Errorf("%w: it does not start as one", errPack)
	}
	u.sum = sha1.New()
	for range binary.BigEndian.Uint32(head[8:]) {
		if err := u.object(); err != nil {
			return err
		}
	}
	if err := u.in.checkSum(); err != nil {
		return err
	}
	return u.resolve()
}

// resolve works off the deltas whose base came after them.
func (u *unpacker) resolve() error {
	for len(u.late) > 0 {
		waiting := u.late
		u.late = nil
		for _, d := range waiting {
			if err := u.patch(d); err != nil {
				return err
			}
		}
		if len(u.late) == len(waiting) {
			if len(u.dropped) > 0 {
				return nil // their bases, named by what they hold, were dropped
			}
			return fmt.Errorf("%w: the base of a delta is missing", errPack)
		}
	}
	return nil
}

func (u *unpacker) object() error {
	start := u.in.offset()
	kind, size, err := u.header()
	if err != nil {
		return err
	}
	d := lateDelta{at: start}
	switch kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		if u.tooLarge(kind, size) {
			return u.drop(start, size)
		}
		content, err := u.inflate(size)
		if err != nil {
			return err
		}
		u.keep(start, kind, content)
		return nil
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
	if d.delta, err = u.inflate(size); err != nil {
		return err
	}
	return u.patch(d)
}

func (u *unpacker) patch(d lateDelta) error {
	if d.baseAt > 0 {
		if u.dropped[d.baseAt] {
			u.dropped[d.at] = true
			return nil
		}
		d.base = u.at[d.baseAt]
	}
	base, ok := u.into[d.base]
	if !ok {
		u.late = append(u.late, d)
		return nil
	}
	if base.Size > 0 { // which was not kept; what is told by its difference from it is not kept either
		u.dropped[d.at] = true
		return nil
	}
	content, err := packfile.PatchDelta(base.Content, d.delta)
	if err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	if u.left -= int64(len(content)); u.left < 0 {
		return ErrTooLarge
	}
	u.keep(d.at, base.Kind, content)
	return nil
}

func (u *unpacker) keep(at int64, kind plumbing.ObjectType, content []byte) {
	u.name(kind, int64(len(content)))
	_, _ = u.sum.Write(content)
	o := Object{Kind: kind, Content: content}
	if u.tooLarge(kind, int64(len(content))) {
		u.left += int64(len(content))
		o = Object{Kind: kind, Size: int64(len(content))}
	}
	u.put(at, o)
}

// name starts the sum that is an object's name.
func (u *unpacker) name(kind plumbing.ObjectType, size int64) {
	u.head = append(append(u.head[:0], kind.Bytes()...), ' ')
	u.head = append(strconv.AppendInt(u.head, size, 10), 0)
	u.sum.Reset()
	_, _ = u.sum.Write(u.head)
}

// put stores an object under its name, the sum of all that was written to it.
func (u *unpacker) put(at int64, o Object) {
	var h plumbing.Hash
	u.sum.Sum(h[:0])
	u.into[h] = o
	u.at[at] = h
}

func (u *unpacker) tooLarge(kind plumbing.ObjectType, size int64) bool {
	return kind == plumbing.BlobObject && u.maxBlob > 0 && size > u.maxBlob
}

// drop reads a blob for its name alone.
func (u *unpacker) drop(at, size int64) error {
	if err := u.startInflate(); err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	u.name(plumbing.BlobObject, size)
	n, err := io.Copy(u.sum, io.LimitReader(u.z, size+1))
	if err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	if n != size {
		return fmt.Errorf("%w: an object is not as long as it says", errPack)
	}
	u.put(at, Object{Kind: plumbing.BlobObject, Size: size})
	return nil
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
func (u *unpacker) inflate(size int64) ([]byte, error) {
	if u.left -= size; u.left < 0 {
		return nil, ErrTooLarge
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

// packReader reads a pack byte by byte, never beyond what is asked for, and
// sums what was read.
type packReader struct {
	r        io.Reader
	buf      []byte
	pos, end int
	before   int64 // bytes of the pack before buf
	sum      hash.Hash
}

func (p *packReader) offset() int64 { return p.before + int64(p.pos) }

func (p *packReader) fill() error {
	if p.pos < p.end {
		return nil
	}
	_, _ = p.sum.Write(p.buf[:p.end])
	p.before += int64(p.end)
	p.pos, p.end = 0, 0
	for p.end == 0 {
		n, err := p.r.Read(p.buf)
		p.end = n
		if n == 0 && err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if n == 0 && err != nil {
			return err
		}
	}
	return nil
}

func (p *packReader) ReadByte() (byte, error) {
	if err := p.fill(); err != nil {
		return 0, err
	}
	p.pos++
	return p.buf[p.pos-1], nil
}

func (p *packReader) Read(b []byte) (int, error) {
	if err := p.fill(); err != nil {
		return 0, err
	}
	n := copy(b, p.buf[p.pos:p.end])
	p.pos += n
	return n, nil
}

// checkSum reads the sum at the end of the pack.
func (p *packReader) checkSum() error {
	_, _ = p.sum.Write(p.buf[:p.pos])
	copy(p.buf, p.buf[p.pos:p.end])
	p.before, p.pos, p.end = p.offset(), 0, p.end-p.pos
	want := p.sum.Sum(nil)
	var got [sha1.Size]byte
	if _, err := io.ReadFull(p, got[:]); err != nil {
		return err
	}
	if !bytes.Equal(got[:], want) {
		return fmt.Errorf("%w: its checksum is another", errPack)
	}
	return nil
}
