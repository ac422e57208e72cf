package branch

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
)

// packLevel is the compression level; see BenchmarkPushFirst.
const packLevel = zlib.BestSpeed

// chunkSize is the size at which a packWriter writes its data to the pack, in bytes.
const chunkSize = 1 << 20

// pack collects new objects in Git's pack format. It contains each object once, and none that the branch already has.
// It is safe for concurrent use by several packWriters.
//
// It is a temporary file: the header needs the number of objects, so nothing can be sent before all are packed, and the
// pack of a large fleet is too large for memory.
type pack struct {
	known map[plumbing.Hash]struct{} // objects on the branch; read-only

	mu    sync.Mutex
	added map[plumbing.Hash]struct{}
	file  *os.File
}

// packHeader is the length of signature, version and object count, in bytes.
const packHeader = 12

// newPack returns an empty pack. The caller must close it.
func newPack() (*pack, error) {
	file, err := os.CreateTemp("", "kalypso-pack-")
	if err != nil {
		return nil, noTempFile(err)
	}
	_ = os.Remove(file.Name()) // so that a killed process leaves no file; Windows removes only closed ones
	p := &pack{added: map[plumbing.Hash]struct{}{}, file: file}
	return p, p.append(make([]byte, packHeader))
}

func noTempFile(err error) error {
	return fmt.Errorf("%w: %w; free disk space for temporary files, or set TMPDIR to another folder",
		gitremote.ErrNoTempFile, err)
}

// close removes the pack.
func (p *pack) close() {
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
}

// claim adds an object, and reports whether the caller has to write it.
func (p *pack) claim(h plumbing.Hash) bool {
	if _, ok := p.known[h]; ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.added[h]
	p.added[h] = struct{}{}
	return !ok
}

// append adds packed objects.
func (p *pack) append(chunk []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.file.Write(chunk); err != nil {
		return noTempFile(err)
	}
	return nil
}

// finish completes the pack with its header and checksum, goes back to its start, and returns its size in bytes.
func (p *pack) finish() (size int64, err error) {
	_, err = p.file.WriteAt(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(p.added))), 0)
	_, restarted := p.file.Seek(0, io.SeekStart)
	sum := gitobject.NewChecksum()
	size, read := io.Copy(sum, p.file)
	_, written := p.file.Write(sum.Sum(nil))
	_, rewound := p.file.Seek(0, io.SeekStart)
	if err = errors.Join(err, restarted, read, written, rewound); err != nil {
		return 0, noTempFile(err)
	}
	return size + gitobject.Size, nil
}

// packWriter adds objects to a pack from one goroutine.
type packWriter struct {
	pack   *pack
	hasher *gitobject.Hasher
	buf    bytes.Buffer
	z      *zlib.Writer
	stored *zlib.Writer
}

// maxStoredTree is the size in bytes up to which a tree stays uncompressed. Compression would cost time for each folder
// and save little, because a tree is mostly hashes.
const maxStoredTree = 512

func newPackWriter(p *pack) *packWriter {
	return &packWriter{pack: p, hasher: gitobject.NewHasher(), z: deflater(packLevel)}
}

func deflater(level int) *zlib.Writer {
	z, err := zlib.NewWriterLevel(io.Discard, level)
	if err != nil {
		panic(err) // the levels are constants
	}
	return z
}

// add hashes an object, and packs it if it is new.
func (w *packWriter) add(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	h := plumbing.Hash(w.hasher.Object(kind.String(), content))
	if !w.pack.claim(h) {
		return h, nil
	}
	w.buf.Write(appendObjectHeader(w.buf.AvailableBuffer(), kind, len(content)))
	z := w.z
	if kind == plumbing.TreeObject && len(content) <= maxStoredTree {
		if w.stored == nil {
			w.stored = deflater(zlib.NoCompression)
		}
		z = w.stored
	}
	z.Reset(&w.buf)
	if _, err := z.Write(content); err != nil {
		return h, err
	}
	if err := z.Close(); err != nil {
		return h, err
	}
	if w.buf.Len() >= chunkSize {
		return h, w.flush()
	}
	return h, nil
}

// flush writes the packed objects to the pack.
func (w *packWriter) flush() error {
	defer w.buf.Reset()
	return w.pack.append(w.buf.Bytes())
}

// appendObjectHeader appends the kind and the size of an object: four bits of the size in the first byte, seven in
// each following byte, lowest bits first.
func appendObjectHeader(b []byte, kind plumbing.ObjectType, size int) []byte {
	c := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 127)
	}
	return append(b, c)
}
