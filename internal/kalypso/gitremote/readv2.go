package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// refV2 asks for the references that start with the name, and takes the one
// that is it.
func (rd *Reader) refV2(name plumbing.ReferenceName) (plumbing.Hash, error) {
	var b bytes.Buffer
	writePacket(&b, "command=ls-refs")
	writeDelim(&b)
	writePacket(&b, "ref-prefix %s", name)
	writeFlush(&b)
	request, size := buffered(&b)
	answer, err := rd.s.exchange(request, size, false)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var found plumbing.Hash
	for {
		p, err := readPacket(answer)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if p.kind != dataPacket {
			return found, nil
		}
		if hash, ref, ok := strings.Cut(string(p.data), " "); ok && ref == name.String() && plumbing.IsHash(hash) {
			found = plumbing.NewHash(hash)
		}
	}
}

func (rd *Reader) fetchV2(want FetchRequest, into Objects) error {
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
			return errors.New("the server cannot send a part of its history")
		}
		writePacket(&b, "deepen %d", want.Depth)
	}
	if want.Filter != "" {
		writePacket(&b, "filter %s", want.Filter)
	}
	writePacket(&b, "done")
	writeFlush(&b)
	request, size := buffered(&b)
	answer, err := rd.s.exchange(request, size, false)
	if err != nil {
		return err
	}
	for {
		p, err := readPacket(answer)
		switch {
		case err != nil:
			return err
		case p.kind == dataPacket && string(p.data) == "packfile":
			return rd.store(newSideband(answer), want, into)
		case p.kind == flushPacket || p.kind == endPacket:
			return fmt.Errorf("the server sent no pack")
		}
	}
}
