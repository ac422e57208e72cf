package gitremote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// sideband reads the main channel of a multiplexed answer, and keeps what the
// server prints beside it. Unlike go-git's it stays at its end once it got
// there: in protocol 2 more answers follow on the same connection.
type sideband struct {
	r    *bufio.Reader
	said *words
	data []byte
	err  error
}

func newSideband(r *bufio.Reader) *sideband { return &sideband{r: r, said: &words{}} }

func (s *sideband) Read(p []byte) (int, error) {
	for len(s.data) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.next()
	}
	n := copy(p, s.data)
	s.data = s.data[n:]
	return n, nil
}

func (s *sideband) next() {
	p, err := readRawPacket(s.r)
	switch {
	case errors.Is(err, io.EOF):
		// An answer ends with a flush.
		s.err = io.ErrUnexpectedEOF
	case err != nil:
		s.err = err
	case p.kind != dataPacket:
		s.err = io.EOF
	case len(p.data) == 0:
	case p.data[0] == 1:
		s.data = p.data[1:]
	case p.data[0] == 2:
		_, _ = s.said.Write(p.data[1:])
	case p.data[0] == 3:
		s.err = errors.New(strings.TrimSpace(string(p.data[1:])))
	default:
		s.err = fmt.Errorf("the answer is not of the Git protocol: channel %d", p.data[0])
	}
}
