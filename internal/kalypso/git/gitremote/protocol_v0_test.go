package gitremote

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/google/go-cmp/cmp"
)

const (
	hashA = "1111111111111111111111111111111111111111"
	hashB = "2222222222222222222222222222222222222222"
)

// TestRequestV0 pins the bytes of a request for some sets of capabilities that servers offer.
func TestRequestV0(t *testing.T) {
	a, b := plumbing.NewHash(hashA), plumbing.NewHash(hashB)
	for name, test := range map[string]struct {
		offered string
		want    FetchRequest
		haves   []plumbing.Hash
		request string
	}{
		"git": {
			"multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not deepen-relative " +
				"no-progress include-tag multi_ack_detailed no-done allow-tip-sha1-in-want allow-reachable-sha1-in-want filter " +
				"object-format=sha1 agent=git/2.47.3",
			FetchRequest{Wants: []plumbing.Hash{b, a, b}, Depth: 3, Filter: "tree:0"}, nil,
			"0078want " + hashA + " ofs-delta no-progress multi_ack_detailed side-band-64k shallow filter\n" +
				"0032want " + hashB + "\n000ddeepen 3\n0012filter tree:0\n00000009done\n",
		},
		"multi_ack alone": {
			"multi_ack side-band", FetchRequest{Wants: []plumbing.Hash{a}}, nil,
			"0046want " + hashA + " multi_ack side-band\n00000009done\n",
		},
		"no capabilities": {"", FetchRequest{Wants: []plumbing.Hash{a}}, nil, "0032want " + hashA + "\n00000009done\n"},
		"history of a known commit": {
			"thin-pack shallow", FetchRequest{Wants: []plumbing.Hash{a}, Depth: 9}, []plumbing.Hash{a},
			"0044want " + hashA + " thin-pack shallow\n0035shallow " + hashA + "\n000ddeepen 9\n00000032have " + hashA +
				"\n0009done\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			offered := capability.NewList()
			if err := offered.Decode([]byte(test.offered)); err != nil {
				t.Fatal(err)
			}
			got, err := newRequest(test.want, test.haves, offered, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.request, got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestSkipToPack reads the answers of servers up to the pack. An error of the server is found wherever it is
// in the answer.
func TestSkipToPack(t *testing.T) {
	const (
		shallow = "0034shallow " + hashA + "0036unshallow " + hashB
		nak     = "0008NAK\n"
		pack    = "0009\x01PACK"
		missing = "TF401035: The object '" + hashA + "' does not exist."
		onThree = "0054\x03" + missing + "\n"
		asErr   = "0057ERR " + missing + "\n"
	)
	for name, test := range map[string]struct {
		answer string
		want   string // the error; empty if the pack can be read
	}{
		"no depth":                      {nak + pack, ""},
		"depth":                         {shallow + "0000" + nak + pack, ""},
		"depth, nothing shallow":        {"0000" + nak + pack, ""},
		"ACK instead of NAK":            {"0038ACK " + hashA + " common\n0031ACK " + hashA + "\n" + pack, ""},
		"progress first":                {"000b\x02hello\n" + nak + pack, ""},
		"channel 3":                     {onThree, missing},
		"channel 3 in place of shallow": {onThree + "0000", missing},
		"channel 3 after shallow":       {shallow + onThree, missing},
		"channel 3 in place of NAK":     {shallow + "0000" + onThree, missing},
		"ERR":                           {asErr, missing},
		"ERR after shallow":             {shallow + "0000" + asErr, missing},
		"end after shallow":             {shallow + "0000", io.ErrUnexpectedEOF.Error()},
		"end within a packet":           {"0034shallow", io.ErrUnexpectedEOF.Error()},
		"no answer":                     {"", io.ErrUnexpectedEOF.Error()},
		"message with the text of EOF":  {"0013\x03unexpected EOF", "unexpected EOF"},
		"text instead of NAK":           {"0009hello", `invalid Git protocol answer: "hello" instead of ACK or NAK`},
		"pack without NAK":              {pack, `invalid Git protocol answer: "\x01PACK" instead of ACK or NAK`},
		"delimiter before the pack":     {"0001", "invalid Git protocol answer: a delimiter before the pack"},
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReader(strings.NewReader(test.answer))
			err := skipToPack(r, false, 1<<20)
			if test.want == "" {
				rest, _ := io.ReadAll(r)
				if err != nil || string(rest) != pack {
					t.Fatalf("%v, and then %q", err, rest)
				}
				return
			}
			if err == nil || err.Error() != test.want {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if isMissing := strings.HasPrefix(test.want, "TF"); isMissing && !errors.Is(kindOf(err), ErrObjectNotServed) {
				t.Errorf("%v is a %v", err, kindOf(err))
			}
			ended := strings.HasPrefix(name, "end ") || name == "no answer"
			if transient(err) != ended {
				t.Errorf("%v is transient: %t", err, transient(err))
			}
		})
	}
}
