package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
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

// unpack reads a pack into objects. It keeps at most limit bytes. It drops the content of blobs larger than maxBlob,
// unless maxBlob is 0. It checks each size before it decompresses an object or applies a delta.
//
// go-git's scanner reads the pack. Its parser is not used to build the objects, since it cannot be bounded, not even by
// a storage that counts bytes. It unpacks and keeps all deltas before the storage gets the result of the first one: a
// pack of 1 MiB took 1 GiB. It fails at the first delta on a blob that is too large to keep. And it takes two to three
// times the time and memory (BenchmarkUnpack), since it prepares an index of the pack.
func unpack(r io.Reader, limit, maxBlob int64, into Objects) error {
	return newPackDecoder(r, limit, maxBlob, into).run()
}

func newPackDecoder(r io.Reader, limit, maxBlob int64, into Objects) *packDecoder {
	in := &failingReader{r: r}
	return &packDecoder{
		in: in, scanner: packfile.NewScanner(in),
		remaining: limit, maxBlob: maxBlob, into: into,
		at: map[int64]plumbing.Hash{}, pending: map[deltaBase][]delta{}, sum: gitobject.NewUntrustedHasher(),
	}
}

type packDecoder struct {
	in        *failingReader
	scanner   *packfile.Scanner
	remaining int64 // bytes left to keep
	maxBlob   int64
	into      Objects
	at        map[int64]plumbing.Hash // hashes by offset in the pack
	pending   map[deltaBase][]delta   // deltas whose base has not been read, or is left out
	ready     []delta                 // deltas whose base was read after them
	leftOut   bool                    // whether a delta is left out: its base or its result is too large
	sum       *gitobject.UntrustedHasher
}

// failingReader keeps the error of its reader, because the scanner does not wrap all of them.
type failingReader struct {
	r   io.Reader
	err error
}

func (f *failingReader) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	switch {
	case err == io.EOF && n == 0: // the pack ends before its checksum
		f.err = io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		f.err = err
	}
	return n, err
}

// failed returns why the scanner stopped: the error of its reader, or else that the pack violates its format.
func (p *packDecoder) failed(err error) error {
	if p.in.err != nil {
		return p.in.err
	}
	return fmt.Errorf("%w: %w", errPack, err)
}

func (p *packDecoder) run() error {
	_, count, err := p.scanner.Header()
	if err != nil {
		return p.failed(err)
	}
	if int64(count) > p.remaining/perObject {
		return ErrTooLarge
	}
	for range count {
		if err := p.object(); err != nil {
			return err
		}
		if err := p.applyReady(); err != nil {
			return err
		}
	}
	if _, err := p.scanner.Checksum(); err != nil {
		return p.failed(err)
	}
	if len(p.pending) > 0 && !p.leftOut {
		return fmt.Errorf("%w: the base of a delta is missing", errPack)
	}
	return nil
}

func (p *packDecoder) object() error {
	head, err := p.scanner.NextObjectHeader()
	if err != nil {
		return p.failed(err)
	}
	switch head.Type {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		o := Object{Kind: head.Type}
		p.sum.Start(head.Type.String(), head.Length)
		if p.tooLarge(head.Type, head.Length) {
			o.Size = head.Length
			err = p.copyTo(p.sum, head)
		} else {
			o.Content, err = p.inflate(head)
			_, _ = p.sum.Write(o.Content)
		}
		if err != nil {
			return err
		}
		return p.put(head.Offset, o)
	case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
		if head.Type == plumbing.OFSDeltaObject && head.OffsetReference == 0 {
			return fmt.Errorf("%w: a delta without a base", errPack)
		}
		edits, err := p.inflate(head)
		if err != nil {
			return err
		}
		return p.apply(delta{head.Offset, deltaBase{head.OffsetReference, head.Reference}, edits})
	}
	return fmt.Errorf("%w: unknown object type %d", errPack, head.Type)
}

// charge subtracts the size of an object from the bytes left.
func (p *packDecoder) charge(kind plumbing.ObjectType, size int64) error {
	named := kind == plumbing.CommitObject || kind == plumbing.TagObject
	p.remaining -= size
	if p.remaining < 0 || named && size > maxCommit {
		return ErrTooLarge
	}
	return nil
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
	p.release(deltaBase{at: at})
	p.release(deltaBase{hash: h})
	return nil
}

func (p *packDecoder) tooLarge(kind plumbing.ObjectType, size int64) bool {
	return kind == plumbing.BlobObject && p.maxBlob > 0 && size > p.maxBlob
}

// inflate decompresses content of known size.
func (p *packDecoder) inflate(head *packfile.ObjectHeader) ([]byte, error) {
	if err := p.charge(head.Type, head.Length); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(head.Length, 1<<20))) // a wrong size must not allocate memory
	err := p.copyTo(&b, head)
	return b.Bytes(), err
}

// copyTo decompresses the current object into w.
func (p *packDecoder) copyTo(w io.Writer, head *packfile.ObjectHeader) error {
	n, _, err := p.scanner.NextObject(w)
	switch {
	case err != nil:
		return p.failed(err)
	case n != head.Length:
		return fmt.Errorf("%w: an object has the wrong length", errPack)
	}
	return nil
}
