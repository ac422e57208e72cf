package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// FetchRequest selects objects to fetch.
type FetchRequest struct {
	Wants []plumbing.Hash // commits, or any objects if the server serves them by hash
	Depth int             // number of commits; 0: the whole history
	// Filter leaves objects out ("blob:none", "tree:0"). A server without filter support sends all of them.
	Filter packp.Filter
	// MaxRead bounds the bytes of the fetched objects. Beyond it the error is [ErrTooLarge]. 0: 1 GiB.
	MaxRead int64
	// MaxBlob is the size of the largest file to keep. A larger one becomes an [Object] with its Size and no content. 0:
	// no bound.
	MaxBlob int64
}

// References maps the names of references to what they point to.
type References map[plumbing.ReferenceName]plumbing.Hash

// Reader is a session that reads a repository. It is bound to the context that opened it.
type Reader struct {
	r           *Remote
	ctx         context.Context
	s           session
	v2          *capabilitiesV2 // nil: the server speaks protocol version 0
	v0          *packp.AdvRefs
	ended       bool          // the session is used up, by one request of version 0 over a connection, or by an error
	wholeCommit plumbing.Hash // the last commit that was fetched alone, without its history and with everything in it
}

// Reader starts a session for reading. The caller must close it.
func (r *Remote) Reader(ctx context.Context) (*Reader, error) {
	rd := &Reader{r: r, ctx: ctx}
	if err := r.retry(ctx, rd.start); err != nil {
		return nil, r.wrapError(ctx, "read", err)
	}
	return rd, nil
}

