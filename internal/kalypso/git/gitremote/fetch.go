package gitremote

import (
	"bufio"
	"bytes"
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
}

// Fetch fetches objects. If one commit is fetched first and then its history into the same objects, a server without
// filters sends the commit's files only once. If the server does not serve a requested object by hash, the error is
// [ErrObjectNotServed].
func (rd *Reader) Fetch(req FetchRequest, into Objects) error {
	return rd.do("fetch from", func() error {
		if !rd.Filters() {
			req.Filter = ""
		}
		err := rd.fetch(req, into)
		if err == nil && req.Filter == "" && req.Depth == 1 && len(req.Wants) == 1 {
			rd.wholeCommit = req.Wants[0]
		}
		return err
	})
}

func (rd *Reader) fetch(want FetchRequest, into Objects) error {
	v2, limit := rd.v0 == nil, rd.r.client.settings.limits.maxRead
	rd.ended = !v2 && !rd.s.stateless()
	request, err := newRequest(want, rd.haves(want, into), rd.offered, v2)
	if err != nil {
		return err
	}
	answer, err := rd.s.exchange(request, int64(request.Len()), !v2)
	if err != nil {
		return err
	}
	if err := skipToPack(answer, v2, limit); err != nil {
		return err
	}
	if v2 || rd.offered.Supports(capability.Sideband64k) || rd.offered.Supports(capability.Sideband) {
		return rd.readPack(newSideband(answer, limit, rd.r.client.newOutput()), into)
	}
	return rd.readPack(&boundedReader{r: answer, remaining: limit, err: ErrTooLarge}, into)
}

// newRequest returns the request for a fetch. haves are shallow commits. There is nothing to negotiate.
func newRequest(want FetchRequest, haves []plumbing.Hash, offered *capability.List, v2 bool) (*bytes.Buffer, error) {
	if want.Depth > 0 && !offered.Supports(capability.Shallow) {
		return nil, errors.New("the server does not support shallow fetches")
	}
	var b bytes.Buffer
	options := ""
	if v2 {
		writePacket(&b, "command=%s", fetchCommand)
		writeDelim(&b)
		writePacket(&b, "no-progress")
		writePacket(&b, "ofs-delta")
		if len(haves) > 0 {
			writePacket(&b, "thin-pack")
		}
	} else {
		options = optionsV0(want, haves, offered)
	}
	wants := slices.Clone(want.Wants)
	plumbing.HashesSort(wants)
	for _, h := range slices.Compact(wants) {
		writePacket(&b, "want %s%s", h, options)
		options = ""
	}
	for _, h := range haves {
		writePacket(&b, "shallow %s", h)
	}
	if want.Depth > 0 {
		writePacket(&b, "deepen %d", want.Depth)
	}
	if want.Filter != "" {
		writePacket(&b, "filter %s", want.Filter)
	}
	if !v2 {
		writeFlush(&b)
	}
	for _, h := range haves {
		writePacket(&b, "have %s", h)
	}
	writePacket(&b, "done")
	if v2 {
		writeFlush(&b)
	}
	return &b, nil
}

// optionsV0 returns the capabilities that a request of version 0 uses, each after a space. Azure Repos refuses a
// request without multi_ack.
func optionsV0(want FetchRequest, haves []plumbing.Hash, offered *capability.List) (text string) {
	for _, o := range []struct {
		used bool
		best []capability.Capability
	}{
		{true, []capability.Capability{capability.OFSDelta}},
		{true, []capability.Capability{capability.NoProgress}},
		{true, []capability.Capability{capability.MultiACKDetailed, capability.MultiACK}},
		{true, []capability.Capability{capability.Sideband64k, capability.Sideband}},
		{len(haves) > 0, []capability.Capability{capability.ThinPack}}, // else Git sends what shallow commits have again
		{want.Depth > 0, []capability.Capability{capability.Shallow}},
		{want.Filter != "", []capability.Capability{capability.Filter}},
	} {
		if i := slices.IndexFunc(o.best, offered.Supports); o.used && i >= 0 {
			text += " " + o.best[i].String()
		}
	}
	return text
}

// skipToPack reads an answer up to its pack: the shallow commits, if the request has a depth, and in version 0 ACK or
// NAK. A server may send its error at any place, as ERR or on channel 3, whether it multiplexes the rest or not.
func skipToPack(r *bufio.Reader, v2 bool, left int64) error {
	for {
		p, err := readPacket(r)
		left -= int64(len(p.data)) + 4
		switch {
		case errors.Is(err, io.EOF): // an answer must not end here
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case left < 0:
			return ErrTooLarge
		}
		switch line := string(p.data); {
		case v2 && line == "packfile":
			return nil
		case v2 && (p.kind == flushPacket || p.kind == endPacket):
			return errors.New("the server sent no pack")
		case v2, p.kind == flushPacket: // after the shallow commits
		case p.kind != dataPacket:
			return errors.New("invalid Git protocol answer: a delimiter before the pack")
		case line == "NAK", strings.HasPrefix(line, "ACK ") && len(strings.Fields(line)) == 2:
			return nil
		case strings.HasPrefix(line, "ACK "), // "common" or "ready": more follow
			strings.HasPrefix(line, "shallow "), strings.HasPrefix(line, "unshallow "), strings.HasPrefix(line, "\x02"):
		case strings.HasPrefix(line, "\x03"):
			return &protocolError{strings.TrimSpace(line[1:])}
		default:
			return fmt.Errorf("invalid Git protocol answer: %q instead of ACK or NAK", line)
		}
	}
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

// readPack reads a pack, which is bounded, into objects, within the limits of the reader and the client.
func (rd *Reader) readPack(pack io.Reader, into Objects) error {
	limit := rd.r.client.settings.limits.maxRead
	if rd.limits.Fetch > 0 {
		limit = min(limit, rd.limits.Fetch)
	}
	if err := unpack(pack, limit, rd.limits.File, into); err != nil {
		if errors.Is(err, ErrTooLarge) {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
		}
		return err
	}
	// Read to the end of this answer, since the next answer starts there.
	_, err := io.Copy(io.Discard, pack)
	return err
}
