package postgres_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

// A server may send endless messages, which pgx would keep in memory, or which no query asked for. The connection is
// closed after a limit.
func TestEndlessMessages(t *testing.T) {
	t.Parallel()
	parameter := func(i uint32) []byte {
		return append(binary.BigEndian.AppendUint32([]byte("name "), i), "\x00value\x00"...)
	}
	notice := func(uint32) []byte { return []byte("SNOTICE\x00CXXXXX\x00Mtext\x00\x00") }
	notification := func(uint32) []byte { return []byte("\x00\x00\x00\x01channel\x00payload\x00") }
	for name, test := range map[string]struct {
		kind  byte
		body  func(i uint32) []byte
		ready bool   // the server sends the messages after a query, not at startup
		limit uint64 // of the bytes that the server may send before the connection is closed
	}{
		"parameters at startup": {'S', parameter, false, 8 << 20},
		"parameters of a query": {'S', parameter, true, 8 << 20},
		"notices at startup":    {'N', notice, false, 8 << 20},
		"notifications":         {'A', notification, true, 8 << 20},
		"one large parameter":   {'S', func(uint32) []byte { return make([]byte, 2<<20) }, false, 8 << 20},
		"one large message":     {'D', func(uint32) []byte { return make([]byte, 100<<20) }, true, 120 << 20},
		"rows of a query":       {'D', func(uint32) []byte { return make([]byte, 1<<20) }, true, 1100 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.limit > 200<<20 {
				slow.Skip(t)
			}
			var sent atomic.Uint64
			address := listen(t, func(client net.Conn) {
				from := bufio.NewReader(client)
				if readMessage(from, false) != nil {
					return
				}
				_, _ = client.Write(message('R', []byte{0, 0, 0, 0}))
				if test.ready {
					_, _ = client.Write(message('Z', []byte("I")))
					if readMessage(from, true) != nil {
						return
					}
				}
				for i := uint32(0); ; {
					var piece []byte
					for ; len(piece) < 64<<10; i++ {
						piece = append(piece, message(test.kind, test.body(i))...)
					}
					n, err := client.Write(piece)
					sent.Add(uint64(n))
					if err != nil {
						return
					}
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			_, err := open(t, "postgres://me@"+address+"/db?sslmode=disable").Snapshot(ctx, "prod")
			expectError(t, err, "PostgreSQL at "+address, "more than")
			if sent.Load() > test.limit {
				t.Errorf("the server sent %d bytes", sent.Load())
			}
		})
	}
}

// message returns a message of PostgreSQL's protocol.
func message(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// readMessage reads a message of a client. The first message of a connection has no kind.
func readMessage(from *bufio.Reader, hasKind bool) error {
	if hasKind {
		if _, err := from.ReadByte(); err != nil {
			return err
		}
	}
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return err
	}
	_, err := from.Discard(int(binary.BigEndian.Uint32(size[:])) - 4)
	return err
}
