package remote

import (
	"bytes"
	"fmt"
	"hash"
	"io"

	gitobject "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/object"
)

// packReader reads a pack byte by byte, never past what is requested, and computes its checksum.
type packReader struct {
	r        io.Reader
	buf      []byte
	pos, end int
	before   int64 // bytes of the pack before buf
	sum      hash.Hash
}

func newPackReader(r io.Reader) packReader {
	return packReader{r: r, buf: make([]byte, 64<<10), sum: gitobject.NewChecksum()}
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

// checkSum verifies the checksum at the end of the pack.
func (p *packReader) checkSum() error {
	_, _ = p.sum.Write(p.buf[:p.pos])
	copy(p.buf, p.buf[p.pos:p.end])
	p.before, p.pos, p.end = p.offset(), 0, p.end-p.pos
	want := p.sum.Sum(nil)
	var got [gitobject.Size]byte
	if _, err := io.ReadFull(p, got[:]); err != nil {
		return err
	}
	if !bytes.Equal(got[:], want) {
		return fmt.Errorf("%w: wrong checksum", errPack)
	}
	return nil
}
