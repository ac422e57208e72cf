package pgserver

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// Proxy is a proxy in front of a server, which breaks one connection.
type Proxy struct {
	Address string // host:port
	cuts    atomic.Int32
}

// Cuts returns the number of connections that were broken.
func (p *Proxy) Cuts() int { return int(p.cuts.Load()) }

// CutAt starts a proxy that breaks the first connection in which a client sends a text. If before is set, the server
// does not get the text; otherwise the client does not get the answer. The proxy does not support TLS.
func (s *Server) CutAt(t testing.TB, text string, before bool) *Proxy {
	t.Helper()
	p := &Proxy{}
	p.Address = programs.Listen(t, func(client net.Conn) {
		if server, err := net.Dial("tcp", "127.0.0.1:"+s.Port); err == nil {
			p.serve(client, server, []byte(text), before)
		}
	})
	return p
}

// serve copies between a client and the server. It relies on pgx to send each message in one piece.
func (p *Proxy) serve(client, server net.Conn, text []byte, before bool) {
	defer server.Close()
	var cut atomic.Bool
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		defer client.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil || cut.Load() {
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], text) && p.cuts.CompareAndSwap(0, 1) {
			if before {
				return
			}
			cut.Store(true)
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
		if cut.Load() {
			<-answers // the server has executed it
			return
		}
	}
}
