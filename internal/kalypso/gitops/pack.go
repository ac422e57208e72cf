package gitops

import (
	"bytes"
	"compress/zlib"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
)

// packLevel is how hard objects are compressed; see BenchmarkPushFirst.
const packLevel = zlib.BestSpeed

// chunkSize is when a packer hands on what it has, bytes.
const chunkSize = 1 << 20

// pack is new objects, compressed, in the form in which Git sends them. An object
// that the branch has, or that was added before, is added once or not at all. It
// is safe for concurrent use by several packers.
//
// Before the first object Git wants to hear how many there are. So folders that
// come after the pack has grown to its room are counted alone, and packed when
// the pack is sent, while it is sent.
type pack struct {
	known map[plumbing.Hash]struct{} // what the branch has; not written any more
	room  int                        // bytes

	mu     sync.Mutex
	added  map[plumbing.Hash]bool // whether they are in chunks, or counted alone
	chunks [][]byte
	size   int
	later  []Folder // that were counted alone
}

func newPack(known map[plumbing.Hash]struct{}, room int) *pack {
	return &pack{known: known, room: room, added: map[plumbing.Hash]bool{}}
}

// claim counts an object, and tells whether it is the caller's to write.
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

// keep puts a chunk into the pack.
func (p *pack) keep(chunk []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunks = append(p.chunks, chunk)
	p.size += len(chunk)
	return nil
}

// hasRoom tells whether a folder is packed now; if not, it is packed later.
func (p *pack) hasRoom(f Folder) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size < p.room {
		return true
	}
	p.later = append(p.later, f)
	return false
}

// packer adds objects to a pack from one goroutine.
type packer struct {
	pack   *pack
	out    func(chunk []byte) error // takes what is packed
	counts bool                     // objects are counted, and not packed
	hasher *gitobject.Hasher
	buf    bytes.Buffer
	z      *zlib.Writer
	none   *zlib.Writer
}

// storedTree is the size of a tree, in bytes, up to which it goes uncompressed:
// it is mostly hashes, and there is one for each folder.
const storedTree = 512

func newPacker(p *pack, out func(chunk []byte) error) *packer {
	return &packer{pack: p, out: out, hasher: gitobject.NewHasher(), z: deflater(packLevel)}
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
	h := plumbing.Hash(w.hasher.Object(kind.String(), content))
	if !w.pack.claim(h, !w.counts) {
		return h, nil
	}
	w.buf.Write(appendObjectHeader(w.buf.AvailableBuffer(), kind, len(content)))
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
		return h, w.flush()
	}
	return h, nil
}

// flush hands on what was packed.
func (w *packer) flush() error {
	if w.buf.Len() == 0 {
		return nil
	}
	chunk := bytes.Clone(w.buf.Bytes())
	w.buf.Reset()
	return w.out(chunk)
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
