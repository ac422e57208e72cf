package gitremote

import (
	"bufio"
	"strings"
	"testing"
)

// input is of a kind that, as an SSH channel, is not to be closed twice at a time.
type input struct {
	strings.Builder
	closed int
}

func (i *input) Close() error { i.closed++; return nil }

// TestPipeShutsOnce: the input is closed once, even if the session ends while the last request is being written.
func TestPipeShutsOnce(t *testing.T) {
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
