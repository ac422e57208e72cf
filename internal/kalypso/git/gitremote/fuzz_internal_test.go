package gitremote

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

// FuzzPack: each object that a pack contains is kept under the hash of its content. All objects together have at most
// the allowed size.
func FuzzPack(f *testing.F) {
	const most, file = 1 << 16, 1 << 10
	add := func(write func(p *packWriter)) {
		var p packWriter
		write(&p)
		f.Add(p.bytes())
	}
	add(func(p *packWriter) { p.object(plumbing.CommitObject, plumbing.ZeroHash, []byte("tree 0\n")) })
	add(func(p *packWriter) {
		base := bytes.Repeat([]byte("tree 0\n\n"), 1<<10)
		named := p.object(plumbing.TreeObject, plumbing.ZeroHash, base)
		p.object(plumbing.REFDeltaObject, named, []byte{0x80, 0x40, 3, 3, 'a', 'b', 'c'})
		p.object(plumbing.REFDeltaObject, named, repeatDelta(len(base), 100))
	})
	add(func(p *packWriter) { p.object(plumbing.BlobObject, plumbing.ZeroHash, make([]byte, 2*file)) })
	f.Fuzz(func(t *testing.T, pack []byte) {
		got, size := Objects{}, 0
		if err := unpack(bytes.NewReader(pack), most, file, got); err != nil {
			return
		}
		for hash, o := range got {
			size += len(o.Content)
			if o.Size == 0 && plumbing.ComputeHash(o.Kind, o.Content) != hash {
				t.Errorf("the object %s has another content: %q", hash, o.Content)
			}
		}
		if size > most {
			t.Errorf("%d bytes are kept", size)
		}
	})
}

// FuzzDelta: the result of a delta has the size that the delta states.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("content"), []byte{7, 3, 3, 'a', 'b', 'c'})
	f.Add([]byte("content"), repeatDelta(7, 1000))
	f.Fuzz(func(t *testing.T, base, edits []byte) {
		var p packWriter
		p.object(plumbing.REFDeltaObject, p.object(plumbing.BlobObject, plumbing.ZeroHash, base), edits)
		got := Objects{}
		if err := unpack(bytes.NewReader(p.bytes()), 1<<16, 0, got); err != nil {
			return
		}
		size, err := resultSize(edits)
		if err != nil || len(got) == 2 && int64(len(got[resultOf(got, base)].Content)) != size {
			t.Errorf("the result has another size than %d: %v", size, err)
		}
	})
}

// resultOf returns the hash of the object that is not the base.
func resultOf(all Objects, base []byte) plumbing.Hash {
	for hash := range all {
		if hash != plumbing.ComputeHash(plumbing.BlobObject, base) {
			return hash
		}
	}
	return plumbing.ZeroHash
}

// FuzzPackets: packets are read to the end of a stream, each with at most the length that Git allows. Packets that are
// written again are read as the same ones.
func FuzzPackets(f *testing.F) {
	f.Add([]byte("000eversion 2\n0000"))
	f.Add([]byte("0007ERR0009ERR a0001" + "0002" + "fff4"))
	f.Add([]byte("003f0123456789012345678901234567890123456789 refs/heads/main\x00a\n0000"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		packets, written := readPackets(t, stream), &bytes.Buffer{}
		for _, p := range packets {
			switch p.kind {
			case dataPacket:
				fmt.Fprintf(written, "%04x%s", len(p.data)+4, p.data)
			case flushPacket:
				writeFlush(written)
			case delimPacket:
				writeDelim(written)
			case endPacket:
				written.WriteString("0002")
			}
		}
		if again := readPackets(t, written.Bytes()); cmp.Diff(packets, again, cmp.AllowUnexported(packet{})) != "" {
			t.Errorf("%q is written again as %q", stream, written)
		}
		refs, err := readRefs(bytes.NewReader(stream), 1<<20)
		if err == nil && len(refs.References) > len(stream)/4 {
			t.Errorf("%q lists %d references", stream, len(refs.References))
		}
		_, _ = readCapabilitiesV2(bufio.NewReader(bytes.NewReader(stream)))
	})
}

// readPackets reads packets up to the first error.
func readPackets(t *testing.T, stream []byte) (all []packet) {
	t.Helper()
	for r := bufio.NewReader(bytes.NewReader(stream)); ; {
		p, err := readRawPacket(r)
		if err != nil {
			return all
		}
		if len(p.data)+4 > maxPacket {
			t.Fatalf("a packet has %d bytes", len(p.data))
		}
		all = append(all, p)
	}
}
