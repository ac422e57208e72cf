package gitops

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitobject"
)

// sending is a pack on its way.
type sending struct {
	io.Reader
	size int64 // bytes; -1: it is packed while it is sent
	stop func() error
}

// send starts to send a pack: first what was kept, then the folders that were
// counted alone. progress hears of the bytes that were sent. After the last read
// call stop; it gives the error for which the pack ended early.
func (p *pack) send(ctx context.Context, progress func(sent int)) *sending {
	running, cancel := context.WithCancel(ctx)
	out, in := io.Pipe()
	var done sync.WaitGroup
	var failed error
	done.Go(func() {
		failed = p.write(running, in, progress)
		_ = in.CloseWithError(failed)
	})
	s := &sending{Reader: out, size: -1}
	if len(p.later) == 0 {
		s.size = int64(packHeader + p.size + gitobject.Size)
	}
	s.stop = func() error {
		cancel()
		_ = out.Close()
		done.Wait()
		over := ctx.Err() != nil || errors.Is(failed, io.ErrClosedPipe) || errors.Is(failed, context.Canceled)
		if !over { // else the other side says why it wanted no more
			return failed
		}
		return nil
	}
	return s
}

// packHeader is the length of the signature, the version and the count, bytes.
const packHeader = 12

func (p *pack) write(ctx context.Context, to io.Writer, progress func(sent int)) error {
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
	err := packFolders(ctx, p.later, p, func(chunk []byte) error {
		mu.Lock()
		defer mu.Unlock()
		return put(chunk)
	}, (*packer).folder)
	if err != nil {
		return err
	}
	return put(sum.Sum(nil))
}
