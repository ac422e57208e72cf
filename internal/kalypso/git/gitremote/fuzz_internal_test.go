package gitremote

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// FuzzPack: each object that a pack contains is kept under the hash of its content. All objects together have at most
// the allowed size.
func FuzzPack(f *testing.F) {
	const limit, file = 1 << 16, 1 << 10
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
		if err := unpack(bytes.NewReader(pack), limit, file, got); err != nil {
			return
		}
		for hash, o := range got {
			size += len(o.Content)
			if o.Size == 0 && plumbing.ComputeHash(o.Kind, o.Content) != hash {
				t.Errorf("the object %s has another content: %q", hash, o.Content)
			}
		}
		if size > limit {
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

// FuzzReport: the answer to a push is a success only if the server unpacked the objects and refused no branch. Any
// other answer is an error of a few printable lines, which does not contain the credential, whatever the server prints.
func FuzzReport(f *testing.F) {
	const secret = "canary-0123456789"
	band := func(channel byte, text string) string { return fmt.Sprintf("%04x%c%s", len(text)+5, channel, text) }
	line := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	const ok, flush = "unpack ok\n", "0000"
	for _, report := range []string{
		line(ok) + line("ok refs/heads/dev\n") + flush,
		line(ok) + line("ng refs/heads/dev pre-receive hook declined\n") + flush,
		line("unpack "+secret+"\n") + flush, line(ok) + line("ng refs/heads/dev "+secret+"\x1b[2J\xff\n") + flush,
		line(ok) + flush, line("unpack\n") + flush, line("ok refs/heads/dev") + flush, flush, "",
		line(ok) + line("ng x") + flush,
		line(ok) + line("ng refs/heads/dev failed to update ref\n") + line("ok refs/heads/dev\n") + flush,
	} {
		f.Add([]byte(band(1, report) + flush))
		f.Add([]byte(band(2, "one\rtwo "+secret+"\n") + band(1, report) + band(2, "\x1b]8;;"+secret) + band(3, secret)))
		f.Add([]byte(band(1, report[:len(report)/2]) + band(2, "") + "0004" + band(1, report[len(report)/2:]) + "0001"))
	}
	client, err := NewClient(nil)
	if err != nil {
		f.Fatal(err)
	}
	client.settings.Secrets.Add(secret)
	at, err := client.Remote("https://acme.test/gitops")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		answer := newSideband(bufio.NewReader(bytes.NewReader(stream)), 1<<30, client.newOutput())
		report, said, err := readReport(answer)
		if err == nil {
			err = pushError(report, said)
		}
		if err == nil {
			refused := slices.ContainsFunc(report.CommandStatuses, func(c *packp.CommandStatus) bool { return c.Status != "ok" })
			if report.UnpackStatus != "ok" || refused {
				t.Errorf("%q is a success", stream)
			}
			return
		}
		text := at.wrapError(t.Context(), "push to", err).Error()
		for line := range strings.SplitSeq(text, "\n") {
			if printable.Line(line) != line {
				t.Errorf("the line %q of the error is not printable", line)
			}
		}
		if strings.Contains(text, secret) || len(text) > 256<<10 {
			t.Errorf("the error contains the credential, or has %d bytes: %.300q", len(text), text)
		}
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
