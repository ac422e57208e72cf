package delivery

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
)

var errState = errors.New("the state can't be decoded")

// storedState is the JSON of a state. Its inventories have no targets.
type storedState struct {
	*State
	Targets inventory.StoredTargets `json:"targets"`
}

// Encode returns the state as bytes for Terraform's private state: its JSON as one gzip member, and the hashes of the
// targets, which can't be compressed.
func (s *State) Encode() ([]byte, error) {
	var stored storedState
	stored.State = s.with(func(now *State) {
		now.dropRepeats()
		now.replaceFolders(func(_ string, folder inventory.Folder) inventory.Folder {
			stored.Targets.Add(folder.Targets)
			folder.Targets = nil
			return folder
		})
	})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := errors.Join(json.NewEncoder(z).Encode(stored), z.Close()); err != nil {
		return nil, err
	}
	return append(packed.Bytes(), stored.Targets.Hashes...), nil
}

// with returns a copy of s, and of the states in it, after a change of each.
func (s *State) with(change func(*State)) *State {
	now := *s
	if s.Proposal != nil {
		now.Proposal = new(*s.Proposal)
	}
	change(&now)
	if p := now.Proposal; p != nil && p.Head != nil {
		p.Head = p.Head.with(change)
	}
	now.OldLocations = nil
	for _, old := range s.OldLocations {
		o := *old
		o.State = old.State.with(change)
		now.OldLocations = append(now.OldLocations, &o)
	}
	return &now
}

// replaceFolders replaces the folders of all inventories of s, in a fixed order.
func (s *State) replaceFolders(with func(name string, folder inventory.Folder) inventory.Folder) {
	all := []*inventory.Folders{&s.Delivered, &s.LastRead.Folders, &s.LastRead.Replaced}
	if s.Proposal != nil {
		all = append(all, &s.Proposal.Adopted)
	}
	for _, inv := range all {
		*inv = inv.Replace(with)
	}
}

// maxState limits the JSON of a state, in bytes. 100,000 assignments of 500 deployment targets take 0.2 MB.
const maxState = 128 << 20

// DecodeState reads what [State.Encode] wrote. It reads at most 128 MiB of JSON.
func DecodeState(data []byte) (*State, error) {
	rest := bytes.NewReader(data)
	z, err := gzip.NewReader(rest)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	z.Multistream(false)
	text, err := io.ReadAll(io.LimitReader(z, maxState+1)) // including the checksum
	if len(text) > maxState {
		err = fmt.Errorf("it is larger than %d MiB", maxState>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	stored := storedState{State: &State{}}
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	stored.Targets.Hashes = data[len(data)-rest.Len():]
	s := stored.with(func(now *State) {
		now.replaceFolders(func(_ string, folder inventory.Folder) inventory.Folder {
			if err == nil {
				folder.Targets, err = stored.Targets.Next()
			}
			return folder
		})
		now.addRepeats()
	})
	if err != nil || len(stored.Targets.Lists)+len(stored.Targets.Hashes) > 0 {
		return nil, fmt.Errorf("%w: %w", errState, inventory.ErrTargets)
	}
	return s, nil
}

// dropRepeats removes the facts that would be stored twice: the targets of a folder that was last read with the hash of
// the delivered one, and the decisions of a record that was last read and delivered. It also removes whole hashes,
// unless s needs them.
func (s *State) dropRepeats() {
	if s.LastRead.Record != nil && s.LastRead.RecordHash == s.DeliveredRecord {
		s.LastRead.Record = new(*s.LastRead.Record)
		s.LastRead.Record.Decisions = nil
	}
	s.LastRead.Folders = replaceRepeated(s.LastRead.Folders, s.Delivered,
		func(inventory.Folder) []inventory.Target { return nil })
	if !s.WholeHashes {
		for _, inv := range []*inventory.Folders{&s.Delivered, &s.LastRead.Folders, &s.LastRead.Replaced} {
			*inv = inv.Replace(inventory.WithoutWholeHashes)
		}
	}
}

// addRepeats adds what dropRepeats removed.
func (s *State) addRepeats() {
	if s.LastRead.Record != nil && s.LastRead.RecordHash == s.DeliveredRecord {
		s.LastRead.Record.Decisions = s.Decisions
	}
	s.LastRead.Folders = replaceRepeated(s.LastRead.Folders, s.Delivered,
		func(was inventory.Folder) []inventory.Target { return was.Targets })
}

// replaceRepeated replaces the targets of each folder that was last read with the hash of the delivered one.
func replaceRepeated(
	lastRead, delivered inventory.Folders, with func(was inventory.Folder) []inventory.Target,
) inventory.Folders {
	return lastRead.Replace(func(name string, folder inventory.Folder) inventory.Folder {
		if was, ok := delivered[name]; ok && was.Hash == folder.Hash {
			folder.Targets = with(was)
		}
		return folder
	})
}
