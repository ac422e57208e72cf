package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// References maps the names of references to what they point to.
type References map[plumbing.ReferenceName]plumbing.Hash

// Ref looks up one reference, and returns the zero hash if it does not exist. An answer without any reference is
// [ErrEmptyAnswer], unless the server confirms that the repository is empty.
func (rd *Reader) Ref(name plumbing.ReferenceName) (plumbing.Hash, error) {
	found, err := rd.Refs(name)
	return found[name], err
}

// Refs lists the references whose names start with a prefix. It fails as Ref does.
func (rd *Reader) Refs(prefix plumbing.ReferenceName) (References, error) {
	if err := rd.connect(); err != nil {
		return nil, err
	}
	if rd.v0 != nil { // the list stays valid after the session ends
		found, err := rd.refsV0(prefix)
		return found, rd.r.wrapError(rd.ctx, "read the references of", err)
	}
	var found References
	err := rd.do("read the references of", func() (err error) {
		if rd.v0 != nil { // after a retry the server may speak version 0
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
	if rd.v0 != nil || !rd.s.stateless() {
		rd.v0, rd.ended = nil, true
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

// refsV2 requests the references that start with the prefix. It also requests HEAD, so that the answer is not empty if
// no reference starts with the prefix.
func (rd *Reader) refsV2(prefix plumbing.ReferenceName) (References, error) {
	var b bytes.Buffer
	writePacket(&b, "command=%s", listCommand)
	writeDelim(&b)
	if rd.offered.Supports(unbornFeature) {
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
	left := rd.r.client.settings.limits.maxRefList
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
		left -= int64(len(p.data))
		if left < 0 {
			return nil, ErrTooManyRefs
		}
		hash, rest, _ := strings.Cut(string(p.data), " ")
		ref, _, _ := strings.Cut(rest, " ") // attributes may follow
		if strings.HasPrefix(ref, prefix.String()) && plumbing.IsHash(hash) {
			found[plumbing.ReferenceName(ref)] = plumbing.NewHash(hash)
		}
	}
}
