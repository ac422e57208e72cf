package gitremote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// The services of a Git server.
const (
	uploadPack  = transport.UploadPackServiceName
	receivePack = transport.ReceivePackServiceName
)

// protocolV2 is asked for when reading: it looks up one reference without the
// list of all, and hands out any object by its name. A server that does not
// speak it answers in the older protocol, which is read too.
const protocolV2 = "version=2"

// session is one conversation with one service of a server. It is bound to the
// context that opened it: when that ends, every read and write ends.
//
// go-git's own sessions are not used: they dial SSH without a context, cannot
// ask for protocol 2, and copy a pack before they send it.
type session interface {
	// greeting is what the service says first, after any HTTP preamble.
	greeting() *bufio.Reader
	// exchange sends a request of size bytes, or if that is negative, until its
	// end. last: nothing follows it.
	exchange(request io.Reader, size int64, last bool) (*bufio.Reader, error)
	// stateless tells whether each exchange is answered from what the repository
	// holds by then, and not from what the service saw before.
	stateless() bool
	// explain adds to the error of a read what the server said elsewhere.
	explain(err error) error
	// Close ends the conversation. It may be called twice.
	Close() error
}

// opener starts a service of a repository. protocol goes to GIT_PROTOCOL.
type opener func(ctx context.Context, service, protocol string) (session, error)

// pipe is a session with a git program, here or behind an SSH connection.
type pipe struct {
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *words
	end    func() error // ends the run and frees what it holds

	once     sync.Once
	input    sync.Mutex // held while in is written or shut: an SSH channel is for one at a time
	shut     sync.Once  // in
	closing  atomic.Bool
	writing  sync.WaitGroup
	finished bool // nothing is to be said any more
}

func (p *pipe) greeting() *bufio.Reader { return p.out }

// exchange writes beside the reading: a server may answer, or refuse, before
// it has read everything. A failed write shows in what is read.
func (p *pipe) exchange(request io.Reader, _ int64, last bool) (*bufio.Reader, error) {
	p.finished = last
	p.input.Lock()
	p.writing.Go(func() {
		_, _ = io.Copy(p.in, request)
		if last {
			p.shutIn()
		}
		p.input.Unlock()
		if p.closing.Load() { // by somebody who did not wait
			p.input.Lock()
			defer p.input.Unlock()
			p.shutIn()
		}
	})
	return p.out, nil
}

// shutIn says that no more comes: once, as both the writing and the closing may. Its caller holds input.
func (p *pipe) shutIn() { p.shut.Do(func() { _ = p.in.Close() }) }

func (p *pipe) Close() error {
	var err error
	p.once.Do(func() {
		p.closing.Store(true)
		if p.input.TryLock() { // else a request is being written, which the end of the run ends
			if !p.finished {
				_, _ = p.in.Write(pktline.FlushPkt)
			}
			p.shutIn()
			p.input.Unlock()
		}
		err = p.end()
		p.writing.Wait()
	})
	return err
}

func (p *pipe) stateless() bool { return false }

func (p *pipe) explain(err error) error {
	p.finished = true
	closeErr := p.Close()
	if closeErr == nil {
		closeErr = err
	}
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTooManyRefs) {
		return err
	}
	if lines := p.stderr.lines(); len(lines) > 0 {
		return &remoteWords{text: strings.Join(lines, "; "), cause: closeErr}
	}
	return closeErr
}

// remoteWords is an error with what the other side printed about it.
type remoteWords struct {
	text  string
	cause error
}

func (e *remoteWords) Error() string { return e.text }
func (e *remoteWords) Unwrap() error { return e.cause }

// words keeps what a server prints, up to a bound.
type words struct {
	mu   sync.Mutex
	text strings.Builder
}

const maxWords = 16 << 10

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := maxWords - w.text.Len(); room > 0 {
		w.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// lines are the lines that say something; of one that was drawn over itself,
// what was last seen.
func (w *words) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for line := range strings.SplitSeq(w.text.String(), "\n") {
		line = strings.TrimRight(line, "\r ")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
