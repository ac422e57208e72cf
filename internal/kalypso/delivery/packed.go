package delivery

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/digest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// A state lies in private state, which every step of a plan and of an apply reads, Terraform copies, and where all is JSON. What
// grows with the fleet are its footprints, with a hash for each assignment. So it is one JSON string, and no JSON inside of JSON
// that is looked through at each level: in base 64, the number of the form, the state as JSON without its footprints, the
// names of all targets, the lists of them that folders have, and the two footprints. The hashes of a folder's targets stay one
// piece until one of them is looked at.

const packedFormat = 4

// wholeHashes is up to how many targets a state keeps whole hashes: then the trees of the cluster types that a change reaches
// are known, and the branch is not asked for them, which is one round trip where they are many. Of more targets, those in
// folders that drifted counted twice, it keeps the first cutHash bytes. The rest would cost more than that in every plan and
// apply: a byte here is 2.4 in Terraform's state. With 5 bytes, one change of a target in 2^40 is not told of; it is made all
// the same.
const (
	wholeHashes = 16384
	cutHash     = 5
)

var errPacked = errors.New("not a state in this version's form")

// MarshalJSON implements json.Marshaler.
func (s State) MarshalJSON() ([]byte, error) {
	type plain State
	rest, err := json.Marshal(plain(s))
	if err != nil {
		return nil, err
	}
	p := packer{places: map[string]int{}}
	p.count(s.Delivered, nil)
	p.count(s.Seen, s.Delivered)
	p.footprint(s.Delivered, nil)
	p.footprint(s.Seen, s.Delivered)
	footprints := p.data
	p.data = []byte{packedFormat}
	p.text(string(rest))
	p.tables()
	data := append(p.data, footprints...)
	text := make([]byte, 0, base64.StdEncoding.EncodedLen(len(data))+2)
	text = append(text, '"')
	text = base64.StdEncoding.AppendEncode(text, data)
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
	u.tables()
	s.Delivered = u.footprint(nil)
	s.Seen = u.footprint(s.Delivered)
	if u.failed || len(u.rest) > 0 {
		return errPacked
	}
	return nil
}

// packer writes footprints: of each the number of its folders and one, or zero where there is none; of each folder its name,
// its hash, and whether more follows: its digest, and of its targets the place of the list of their names, the size of their
// hashes, the hashes, and a bit for each that says whether it is empty.
type packer struct {
	data    []byte
	targets int            // how many there are
	lists   [][]string     // of names, which cluster types share
	places  map[string]int // of the lists
}

func (p *packer) number(n int) { p.data = binary.AppendUvarint(p.data, uint64(n)) } //nolint:gosec // not negative

func (p *packer) text(s string) {
	p.number(len(s))
	p.data = append(p.data, s...)
}

// count takes in f's targets, but where told has the folder.
func (p *packer) count(f, told Footprint) {
	for name, folder := range f {
		if !tells(told, name, folder.Hash) {
			p.targets += folder.Targets.Len()
		}
	}
}

// list is the place of the list of the names. No name in Git has the byte that stands between them here.
func (p *packer) list(names []string) int {
	key := strings.Join(names, "\x00")
	place, ok := p.places[key]
	if !ok {
		place = len(p.lists)
		p.places[key], p.lists = place, append(p.lists, names)
	}
	return place
}

// tells reports whether f has that folder.
func tells(f Footprint, name string, hash tree.Hash) bool {
	folder, ok := f[name]
	return ok && folder.Hash == hash
}

// tables writes the names, sorted, and the lists: of each name how many names after the one before it lies.
func (p *packer) tables() {
	names := slices.Concat(p.lists...)
	slices.Sort(names)
	names = slices.Compact(names)
	places := make(map[string]int, len(names))
	p.number(len(names))
	for i, name := range names {
		places[name] = i
		p.text(name)
	}
	p.number(len(p.lists))
	for _, names := range p.lists {
		p.number(len(names))
		next := 0
		for _, name := range names {
			p.number(places[name] - next)
			next = places[name] + 1
		}
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
		p.number(1)
		p.data = append(p.data, folder.Digest[:]...)
		p.write(folder.Targets)
	}
}

func (p *packer) write(t tree.Targets) {
	p.number(p.list(t.Names))
	if p.targets > wholeHashes {
		t = t.Cut(cutHash)
	}
	p.number(t.Size)
	p.data = append(p.data, t.Hashes...)
	p.text(string(t.Empty))
}

// unpacker reads what a packer wrote. Once it has failed it gives nothing more.
type unpacker struct {
	rest   []byte
	lists  [][]string
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
	b := u.rest[:n:n]
	u.rest = u.rest[n:]
	return b
}

func (u *unpacker) tables() {
	names := make([]string, u.count())
	for i := range names {
		names[i] = string(u.bytes(u.count()))
	}
	u.lists = make([][]string, u.count())
	for i := range u.lists {
		list := make([]string, u.count())
		place := 0
		for j := range list {
			skipped := u.number()
			if u.failed || skipped >= len(names)-place {
				u.fail()
				return
			}
			list[j] = names[place+skipped]
			place += skipped + 1
		}
		u.lists[i] = list
	}
}

func (u *unpacker) footprint(told Footprint) Footprint {
	n := u.number()
	if n == 0 {
		return nil
	}
	f := Footprint{}
	for range n - 1 {
		name := string(u.bytes(u.count()))
		hash := u.bytes(tree.HashSize)
		switch more := u.number(); {
		case u.failed:
			return nil
		case more == 0:
			if !tells(told, name, tree.Hash(hash)) {
				u.fail()
			}
			f[name] = told[name]
		default:
			f[name] = tree.Folder{ClusterType: name, Hash: tree.Hash(hash), Digest: u.digest(), Targets: u.targets()}
		}
	}
	return f
}

func (u *unpacker) digest() (d digest.Digest) {
	copy(d[:], u.bytes(len(d)))
	return d
}

func (u *unpacker) targets() (t tree.Targets) {
	place, size := u.number(), u.number()
	if place >= len(u.lists) || size > tree.HashSize || size == 0 && len(u.lists[place]) > 0 {
		u.fail()
		return t
	}
	t.Names, t.Size = u.lists[place], size
	t.Hashes, t.Empty = u.bytes(t.Size*len(t.Names)), u.bytes(u.count())
	return t
}
