package remote

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// refsV2 requests the references that start with the prefix. It also requests HEAD, so that the answer is not empty if
// no reference starts with the prefix.
func (rd *Reader) refsV2(prefix plumbing.ReferenceName) (References, error) {
	var b bytes.Buffer
	writePacket(&b, "command=ls-refs")
	writeDelim(&b)
	if rd.v2.unborn {
		writePacket(&b, "symrefs") // otherwise HEAD is not reported
		writePacket(&b, "unborn")
	}
	writePacket(&b, "ref-prefix HEAD")
	writePacket(&b, "ref-prefix %s", prefix)
	writeFlush(&b)
	answer, err := rd.s.exchange(&b, int64(b.Len()), false)
	if err != nil {
		return nil, err
	}
	found := References{}
	left := rd.r.client.maxRefList
	for silent := true; ; silent = false {
		p, err := readPacket(answer)
		switch {
		case err != nil:
			return nil, err
		case p.kind == flushPacket && silent:
			return found, rd.confirmAbsent(prefix)
		case p.kind == flushPacket:
			return found, nil
		case p.kind != dataPacket:
			return nil, errors.New("invalid Git protocol answer: it does not end")
		}
		if left -= int64(len(p.data)); left < 0 {
			return nil, ErrTooManyRefs
		}
		hash, rest, _ := strings.Cut(string(p.data), " ")
		ref, _, _ := strings.Cut(rest, " ") // attributes may follow
		if strings.HasPrefix(ref, prefix.String()) && plumbing.IsHash(hash) {
			found[plumbing.ReferenceName(ref)] = plumbing.NewHash(hash)
		}
	}
}

func (rd *Reader) fetchV2(want FetchRequest, haves []plumbing.Hash, into Objects) error {
	var b bytes.Buffer
	writePacket(&b, "command=fetch")
	writeDelim(&b)
	writePacket(&b, "no-progress")
	writePacket(&b, "ofs-delta")
	for _, h := range want.Wants {
		writePacket(&b, "want %s", h)
	}
	if want.Depth > 0 {
		if !rd.v2.shallow {
			return errors.New("the server does not support shallow fetches")
		}
		writePacket(&b, "deepen %d", want.Depth)
	}
	if want.Filter != "" {
		writePacket(&b, "filter %s", want.Filter)
	}
	if len(haves) > 0 {
		writePacket(&b, "thin-pack") // otherwise Git sends the objects of shallow commits again
	}
	for _, h := range haves {
		writePacket(&b, "shallow %s", h)
		writePacket(&b, "have %s", h)
	}
	writePacket(&b, "done")
	writeFlush(&b)
	answer, err := rd.s.exchange(&b, int64(b.Len()), false)
	if err != nil {
		return err
	}
	for {
		p, err := readPacket(answer)
		switch {
		case err != nil:
			return err
		case p.kind == dataPacket && string(p.data) == "packfile":
			return rd.readPack(newSideband(answer), want, into)
		case p.kind == flushPacket || p.kind == endPacket:
			return errors.New("the server sent no pack")
		}
	}
}
