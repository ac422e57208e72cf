package remote

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

func (rd *Reader) refsV0(prefix plumbing.ReferenceName) (References, error) {
	found := References{}
	for name, hash := range rd.v0.References {
		if strings.HasPrefix(name, prefix.String()) {
			found[plumbing.ReferenceName(name)] = hash
		}
	}
	if len(rd.v0.References) == 0 && rd.v0.Capabilities.IsEmpty() {
		return found, rd.confirmAbsent(prefix)
	}
	return found, nil
}

func (rd *Reader) fetchV0(want FetchRequest, haves []plumbing.Hash, into Objects) error {
	rd.ended = !rd.s.stateless()
	request, err := requestV0(want, haves, rd.v0.Capabilities)
	if err != nil {
		return err
	}
	answer, err := rd.s.exchange(request, int64(request.Len()), true)
	if err != nil {
		return err
	}
	bounded := bufio.NewReader(&boundedReader{r: answer, remaining: rd.r.client.maxRead, err: ErrTooLarge})
	if err := readAcknowledgement(bounded); err != nil {
		return err
	}
	if offered := rd.v0.Capabilities; offered.Supports(capability.Sideband64k) || offered.Supports(capability.Sideband) {
		return rd.readPack(newSideband(bounded), want, into)
	}
	return rd.readPack(bounded, want, into)
}

// requestV0 returns the request for a fetch. haves are shallow commits. There is nothing to negotiate, but Azure Repos
// refuses a request without multi_ack.
func requestV0(want FetchRequest, haves []plumbing.Hash, offered *capability.List) (*bytes.Buffer, error) {
	choices := [][]capability.Capability{
		{capability.OFSDelta},
		{capability.NoProgress},
		{capability.MultiACKDetailed, capability.MultiACK},
		{capability.Sideband64k, capability.Sideband},
	}
	if len(haves) > 0 { // otherwise Git sends the objects of shallow commits again
		choices = append(choices, []capability.Capability{capability.ThinPack})
	}
	if want.Depth > 0 {
		if !offered.Supports(capability.Shallow) {
			return nil, errors.New("the server does not support shallow fetches")
		}
		choices = append(choices, []capability.Capability{capability.Shallow})
	}
	if want.Filter != "" {
		choices = append(choices, []capability.Capability{capability.Filter})
	}
	request := packp.NewUploadRequest()
	for _, best := range choices {
		if i := slices.IndexFunc(best, offered.Supports); i >= 0 {
			_ = request.Capabilities.Set(best[i]) // none of them needs a value
		}
	}
	request.Wants, request.Shallows = slices.Clone(want.Wants), slices.Clone(haves)
	request.Depth, request.Filter = packp.DepthCommits(want.Depth), want.Filter
	var b bytes.Buffer
	if err := request.Encode(&b); err != nil {
		return nil, err
	}
	for _, h := range haves {
		writePacket(&b, "have %s", h)
	}
	writePacket(&b, "done")
	return &b, nil
}

// readAcknowledgement reads an answer up to its pack: the shallow commits, if the request has a depth, and ACK or NAK.
// A server may send its error at any place, as ERR or on channel 3, whether it multiplexes the rest or not.
func readAcknowledgement(r *bufio.Reader) error {
	for {
		p, err := readPacket(r)
		if err != nil {
			if errors.Is(err, io.EOF) { // an answer must not end here
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		switch line := string(p.data); {
		case p.kind == flushPacket: // after the shallow commits
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
