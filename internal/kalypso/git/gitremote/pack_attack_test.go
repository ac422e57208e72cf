package gitremote

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/go-git/go-git/v5/plumbing"
)

// packWriter writes a pack entry by entry, including invalid ones.
type packWriter struct {
	b     bytes.Buffer
	z     *zlib.Writer
	count int
}

func (p *packWriter) object(kind plumbing.ObjectType, base plumbing.Hash, content []byte) plumbing.Hash {
	p.count++
	size := len(content)
	c := byte(kind)<<4 | byte(size&15)
	size >>= 4
	for ; size > 0; size >>= 7 {
		p.b.WriteByte(c | 0x80)
		c = byte(size & 127)
	}
	p.b.WriteByte(c)
	if kind == plumbing.REFDeltaObject {
		p.b.Write(base[:])
	}
	if p.z == nil {
		p.z = zlib.NewWriter(nil)
	}
	p.z.Reset(&p.b)
	_, _ = p.z.Write(content)
	_ = p.z.Close()
	return plumbing.ComputeHash(kind, content)
}

func (p *packWriter) bytes() []byte {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(p.count))
	pack = append(pack, p.b.Bytes()...)
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

// repeatDelta returns a delta on a base of size bytes. Its result is the first 64 KiB of the base, repeated n times.
func repeatDelta(size, n int) []byte {
	d := binary.AppendUvarint(nil, uint64(size))
	d = binary.AppendUvarint(d, uint64(n)<<16)
	return append(d, bytes.Repeat([]byte{0x80}, n)...) // copy the default size (64 KiB) from offset 0
}

// TestUnpackBoundsDeltas: if the result of a small delta exceeds the limit, no memory is allocated for it.
func TestUnpackBoundsDeltas(t *testing.T) {
	base := bytes.Repeat([]byte("tree 0\n\n"), 64<<10/8)
	for _, kind := range []plumbing.ObjectType{
		plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject,
	} {
		var p packWriter
		named := p.object(kind, plumbing.ZeroHash, base)
		p.object(plumbing.REFDeltaObject, named, repeatDelta(len(base), 1<<10)) // 64 MiB
		before := allocated()
		err := unpack(bytes.NewReader(p.bytes()), 1<<20, 0, Objects{})
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v", kind, err)
		}
		if took := allocated() - before; took > 8<<20 {
			t.Errorf("%s: %d MiB were allocated for a bound of 1 MiB", kind, took>>20)
		}
	}
}

// TestUnpackBoundsEdits: the decompressed sizes of deltas count towards the limit before their results are built.
func TestUnpackBoundsEdits(t *testing.T) {
	var p packWriter
	named := p.object(plumbing.BlobObject, plumbing.ZeroHash, []byte("x"))
	for range 8 {
		p.object(plumbing.REFDeltaObject, plumbing.ComputeHash(plumbing.BlobObject, named[:]), make([]byte, 4<<20))
	}
	before := allocated()
	err := unpack(bytes.NewReader(p.bytes()), 8<<20, 0, Objects{})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if took := allocated() - before; took > 32<<20 {
		t.Errorf("%d MiB were allocated for a bound of 8 MiB", took>>20)
	}
}

