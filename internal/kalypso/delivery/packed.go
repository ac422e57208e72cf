package delivery

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/digest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// A state lies in private state, which every step of a plan reads, and private state takes JSON alone. What grows with the
// fleet are its footprints, with a hash for each assignment. So it is one JSON string, and no JSON inside of JSON that is
// looked through at each level: in base 64, the number of the form, the state as JSON without its footprints, the names of
// all targets, and the two footprints.

const packedFormat = 3

var errPacked = errors.New("not a state in this version's form")

// MarshalJSON implements json.Marshaler.
func (s State) MarshalJSON() ([]byte, error) {
	type plain State
	rest, err := json.Marshal(plain(s))
	if err != nil {
		return nil, err
	}
	p := packer{data: []byte{packedFormat}, places: map[string]int{}}
	p.text(string(rest))
	p.names(s.Delivered, nil)
	p.names(s.Seen, s.Delivered)
	p.table()
	p.footprint(s.Delivered, nil)
	p.footprint(s.Seen, s.Delivered)
	text := make([]byte, 0, base64.StdEncoding.EncodedLen(len(p.data))+2)
	text = append(text, '"')
	text = base64.StdEncoding.AppendEncode(text, p.data)
	return append(text, '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *State) UnmarshalJSON(text []byte) error {
	n := len(text)
	if n < 2 || text[0] != '"' || text[n-1] != '"' {
		return errPacked
	}
	data, err := base64.StdEncoding.AppendDecode(nil, text[1:n-1])
	if err != nil {
		return fmt.Errorf("%w: %w", errPacked, err)
	}
	u := unpacker{rest: data}
	if format := u.bytes(1); u.failed || format[0] != packedFormat {
		return errPacked
	}
	type plain State
	if err := json.Unmarshal(u.bytes(u.count()), (*plain)(s)); err != nil {
		return fmt.Errorf("%w: %w", errPacked, err)
	}
	u.names = make([]string, u.count())
	for i := range u.names {
		u.names[i] = string(u.bytes(u.count()))
	}
	s.Delivered = u.footprint(nil)
	s.Seen = u.footprint(s.Delivered)
	if u.failed || len(u.rest) > 0 {
		return errPacked
	}
	return nil
}

const hashSize, digestSize = len(tree.Hash{}), len(digest.Digest{})

// packer writes footprints: of each the number of its folders and one, or zero where there is none; of each folder its name,
// its hash, and whether more follows: its digest, and of each target the place of its name, whether it is empty, and its hash.
type packer struct {
	data   []byte
	places map[string]int // of the names of targets, which cluster types share
}

func (p *packer) number(n int) { p.data = binary.AppendUvarint(p.data, uint64(n)) } //nolint:gosec // not negative

func (p *packer) text(s string) {
	p.number(len(s))
	p.data = append(p.data, s...)
}

// names takes in those of f's targets but where told has the folder.
func (p *packer) names(f, told Footprint) {
	for name, folder := range f {
		if tells(told, name, folder.Hash) {
			continue
		}
		for _, t := range folder.Targets {
			p.places[t.Name] = 0
		}
	}
}

// tells reports whether f has that folder.
func tells(f Footprint, name string, hash tree.Hash) bool {
	folder, ok := f[name]
	return ok && folder.Hash == hash
}

// table writes the names, and gives them their places.
func (p *packer) table() {
	p.number(len(p.places))
	for i, name := range slices.Sorted(maps.Keys(p.places)) {
		p.places[name] = i
		p.text(name)
	}
}

// footprint writes f. Of folders that told has, the names and hashes are enough.
func (p *packer) footprint(f, told Footprint) {
	if f == nil {
		p.number(0)
		return
	}
	p.number(len(f) + 1)
	for _, name := range f.Names() {
		folder := f[name]
		p.text(name)
		p.data = append(p.data, folder.Hash[:]...)
		if tells(told, name, folder.Hash) {
			p.number(0)
			continue
		}
		p.number(len(folder.Targets) + 1)
		p.data = append(p.data, folder.Digest[:]...)
		for _, t := range folder.Targets {
			head := p.places[t.Name] << 1
			if t.Empty {
				head |= 1
			}
			p.number(head)
			p.data = append(p.data, t.Hash[:]...)
		}
	}
}

// unpacker reads what a packer wrote. Once it has failed it gives nothing more.
type unpacker struct {
	rest   []byte
	names  []string
	failed bool
}

func (u *unpacker) fail() { u.rest, u.failed = nil, true }

func (u *unpacker) number() int {
	n, size := binary.Uvarint(u.rest)
	if size <= 0 || n > math.MaxInt32 {
		u.fail()
		return 0
	}
	u.rest = u.rest[size:]
	return int(n)
}

// count is a number of things of which each has a byte at least.
func (u *unpacker) count() int {
	n := u.number()
	if n > len(u.rest) {
		u.fail()
		return 0
	}
	return n
}

// bytes are the next n; nil where there are fewer.
func (u *unpacker) bytes(n int) []byte {
	if n > len(u.rest) {
		u.fail()
		return nil
	}
	b := u.rest[:n]
	u.rest = u.rest[n:]
	return b
}

func (u *unpacker) footprint(told Footprint) Footprint {
	n := u.number()
	if n == 0 {
		return nil
	}
	f := Footprint{}
	for range n - 1 {
		name := string(u.bytes(u.count()))
		hash := u.bytes(hashSize)
		switch more := u.number(); {
		case u.failed:
			return nil
		case more == 0:
			if !tells(told, name, tree.Hash(hash)) {
				u.fail()
			}
			f[name] = told[name]
		default:
			f[name] = tree.Folder{ClusterType: name, Hash: tree.Hash(hash), Digest: u.digest(), Targets: u.targets(more - 1)}
		}
	}
	return f
}

func (u *unpacker) digest() (d digest.Digest) {
	copy(d[:], u.bytes(digestSize))
	return d
}

func (u *unpacker) targets(n int) []tree.Target {
	if n > len(u.rest)/hashSize {
		u.fail()
		return nil
	}
	targets := make([]tree.Target, n)
	for i := range targets {
		head := u.number()
		hash := u.bytes(hashSize)
		if u.failed || head>>1 >= len(u.names) {
			u.fail()
			return nil
		}
		targets[i] = tree.Target{Name: u.names[head>>1], Hash: tree.Hash(hash), Empty: head&1 == 1}
	}
	return targets
}
