package gitbranch

import (
	"bytes"
	"compress/zlib"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

// packLevel is the compression level; see BenchmarkPushFirst.
const packLevel = zlib.BestSpeed

// chunkSize is the size at which a packWriter hands on its data, in bytes.
const chunkSize = 1 << 20

// pack collects new objects in Git's pack format. It contains each object once, and none that the branch already has.
// It is safe for concurrent use by several packWriters.
//
// The pack header needs the number of objects. Once the pack has reached its buffer size, further folders are
// therefore only counted, and packed later while the pack is sent.
type pack struct {
	known map[plumbing.Hash]struct{} // objects on the branch; read-only
	room  int                        // buffer size, in bytes

	mu       sync.Mutex
	added    map[plumbing.Hash]bool // true: in chunks; false: only counted
	chunks   [][]byte
	size     int
	deferred []FolderContent // only counted so far
}

func newPack(known map[plumbing.Hash]struct{}, room int) *pack {
	return &pack{known: known, room: room, added: map[plumbing.Hash]bool{}}
}

// claim counts an object, and reports whether the caller has to write it.
func (p *pack) claim(h plumbing.Hash, write bool) bool {
	if _, ok := p.known[h]; ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if written := p.added[h]; written {
		return false
	}
	p.added[h] = write
	return write
}

// appendChunk adds a chunk to the pack.
func (p *pack) appendChunk(chunk []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunks = append(p.chunks, chunk)
	p.size += len(chunk)
	return nil
}

// hasRoom reports whether the buffer has room to pack a folder now. If it has none, hasRoom defers the folder.
func (p *pack) hasRoom(f FolderContent) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size < p.room {
		return true
	}
	p.deferred = append(p.deferred, f)
	return false
}

// packWriter adds objects to a pack from one goroutine.
type packWriter struct {
	pack      *pack
	out       func(chunk []byte) error // receives packed data
	countOnly bool                     // only count the objects, without packing them
	hasher    *gitobject.Hasher
	buf       bytes.Buffer
	z         *zlib.Writer
}

func newPackWriter(p *pack, out func(chunk []byte) error) *packWriter {
	z, err := zlib.NewWriterLevel(io.Discard, packLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return &packWriter{pack: p, out: out, hasher: gitobject.NewHasher(), z: z}
}

// add hashes an object, and packs it if it is new.
func (w *packWriter) add(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	h := plumbing.Hash(w.hasher.Object(kind.String(), content))
	if !w.pack.claim(h, !w.countOnly) {
		return h, nil
	}
	w.buf.Write(appendObjectHeader(w.buf.AvailableBuffer(), kind, len(content)))
	w.z.Reset(&w.buf)
	if _, err := w.z.Write(content); err != nil {
		return h, err
	}
	if err := w.z.Close(); err != nil {
		return h, err
	}
	if w.buf.Len() >= chunkSize {
		return h, w.flush()
	}
	return h, nil
}

// flush hands on the packed objects.
func (w *packWriter) flush() error {
	if w.buf.Len() == 0 {
		return nil
	}
	chunk := bytes.Clone(w.buf.Bytes())
	w.buf.Reset()
	return w.out(chunk)
}

// appendObjectHeader appends the kind and the size of an object: four bits of the size in the first byte, seven in
// each following byte, lowest bits first.
func appendObjectHeader(b []byte, kind plumbing.ObjectType, size int) []byte {
	c := byte(kind)<<4 | byte(size&15)
	size >>= 4
	for ; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 127)
	}
	return append(b, c)
}
