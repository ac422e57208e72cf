package gitremote

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

// input is the input of a session. It counts how often it is closed, since an SSH channel must not be closed twice.
type input struct {
	strings.Builder
	closed int
}

func (i *input) Close() error { i.closed++; return nil }

// TestPipeClosesOnce: a session that closed its input after the last request does not close it again when it ends.
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

// TestExplainError: if the server's answer contains an error, this error is reported. Any other error is reported as
// the output of the server's program.
func TestExplainError(t *testing.T) {
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
