package gitremote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// ReadLimits bound what a [Reader] keeps of one fetch. 0 means no bound, except that of the client.
type ReadLimits struct {
	Fetch int64 // bytes of all objects; beyond it the error is [ErrTooLarge]
	File  int64 // bytes of a file; a larger one becomes an [Object] with its Size and no content
	// Entries bounds the files and folders that a walk over the fetched trees visits.
	Entries int
}

// Reader is a session that reads a repository. It is bound to the context that opened it.
type Reader struct {
	r           *Remote
	ctx         context.Context
	limits      ReadLimits
	s           session          // nil: none was started yet
	offered     *capability.List // nil: no server has answered yet
	v0          *packp.AdvRefs   // nil: the server speaks protocol version 2
	ended       bool             // the session is used up, by one request of version 0 over a connection, or by an error
	wholeCommit plumbing.Hash    // the last commit that was fetched alone, without its history and with everything in it
}

// Reader returns a session for reading, which starts with its first request. The caller must close it.
func (r *Remote) Reader(ctx context.Context, limits ReadLimits) *Reader {
	return &Reader{r: r, ctx: ctx, limits: limits}
}

// Context returns the context that the session is bound to.
func (rd *Reader) Context() context.Context { return rd.ctx }

// Limits returns the limits of the session.
func (rd *Reader) Limits() ReadLimits { return rd.limits }

// String returns the normalized URL of the repository.
func (rd *Reader) String() string { return rd.r.String() }

// connect starts the session, unless it has started.
func (rd *Reader) connect() error {
	if rd.offered != nil {
		return nil
	}
	return rd.r.wrapError(rd.ctx, "read", rd.r.retry(rd.ctx, rd.start))
}

// do runs one request, in a new session if the last one has ended.
func (rd *Reader) do(op string, request func() error) error {
	if err := rd.connect(); err != nil {
		return err
	}
	err := rd.r.retry(rd.ctx, func() error {
		if rd.ended {
			if err := rd.start(); err != nil {
				return err
			}
		}
		err := request()
		if err != nil {
			rd.ended = true
			err = rd.s.explain(err)
		}
		return err
	})
	return rd.r.wrapError(rd.ctx, op, err)
}

// start starts a session in place of the last one.
func (rd *Reader) start() error {
	rd.Close()
	s, err := rd.r.open(rd.ctx, uploadPack, protocolV2)
	if err != nil {
		return err
	}
	rd.s, rd.ended = s, false
	if err := rd.readAdvertisement(s.advertised()); err != nil {
		rd.ended = true
		err = s.explain(err)
		_ = s.Close()
		return err
	}
	return nil
}

func (rd *Reader) readAdvertisement(advertisement *bufio.Reader) error {
	// An empty repository may send only a flush packet.
	if first, _ := advertisement.Peek(4); string(first) == "000e" {
		first, _ = advertisement.Peek(13)
		if bytes.HasSuffix(first, []byte("version 2")) {
			offered, err := readCapabilitiesV2(advertisement)
			if err == nil {
				rd.v0, rd.offered = nil, offered
			}
			return err
		}
	}
	refs, err := readRefs(advertisement, rd.r.client.settings.limits.maxRefList)
	if err == nil {
		rd.v0, rd.offered = refs, refs.Capabilities
	}
	return err
}

// readRefs reads the list of references of protocol version 0. It is empty for an empty repository.
func readRefs(advertisement io.Reader, limit int64) (*packp.AdvRefs, error) {
	refs := packp.NewAdvRefs()
	list := &boundedReader{r: advertisement, remaining: limit, err: ErrTooManyRefs}
	if err := refs.Decode(list); err != nil && !errors.Is(err, packp.ErrEmptyAdvRefs) {
		var unexpected *packp.ErrUnexpectedData
		switch {
		case errors.Is(err, packp.ErrEmptyInput):
			return nil, io.ErrUnexpectedEOF
		case errors.As(err, &unexpected):
			return nil, fmt.Errorf("%s: %q", unexpected.Msg, bytes.TrimSpace(unexpected.Data))
		}
		return nil, err
	}
	return refs, checkHashFunction(refs.Capabilities)
}

// Close ends the session, if it has started.
func (rd *Reader) Close() {
	if rd.s != nil {
		_ = rd.s.Close()
	}
}

// Filters reports whether the server supports filters. Without filters, a fetch gets all files of its commits. Call it
// after a request.
func (rd *Reader) Filters() bool { return rd.offered.Supports(capability.Filter) }

// boundedReader returns err once more bytes were read than are left.
type boundedReader struct {
	r         io.Reader
	remaining int64
	err       error
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.remaining < 0 {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	b.remaining -= int64(n)
	return n, err
}

// maxCapabilities bounds the number of capabilities of a server. Git has a dozen.
const maxCapabilities = 1000

// The capabilities of version 2 that its commands name as features, such as "fetch=shallow filter".
const (
	fetchCommand  = "fetch"
	listCommand   = "ls-refs"
	unbornFeature = capability.Capability("unborn") // ls-refs reports a HEAD whose branch does not exist
)

// readCapabilitiesV2 reads the capabilities of protocol version 2, with the features of its commands.
func readCapabilitiesV2(r *bufio.Reader) (*capability.List, error) {
	all := capability.NewList()
	for range maxCapabilities {
		p, err := readPacket(r)
		if err != nil {
			return nil, err
		}
		if p.kind != dataPacket {
			return all, checkHashFunction(all)
		}
		switch name, value, _ := strings.Cut(string(p.data), "="); name {
		case fetchCommand, listCommand:
			for feature := range strings.FieldsSeq(value) {
				_ = all.Set(capability.Capability(feature)) // none of them that are used has a value
			}
		case capability.ObjectFormat.String():
			_ = all.Set(capability.ObjectFormat, value)
		}
	}
	return nil, fmt.Errorf("invalid Git protocol answer: more than %d capabilities", maxCapabilities)
}

func checkHashFunction(offered *capability.List) error {
	if f := offered.Get(capability.ObjectFormat); len(f) > 0 && f[0] != "sha1" {
		return fmt.Errorf("the repository uses the hash function %s; only sha1 is supported", f[0])
	}
	return nil
}
