package gitremote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// sideband reads the main channel of a multiplexed answer, and keeps what the server prints on the progress channel.
// Unlike go-git's, it stops at the end of the answer: in protocol version 2 more answers follow on the same
// connection.
type sideband struct {
	r      *bufio.Reader
	left   int64 // bytes that the server may send
	output *serverOutput
	data   []byte
	err    error
}

func newSideband(r *bufio.Reader, limit int64, output *serverOutput) *sideband {
	return &sideband{r: r, left: limit, output: output}
}

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
	s.left -= int64(len(p.data)) + 4
	switch {
	case errors.Is(err, io.EOF):
		// An answer ends with a flush packet.
		s.err = io.ErrUnexpectedEOF
	case err != nil:
		s.err = err
	case s.left < 0:
		s.err = ErrTooLarge
	case p.kind != dataPacket:
		s.err = io.EOF
	case len(p.data) == 0:
	case p.data[0] == 1:
		s.data = p.data[1:]
	case p.data[0] == 2:
		_, _ = s.output.Write(p.data[1:])
	case p.data[0] == 3:
		s.err = &protocolError{strings.TrimSpace(string(p.data[1:]))}
	default:
		s.err = fmt.Errorf("invalid Git protocol answer: channel %d", p.data[0])
	}
}
