package delivery

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/digest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// packed is a footprint in private state. It holds a hash for each target, and their names, which cluster types share,
// once.
type packed struct {
	ClusterTypes []string `json:"cluster_types"`
	Hashes       []byte   `json:"hashes"`  // of the cluster types' folders, one after the other
	Digests      []byte   `json:"digests"` // the same of what they were rendered from
	Counts       []int    `json:"counts"`  // of the cluster types' targets
	Names        []string `json:"names"`   // of targets, each once
	Which        []byte   `json:"which"`   // the place in Names of each target, as varints
	TargetHashes []byte   `json:"target_hashes"`
	Empty        []int    `json:"empty,omitempty"` // the targets that are
}

// MarshalJSON implements json.Marshaler.
func (f Footprint) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("null"), nil
	}
	p := packed{ClusterTypes: f.Names()}
	places := map[string]uint64{}
	n := 0
	for _, name := range p.ClusterTypes {
		folder := f[name]
		p.Hashes = append(p.Hashes, folder.Hash[:]...)
		p.Digests = append(p.Digests, folder.Digest[:]...)
		p.Counts = append(p.Counts, len(folder.Targets))
		for _, t := range folder.Targets {
			place, known := places[t.Name]
			if !known {
				place = uint64(len(p.Names))
				places[t.Name] = place
				p.Names = append(p.Names, t.Name)
			}
			p.Which = binary.AppendUvarint(p.Which, place)
			p.TargetHashes = append(p.TargetHashes, t.Hash[:]...)
			if t.Empty {
				p.Empty = append(p.Empty, n)
			}
			n++
		}
	}
	return json.Marshal(p)
}

// errPacked is a footprint that MarshalJSON did not write.
var errPacked = errors.New("broken footprint")

const hashSize, digestSize = len(tree.Hash{}), len(digest.Digest{})

// UnmarshalJSON implements json.Unmarshaler.
func (f *Footprint) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var p packed
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	targets, err := p.targets()
	if err != nil {
		return err
	}
	n := len(p.ClusterTypes)
	if len(p.Counts) != n || len(p.Hashes) != n*hashSize || len(p.Digests) != n*digestSize {
		return errPacked
	}
	*f = make(Footprint, n)
	for i, name := range p.ClusterTypes {
		count := p.Counts[i]
		if count < 0 || count > len(targets) {
			return errPacked
		}
		(*f)[name] = tree.Folder{
			ClusterType: name,
			Hash:        tree.Hash(p.Hashes[i*hashSize:]),
			Digest:      digest.Digest(p.Digests[i*digestSize:]),
			Targets:     targets[:count:count],
		}
		targets = targets[count:]
	}
	return nil
}

// targets are those of all cluster types, one after the other.
func (p *packed) targets() ([]tree.Target, error) {
	all := make([]tree.Target, len(p.TargetHashes)/hashSize)
	for i := range all {
		place, n := binary.Uvarint(p.Which)
		if n <= 0 || place >= uint64(len(p.Names)) {
			return nil, errPacked
		}
		p.Which = p.Which[n:]
		all[i] = tree.Target{Name: p.Names[place], Hash: tree.Hash(p.TargetHashes[i*hashSize:])}
	}
	for _, i := range p.Empty {
		if i < 0 || i >= len(all) {
			return nil, errPacked
		}
		all[i].Empty = true
	}
	return all, nil
}

// MarshalJSON implements json.Marshaler. What was seen as it was delivered is told once.
func (s State) MarshalJSON() ([]byte, error) {
	type plain State
	p := plain(s)
	p.Seen = maps.Clone(s.Seen)
	for name, folder := range p.Seen {
		if folder.Hash == s.Delivered[name].Hash {
			p.Seen[name] = tree.Folder{Hash: folder.Hash}
		}
	}
	return json.Marshal(p)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *State) UnmarshalJSON(data []byte) error {
	type plain State
	if err := json.Unmarshal(data, (*plain)(s)); err != nil {
		return err
	}
	for name, folder := range s.Seen {
		if delivered, ok := s.Delivered[name]; ok && folder.Hash == delivered.Hash {
			s.Seen[name] = delivered
		}
	}
	return nil
}
