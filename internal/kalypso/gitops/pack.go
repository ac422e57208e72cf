package gitops

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // Git names objects with it
	"encoding/binary"
	"hash"
	"io"
	"strconv"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// packLevel is how hard objects are compressed; see BenchmarkPushFirst.
const packLevel = zlib.BestSpeed

// chunkSize is when a worker starts a new buffer, bytes.
const chunkSize = 1 << 20

// pack collects new objects, compressed, in the form in which Git sends them.
// An object that the branch has, or that was added before, is added once or
// not at all. It is safe for concurrent use by several packers.
type pack struct {
	known map[plumbing.Hash]struct{} // what the branch has; not written any more

	mu     sync.Mutex
	added  map[plumbing.Hash]struct{}
	chunks [][]byte
	size   int64
}

func newPack(known map[plumbing.Hash]struct{}) *pack {
	return &pack{known: known, added: map[plumbing.Hash]struct{}{}}
}

// claim tells whether an object is new, and makes it the caller's to add.
func (p *pack) claim(h plumbing.Hash) bool {
	if _, ok := p.known[h]; ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.added[h]; ok {
		return false
	}
	p.added[h] = struct{}{}
	return true
}

func (p *pack) take(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunks = append(p.chunks, chunk)
	p.size += int64(len(chunk))
}

// reader gives the whole pack and its size in bytes. All packers have flushed.
func (p *pack) reader() (io.Reader, int64) {
	head := []byte("PACK\x00\x00\x00\x02")
	head = binary.BigEndian.AppendUint32(head, uint32(len(p.added)))
	sum := sha1.New()
	_, _ = sum.Write(head)
	parts := []io.Reader{bytes.NewReader(head)}
	for _, c := range p.chunks {
		_, _ = sum.Write(c)
		parts = append(parts, bytes.NewReader(c))
	}
	parts = append(parts, bytes.NewReader(sum.Sum(nil)))
	return io.MultiReader(parts...), int64(len(head)) + p.size + sha1.Size
}

// packer adds objects to a pack from one goroutine.
type packer struct {
	pack *pack
	sum  hash.Hash
	buf  bytes.Buffer
	z    *zlib.Writer
	none *zlib.Writer
	head []byte
}

// storedTree is the size of a tree, in bytes, up to which it goes uncompressed:
// it is mostly hashes, and there is one for each folder.
const storedTree = 512

func newPacker(p *pack) *packer {
	return &packer{pack: p, sum: sha1.New(), z: deflater(packLevel)}
}

func deflater(level int) *zlib.Writer {
	z, err := zlib.NewWriterLevel(io.Discard, level)
	if err != nil {
		panic(err) // the levels are constants
	}
	return z
}

// add names an object, and puts it into the pack if it is new.
func (w *packer) add(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	w.head = append(append(w.head[:0], kind.Bytes()...), ' ')
	w.head = append(strconv.AppendInt(w.head, int64(len(content)), 10), 0)
	w.sum.Reset()
	_, _ = w.sum.Write(w.head)
	_, _ = w.sum.Write(content)
	var h plumbing.Hash
	w.sum.Sum(h[:0])
	if !w.pack.claim(h) {
		return h, nil
	}
	w.buf.Write(appendObjectHeader(w.head[:0], kind, len(content)))
	z := w.z
	if kind == plumbing.TreeObject && len(content) <= storedTree {
		if w.none == nil {
			w.none = deflater(zlib.NoCompression)
		}
		z = w.none
	}
	z.Reset(&w.buf)
	if _, err := z.Write(content); err != nil {
		return h, err
	}
	if err := z.Close(); err != nil {
		return h, err
	}
	if w.buf.Len() >= chunkSize {
		w.flush()
	}
	return h, nil
}

// flush hands what was added to the pack.
func (w *packer) flush() {
	w.pack.take(bytes.Clone(w.buf.Bytes()))
	w.buf.Reset()
}

// appendObjectHeader writes kind and size: four bits of the size in the first
// byte, seven in each that follows, the lowest first.
func appendObjectHeader(b []byte, kind plumbing.ObjectType, size int) []byte {
	c := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 127)
	}
	return append(b, c)
}
