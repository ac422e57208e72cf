package gitremote

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// packet is one packet of the Git protocol. go-git's reader does not support the delimiter of protocol version 2.
type packet struct {
	kind packetKind
	data []byte // of data packets
}

type packetKind int

const (
	dataPacket packetKind = iota
	flushPacket
	delimPacket
	endPacket
)

const maxPacket = 65520

// readPacket reads one packet that contains a line. A packet that starts with "ERR " becomes a [protocolError].
func readPacket(r *bufio.Reader) (packet, error) {
	p, err := readRawPacket(r)
	if err != nil {
		return packet{}, err
	}
	if message, ok := bytes.CutPrefix(p.data, []byte("ERR ")); ok {
		return packet{}, &protocolError{strings.TrimSpace(string(message))}
	}
	p.data = bytes.TrimSuffix(p.data, []byte("\n"))
	return p, nil
}

// protocolError is an error that the server reports in its answer: in a packet ERR, or on channel 3. It is never taken
// for a broken connection, whatever its text says.
type protocolError struct{ text string }

func (e *protocolError) Error() string { return e.text }

func readRawPacket(r *bufio.Reader) (packet, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return packet{}, err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	if err != nil {
		return packet{}, fmt.Errorf("invalid Git protocol answer: %q instead of a packet length", head)
	}
	switch {
	case n <= 2:
		return packet{kind: flushPacket + packetKind(n)}, nil
	case n < 4 || n > maxPacket:
		return packet{}, fmt.Errorf("invalid Git protocol answer: a packet of %d bytes; packets have 4 to %d bytes", n,
			maxPacket)
	}
	data := make([]byte, n-4)
	if _, err := io.ReadFull(r, data); err != nil {
		return packet{}, err
	}
	return packet{data: data}, nil
}

// writePacket appends a packet with a line to a request.
func writePacket(b *bytes.Buffer, format string, args ...any) {
	line := fmt.Sprintf(format, args...) + "\n"
	fmt.Fprintf(b, "%04x%s", len(line)+4, line)
}

func writeDelim(b *bytes.Buffer) { b.WriteString("0001") }
func writeFlush(b *bytes.Buffer) { b.WriteString("0000") }
