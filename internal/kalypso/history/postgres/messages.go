package postgres

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Bounds of a connection, in bytes.
const (
	maxMessage     = 16 << 20
	maxUnrequested = 1 << 20 // of messages that a server may send at any time; pgx keeps some of them
	maxReceived    = 1 << 30 // a million instances, also ended ones, take some 235 MB
)

var (
	errMessage     = &refusal{errors.New("the server sent a message of more than 16 MiB")}
	errUnrequested = &refusal{errors.New("the server sent more than 1 MiB of parameters, notices and notifications")}
	errReceived    = &refusal{errors.New("the server sent more than 1 GiB in one transaction")}
)

// bounds limits what a connection receives. It keeps the error, which pgx replaces by "conn closed".
type bounds struct{ exceeded atomic.Pointer[refusal] }

// exceed returns the error of a bound that a server exceeded.
func (b *bounds) exceed(err *refusal) error {
	b.exceeded.CompareAndSwap(nil, err)
	return err
}

// limit returns a configuration whose connection has the bounds.
func (b *bounds) limit(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &boundedConn{Conn: conn, bounds: b}, nil
	}
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(&messageReader{r: bufio.NewReader(r), bounds: b}, w)
	}
	return config
}

// boundedConn limits the bytes that arrive, including bytes that pgx buffers while it writes and bytes that it drops
// while it closes the connection.
type boundedConn struct {
	net.Conn
	*bounds
	received atomic.Int64
}

// Read implements io.Reader.
func (c *boundedConn) Read(p []byte) (int, error) {
	if err := c.exceeded.Load(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if c.received.Add(int64(n)) > maxReceived {
		return 0, c.exceed(errReceived)
	}
	return n, err
}

// messageReader limits the messages that arrive. A message has a byte for its kind, four bytes for its length, which
// includes these four, and a body.
type messageReader struct {
	r *bufio.Reader
	*bounds
	left        int // bytes of the message that are still to come
	unrequested int
}

// Read implements io.Reader.
func (m *messageReader) Read(p []byte) (int, error) {
	if m.left == 0 {
		header, err := m.r.Peek(5)
		if err != nil {
			return 0, err
		}
		m.left = 1 + max(4, int(binary.BigEndian.Uint32(header[1:])))
		switch header[0] {
		case 'S', 'N', 'A': // ParameterStatus, NoticeResponse, NotificationResponse
			m.unrequested += m.left
		}
		switch {
		case m.unrequested > maxUnrequested:
			return 0, m.exceed(errUnrequested)
		case m.left > maxMessage:
			return 0, m.exceed(errMessage)
		}
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}