// do runs one request, in a new session if the last one has ended.
func (rd *Reader) do(op string, request func() error) error {
	err := rd.r.retry(rd.ctx, func() error {
		if rd.ended {
			_ = rd.s.Close()
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

func (rd *Reader) start() error {
	s, err := rd.r.open(rd.ctx, uploadPack, protocolV2)
	if err != nil {
		return err
	}
	rd.s, rd.v2, rd.v0, rd.ended = s, nil, nil, false
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
		if first, _ = advertisement.Peek(13); bytes.HasSuffix(first, []byte("version 2")) {
			caps, err := readCapabilitiesV2(advertisement)
			rd.v2 = caps
			return err
		}
	}
	refs, err := readRefs(advertisement, rd.r.client.maxRefList)
	rd.v0 = refs
	return err
}

// readRefs reads the list of references of protocol version 0. It is empty for an empty repository.
func readRefs(advertisement io.Reader, most int64) (*packp.AdvRefs, error) {
	refs := packp.NewAdvRefs()
	list := &boundedReader{r: advertisement, remaining: most, err: ErrTooManyRefs}
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
	if f := refs.Capabilities.Get(capability.ObjectFormat); len(f) > 0 && f[0] != "sha1" {
		return nil, fmt.Errorf("the repository uses the hash function %s; only sha1 is supported", f[0])
	}
	return refs, nil
}

// Close ends the session.
func (rd *Reader) Close() { _ = rd.s.Close() }

// Filters reports whether the server supports filters. Without filters, a fetch gets all files of its commits.
func (rd *Reader) Filters() bool {
	if rd.v2 != nil {
		return rd.v2.filter
	}
	return rd.v0.Capabilities.Supports(capability.Filter)
}

// Ref looks up one reference, and returns the zero hash if it does not exist. An answer without any reference is
// [ErrEmptyAnswer], unless the server confirms that the repository is empty.
func (rd *Reader) Ref(name plumbing.ReferenceName) (plumbing.Hash, error) {
	found, err := rd.Refs(name)
	return found[name], err
}

// Refs lists the references whose names start with a prefix. It fails as Ref does.
func (rd *Reader) Refs(prefix plumbing.ReferenceName) (References, error) {
	if rd.v2 == nil && rd.v0 != nil { // the list stays valid after the session ends
		found, err := rd.refsV0(prefix)
		return found, rd.r.wrapError(rd.ctx, "read the references of", err)
	}
	var found References
	err := rd.do("read the references of", func() (err error) {
		if rd.v2 == nil { // after a retry the server may speak version 0
			found, err = rd.refsV0(prefix)
		} else {
			found, err = rd.refsV2(prefix)
		}
		return err
	})
	return found, err
}

// CurrentRef looks up the current value of a reference. Ref may return the value from the start of the session.
func (rd *Reader) CurrentRef(name plumbing.ReferenceName) (plumbing.Hash, error) {
	if rd.v2 == nil || !rd.s.stateless() {
		_ = rd.s.Close()
		if err := rd.r.retry(rd.ctx, rd.start); err != nil {
			return plumbing.ZeroHash, rd.r.wrapError(rd.ctx, "read the references of", err)
		}
	}
	return rd.Ref(name)
}

// confirmAbsent handles an upload-pack service that lists no references. It asks receive-pack whether the reference
// exists. Both services report an empty repository, but upload-pack only in newer versions of Git.
func (rd *Reader) confirmAbsent(name plumbing.ReferenceName) error {
	w, err := rd.r.Writer(rd.ctx)
	if err != nil {
		why := err.Error()
		return fmt.Errorf("%w: it lists no references, and asking the push service for %s failed: %s",
			ErrEmptyAnswer, name, why)
	}
	defer w.Close()
	switch _, listed := w.refs.References[name.String()]; {
	case listed:
		return fmt.Errorf("%w: it lists no references for reading, but %s for pushing", ErrEmptyAnswer, name)
	case len(w.refs.References) == 0 && w.refs.Capabilities.IsEmpty():
		return fmt.Errorf("%w: it lists no references, but does not report an empty repo", ErrEmptyAnswer)
	}
	return nil
}

// Fetch fetches objects. If one commit is fetched first and then its history into the same objects, a server without
// filters sends the commit's files only once. If the server does not serve a requested object by hash, the error is
// [ErrObjectNotServed].
func (rd *Reader) Fetch(req FetchRequest, into Objects) error {
	return rd.do("fetch from", func() error {
		if !rd.Filters() {
			req.Filter = ""
		}
		have := rd.haves(req, into)
		fetch := rd.fetchV0
		if rd.v2 != nil {
			fetch = rd.fetchV2
		}
		err := fetch(req, have, into)
		if err == nil && req.Filter == "" && req.Depth == 1 && len(req.Wants) == 1 {
			rd.wholeCommit = req.Wants[0]
		}
		return err
	})
}

// haves returns the commit that was fetched alone if the request asks for its history. Its files and folders need not
// be sent again, only its parents.
func (rd *Reader) haves(req FetchRequest, into Objects) []plumbing.Hash {
	_, here := into[rd.wholeCommit]
	if req.Depth > 1 && here && slices.Equal(req.Wants, []plumbing.Hash{rd.wholeCommit}) {
		return req.Wants
	}
	return nil
}

// readPack reads a pack into objects, within the bounds of the request and the client.
func (rd *Reader) readPack(pack io.Reader, want FetchRequest, into Objects) error {
	most := rd.r.client.maxRead
	bounded := &boundedReader{r: pack, remaining: most, err: ErrTooLarge}
	if want.MaxRead > 0 {
		most = min(most, want.MaxRead)
	}
	if err := unpack(bounded, most, want.MaxBlob, into); err != nil {
		if errors.Is(err, ErrTooLarge) {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, most)
		}
		return err
	}
	// Read to the end of this answer, since the next answer starts there.
	_, err := io.Copy(io.Discard, bounded)
	return err
}

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

// capabilitiesV2 are the capabilities of a server with protocol version 2.
type capabilitiesV2 struct {
	filter  bool
	shallow bool
	unborn  bool // ls-refs reports a HEAD whose branch does not exist
}

// maxCapabilities bounds the number of capabilities of a server. Git has a dozen.
const maxCapabilities = 1000

func readCapabilitiesV2(r *bufio.Reader) (*capabilitiesV2, error) {
	caps := &capabilitiesV2{}
	for range maxCapabilities {
		p, err := readPacket(r)
		if err != nil {
			return nil, err
		}
		if p.kind != dataPacket {
			return caps, nil
		}
		name, value, _ := strings.Cut(string(p.data), "=")
		switch name {
		case "fetch":
			for feature := range strings.FieldsSeq(value) {
				caps.filter = caps.filter || feature == "filter"
				caps.shallow = caps.shallow || feature == "shallow"
			}
		case "ls-refs":
			caps.unborn = value == "unborn"
		case "object-format":
			if value != "sha1" {
				return nil, fmt.Errorf("the repository uses the hash function %s; only sha1 is supported", value)
			}
		}
	}
	return nil, fmt.Errorf("invalid Git protocol answer: more than %d capabilities", maxCapabilities)
}
