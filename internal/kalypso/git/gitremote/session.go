package gitremote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

// Services of a Git server.
const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// protocolV2 requests protocol version 2 for reading: it looks up one reference without listing all, and serves any
// object by hash. A server without it answers in version 0, which is supported too.
const protocolV2 = "version=2"

// session is a connection to one service of a server. It is bound to the context that opened it: when the context
// ends, every read and write ends.
//
// It does not use go-git's sessions: those dial SSH without a context, do not support protocol version 2, and copy a
// pack before they send it.
type session interface {
	// advertised returns what the service sends first, after any HTTP preamble.
	advertised() *bufio.Reader
	// exchange sends a request of size bytes, or up to its end if size is negative. If last is true, no request follows.
	exchange(request io.Reader, size int64, last bool) (*bufio.Reader, error)
	// stateless reports whether each exchange sees the current state of the repository. Otherwise, all see the state at
	// the start of the session.
	stateless() bool
	// explain adds what the server printed, such as on stderr, to the error of a read.
	explain(err error) error
	// Close ends the session. It may be called twice.
	Close() error
}

// opener starts a service of a repository. protocol is the value of GIT_PROTOCOL.
type opener func(ctx context.Context, service, protocol string) (session, error)

// pipe is a session with a git program, local or over SSH.
type pipe struct {
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *serverOutput
	stop   func() error // stops the program and releases its resources

	once        sync.Once
	input       sync.Mutex // locked while in is written or closed: an SSH channel allows one writer at a time
	inputClosed sync.Once  // in
	closing     atomic.Bool
	writing     sync.WaitGroup
	finished    bool // no more requests
}

func (p *pipe) advertised() *bufio.Reader { return p.out }

// exchange writes in the background, since a server may answer or reject before it has read everything. A failed
// write shows up when the answer is read.
func (p *pipe) exchange(request io.Reader, _ int64, last bool) (*bufio.Reader, error) {
	p.finished = last
	p.input.Lock()
	p.writing.Go(func() {
		_, _ = io.Copy(p.in, request)
		if last {
			p.closeInput()
		}
		p.input.Unlock()
		if p.closing.Load() { // Close did not wait for the lock
			p.input.Lock()
			defer p.input.Unlock()
			p.closeInput()
		}
	})
	return p.out, nil
}

// closeInput closes the input once. The caller must have locked input.
func (p *pipe) closeInput() { p.inputClosed.Do(func() { _ = p.in.Close() }) }

func (p *pipe) Close() error {
	var err error
	p.once.Do(func() {
		p.closing.Store(true)
		if p.input.TryLock() { // a write that is still running ends when stop ends the program
			if !p.finished {
				_, _ = io.WriteString(p.in, "0000")
			}
			p.closeInput()
			p.input.Unlock()
		}
		err = p.stop()
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
	_, answered := errors.AsType[*protocolError](err)
	if answered || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTooManyRefs) {
		return err
	}
	if lines := p.stderr.lines(); len(lines) > 0 {
		return &serverError{text: strings.Join(lines, "; "), cause: closeErr}
	}
	return closeErr
}

// serverError is an error with the output of the server.
type serverError struct {
	text  string
	cause error
}

func (e *serverError) Error() string { return e.text }
func (e *serverError) Unwrap() error { return e.cause }
