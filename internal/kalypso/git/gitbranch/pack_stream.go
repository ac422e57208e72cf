package gitbranch

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// packStream is a pack that is being sent.
type packStream struct {
	io.Reader
	size int64 // bytes; -1: unknown, packed while sending
	stop func() error
}

// stream starts to send a pack: first the buffered chunks, then the deferred folders. It calls progress with the
// number of bytes sent. Call stop after the last read; it returns the error that ended the pack early.
func (p *pack) stream(ctx context.Context, progress func(sent int)) *packStream {
	running, cancel := context.WithCancel(ctx)
	out, in := io.Pipe()
	failed := io.ErrUnexpectedEOF // if writeTo panics
	wait := parallel.Go(func() {
		defer func() { _ = in.CloseWithError(failed) }()
		failed = p.writeTo(running, in, progress)
	})
	s := &packStream{Reader: out, size: -1}
	if len(p.deferred) == 0 {
		s.size = int64(packHeader + p.size + gitobject.Size)
	}
	s.stop = func() error {
		cancel()
		_ = out.Close()
		wait()
		over := ctx.Err() != nil || errors.Is(failed, io.ErrClosedPipe) || errors.Is(failed, context.Canceled)
		if !over { // otherwise the receiver reports why it stopped reading
			return failed
		}
		return nil
	}
	return s
}

// packHeader is the length of signature, version and object count, in bytes.
const packHeader = 12

func (p *pack) writeTo(ctx context.Context, to io.Writer, progress func(sent int)) error {
	sum := gitobject.NewChecksum()
	to = io.MultiWriter(to, sum)
	sent := 0
	put := func(chunk []byte) error {
		_, err := to.Write(chunk)
		sent += len(chunk)
		progress(sent)
		return err
	}
	if err := put(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(p.added)))); err != nil {
		return err
	}
	for _, chunk := range p.chunks {
		if err := put(chunk); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	err := packFolders(ctx, p.deferred, p, func(chunk []byte) error {
		mu.Lock()
		defer mu.Unlock()
		return put(chunk)
	}, (*packWriter).folder)
	if err != nil {
		return err
	}
	return put(sum.Sum(nil))
}
