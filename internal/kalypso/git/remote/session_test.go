package remote

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

// input must not be closed twice at the same time, like an SSH channel.
type input struct {
	strings.Builder
	closed int
}

func (i *input) Close() error { i.closed++; return nil }

// TestPipeClosesOnce: the input is closed once, even if the session ends while the last request is being written.
func TestPipeClosesOnce(t *testing.T) {
	in := &input{}
	p := &pipe{in: in, out: bufio.NewReader(strings.NewReader("")), stderr: &serverOutput{},
		stop: func() error { return nil }}
	if _, err := p.exchange(strings.NewReader("request"), 0, true); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil || in.closed != 1 {
		t.Errorf("closed %d times: %v", in.closed, err)
	}
}

// TestServersError: an error in the answer has priority over the program's output. The output explains all other
// errors.
func TestServersError(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&protocolError{"TF401035: The object does not exist."}, "TF401035: The object does not exist."},
		{io.ErrUnexpectedEOF, "closed by the server"},
	} {
		p := &pipe{in: &input{}, out: bufio.NewReader(strings.NewReader("")), stderr: &serverOutput{},
			stop: func() error { return nil }}
		_, _ = p.stderr.Write([]byte("closed by the server\n"))
		if err := p.explain(test.err); err.Error() != test.want || !errors.Is(err, test.err) {
			t.Errorf("%v became %v", test.err, err)
		}
	}
}
