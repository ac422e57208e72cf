package delivery

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// Footprint is the folders of a rendering, by cluster type: what it wants, or what the branch holds of it.
type Footprint map[string]Folder

// Folder is the folder of a cluster type.
type Folder struct {
	Hash    string            `json:"hash"`              // of its Git tree, hexadecimal
	Digest  string            `json:"digest,omitempty"`  // the digest of what it was rendered from; empty: not rendered by us
	Targets map[string]Target `json:"targets,omitempty"` // by deployment target
}

// Target is the folder of a deployment target.
type Target struct {
	Hash  string `json:"hash"`            // the first characters of its Git tree's, enough to see a change
	Empty bool   `json:"empty,omitempty"` // all its files are empty
}

// shortHash is how many hexadecimal digits are kept of a target's hash.
const shortHash = 12

// FootprintOf is what a tree wants. What before has of the same inputs is not asked of the tree, which would render it.
func FootprintOf(t *tree.Tree, before *State) Footprint {
	f := make(Footprint, len(t.Folders))
	known := before.rendered()
	for i, folder := range t.Folders {
		hash, inputs := folder.Hash.String(), ""
		if !folder.Digest.IsZero() {
			inputs = folder.Digest.String()
		}
		if was := known[folder.ClusterType]; inputs != "" && was.Digest == inputs && was.Hash == hash {
			f[folder.ClusterType] = was
			continue
		}
		targets := map[string]Target{}
		for _, target := range t.Targets(i) {
			targets[target.Name] = Target{hex.EncodeToString(target.Hash[:shortHash/2]), target.Empty}
		}
		f[folder.ClusterType] = Folder{hash, inputs, targets}
	}
	return f
}

// Names are the cluster types, sorted.
func (f Footprint) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Equal reports whether both hold the same files.
func (f Footprint) Equal(other Footprint) bool {
	return maps.EqualFunc(f, other, func(a, b Folder) bool { return a.Hash == b.Hash })
}

// differing are the cluster types whose folders differ, sorted.
func (f Footprint) differing(other Footprint) []string {
	var names []string
	for name := range f {
		if f[name].Hash != other[name].Hash {
			names = append(names, name)
		}
	}
	for name := range other {
		if _, ok := f[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Changes are what becomes of the targets of each cluster type that changes, as +added -removed ~changed.
func Changes(before, after Footprint) map[string]string {
	changes := map[string]string{}
	for _, name := range before.differing(after) {
		var added, removed, changed int
		old, now := before[name].Targets, after[name].Targets
		for t := range old {
			if _, ok := now[t]; !ok {
				removed++
			}
		}
		for t, target := range now {
			if was, ok := old[t]; !ok {
				added++
			} else if was.Hash != target.Hash {
				changed++
			}
		}
		changes[name] = fmt.Sprintf("+%d -%d ~%d", added, removed, changed)
	}
	return changes
}

// MarshalJSON implements json.Marshaler: a compressed text, as private state holds a value for each target.
func (f Footprint) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(map[string]Folder(f)), z.Close()); err != nil {
		return nil, err
	}
	return json.Marshal(b.Bytes())
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Footprint) UnmarshalJSON(data []byte) error {
	var compressed []byte
	if err := json.Unmarshal(data, &compressed); err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return err
	}
	return json.NewDecoder(z).Decode((*map[string]Folder)(f))
}