// TestUnpackRefuses: a pack that violates the format is reported as such, not as a broken connection.
func TestUnpackRefuses(t *testing.T) {
	content := []byte("content")
	tests := map[string]func(p *packWriter){
		"unknown kind": func(p *packWriter) { p.object(5, plumbing.ZeroHash, content) },
		"no kind":      func(p *packWriter) { p.object(0, plumbing.ZeroHash, content) },
		"delta without a base": func(p *packWriter) {
			p.object(plumbing.REFDeltaObject, plumbing.ZeroHash, repeatDelta(7, 1))
		},
		"delta on the start of the pack": func(p *packWriter) {
			p.count++
			p.b.Write([]byte{byte(plumbing.OFSDeltaObject)<<4 | 1, 12}) // one byte, 12 bytes back
			writeDeflated(&p.b, []byte("x"))
		},
		"delta without sizes": func(p *packWriter) {
			p.object(plumbing.REFDeltaObject, p.object(plumbing.BlobObject, plumbing.ZeroHash, content), nil)
		},
		"delta on a base of another size": func(p *packWriter) {
			p.object(plumbing.REFDeltaObject, p.object(plumbing.BlobObject, plumbing.ZeroHash, content), []byte{9, 1, 1, 'x'})
		},
		"blob shorter than its size": func(p *packWriter) {
			p.count++
			p.b.WriteByte(byte(plumbing.BlobObject)<<4 | 9)
			writeDeflated(&p.b, content)
		},
		"large blob shorter than its size": func(p *packWriter) {
			p.count++
			p.b.Write([]byte{byte(plumbing.BlobObject)<<4 | 0x80, 0x7f}) // 2032 bytes
			writeDeflated(&p.b, content)
		},
		"blob longer than its size": func(p *packWriter) {
			p.count++
			p.b.WriteByte(byte(plumbing.BlobObject)<<4 | 3)
			writeDeflated(&p.b, content)
		},
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			var p packWriter
			write(&p)
			err := unpack(bytes.NewReader(p.bytes()), 1<<20, 1000, Objects{})
			if !errors.Is(err, errPack) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func writeDeflated(to *bytes.Buffer, content []byte) {
	z := zlib.NewWriter(to)
	_, _ = z.Write(content)
	_ = z.Close()
}

// TestUnpackConnectionError: an error of the connection is returned as it is, after each number of bytes. It is not
// reported as an error of the pack.
func TestUnpackConnectionError(t *testing.T) {
	var p packWriter
	for i := range 50 {
		p.object(plumbing.BlobObject, plumbing.ZeroHash, fmt.Appendf(nil, "content %d", i))
	}
	pack, broken := p.bytes(), errors.New("the connection broke")
	for n := range pack {
		for _, tt := range []struct{ end, want error }{{broken, broken}, {io.EOF, io.ErrUnexpectedEOF}} {
			r := io.MultiReader(iotest.OneByteReader(bytes.NewReader(pack[:n])), iotest.ErrReader(tt.end))
			if err := unpack(r, 1<<20, 0, Objects{}); !errors.Is(err, tt.want) || errors.Is(err, errPack) {
				t.Fatalf("after %d bytes of %d: got %v, want %v", n, len(pack), err, tt.want)
			}
		}
	}
}

// TestUnpackBoundsCommits: commits have a limit of their own, which is much smaller than the limit of the pack.
func TestUnpackBoundsCommits(t *testing.T) {
	var p packWriter
	base := bytes.Repeat([]byte("tree 0\n\n"), 64<<10/8)
	named := p.object(plumbing.CommitObject, plumbing.ZeroHash, base)
	p.object(plumbing.REFDeltaObject, named, repeatDelta(len(base), 200)) // 12 MiB
	if err := unpack(bytes.NewReader(p.bytes()), 1<<30, 0, Objects{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("commit as a delta: got %v", err)
	}
	p = packWriter{}
	p.object(plumbing.CommitObject, plumbing.ZeroHash, make([]byte, 12<<20))
	if err := unpack(bytes.NewReader(p.bytes()), 1<<30, 0, Objects{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("commit without a delta: got %v", err)
	}
}

// TestUnpackSkipsLargeBlobs: if a blob exceeds the limit of a file, it is not built from its delta. Its size does not
// count towards the limit of the pack.
func TestUnpackSkipsLargeBlobs(t *testing.T) {
	var p packWriter
	base := bytes.Repeat([]byte("line 12\n"), 64<<10/8)
	named := p.object(plumbing.BlobObject, plumbing.ZeroHash, base)
	for n := range 100 {
		p.object(plumbing.REFDeltaObject, named, repeatDelta(len(base), 100+n)) // more than 6 MiB
	}
	got, before := Objects{}, allocated()
	if err := unpack(bytes.NewReader(p.bytes()), 1<<20, 1<<20, got); err != nil {
		t.Fatal(err)
	}
	if took := allocated() - before; took > 8<<20 || len(got) != 1 {
		t.Errorf("%d MiB were allocated, %d objects kept", took>>20, len(got))
	}
}

// TestUnpackBoundsObjects: the number of objects is limited, since an empty object takes memory, too.
func TestUnpackBoundsObjects(t *testing.T) {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), 1<<31)
	if err := unpack(bytes.NewReader(pack), 1<<30, 0, Objects{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// TestUnpackBasesAfterDeltas: each delta's base comes after it in the pack, in a chain of 20,000. Each delta is applied
// once.
func TestUnpackBasesAfterDeltas(t *testing.T) {
	const n = 20_000
	text := func(i int) []byte { return fmt.Appendf(nil, "%09d", i) }
	var p packWriter
	for i := n; i > 0; i-- {
		d := append(binary.AppendUvarint(nil, 9), 9, 9) // sizes; then nine literal bytes
		p.object(plumbing.REFDeltaObject, plumbing.ComputeHash(plumbing.BlobObject, text(i-1)), append(d, text(i)...))
	}
	p.object(plumbing.BlobObject, plumbing.ZeroHash, text(0))
	got := Objects{}
	if err := unpack(bytes.NewReader(p.bytes()), 1<<30, 0, got); err != nil {
		t.Fatal(err)
	}
	last := got[plumbing.ComputeHash(plumbing.BlobObject, text(n))]
	if !bytes.Equal(last.Content, text(n)) || len(got) != n+1 {
		t.Errorf("%d objects, the last is %q", len(got), last.Content)
	}
}

// shattered is the beginning of the first file of https://shattered.io. Another file has the same SHA-1.
const shattered = "JVBERi0xLjMKJeLjz9MKCgoxIDAgb2JqCjw8L1dpZHRoIDIgMCBSL0hlaWdodCAzIDAgUi9UeXBlIDQgMCBSL1N1Yn" +
	"R5cGUgNSAwIFIvRmlsdGVyIDYgMCBSL0NvbG9yU3BhY2UgNyAwIFIvTGVuZ3RoIDggMCBSL0JpdHNQZXJDb21wb25l" +
	"bnQgOD4+CnN0cmVhbQr/2P/+ACRTSEEtMSBpcyBkZWFkISEhISGFL+wJIzl1nDmxocY8TJfh//4Bc0bckWa2fhGPAp" +
	"q2IbJWD/nKZ8yox/hbqEx5AwwrPeIY+G2zqQkB1d9FwU8m/t+z3DjpasIv571yjw5FvOBG0jxXD+sUE5i7VS71oKgr" +
	"4zH+pIA3uLXXHw4zLt+TrDUA603cDezBqGR5DHgsdiFWYN0wl5HQa9CvP5jNpLxGKbE="

// TestUnpackCollision: an object of a collision attack is rejected.
func TestUnpackCollision(t *testing.T) {
	text, err := base64.StdEncoding.DecodeString(shattered)
	if err != nil {
		t.Fatal(err)
	}
	p := newPackDecoder(nil, 1<<20, 0, Objects{})
	p.sum.Reset()
	_, _ = p.sum.Write(text)
	if err := p.put(0, Object{Kind: plumbing.BlobObject, Content: text}); !errors.Is(err, ErrCollision) {
		t.Errorf("got %v", err)
	}
	if len(p.into) > 0 {
		t.Error("the object was kept")
	}
}

// allocated returns the number of bytes that the process has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
