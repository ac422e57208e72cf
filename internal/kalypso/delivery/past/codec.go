package past

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
	stored := storedState{State: withoutRepeats(s)}
	eachInventory(stored.State, func(inv *inventory.Folders) {
		*inv = inv.Replace(func(_ string, folder inventory.Folder) inventory.Folder {
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

// eachInventory calls visit for all inventories of s, and of the states in it, in a fixed order.
func eachInventory(s *State, visit func(*inventory.Folders)) {
	visit(&s.Delivered)
	visit(&s.LastRead.Folders)
	visit(&s.LastRead.Replaced)
	if p := s.Proposal; p != nil {
		visit(&p.Adopted)
		if p.Head != nil {
			eachInventory(p.Head, visit)
		}
	}
	for _, old := range s.OldLocations {
		eachInventory(old.State, visit)
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
	eachInventory(stored.State, func(inv *inventory.Folders) {
		*inv = inv.Replace(func(_ string, folder inventory.Folder) inventory.Folder {
			if err == nil {
				folder.Targets, err = stored.Targets.Next()
			}
			return folder
		})
	})
	if err != nil || len(stored.Targets.Lists)+len(stored.Targets.Hashes) > 0 {
		return nil, fmt.Errorf("%w: %w", errState, inventory.ErrTargets)
	}
	return withRepeats(stored.State), nil
}

// withoutRepeats returns s without the facts that would be stored twice: the targets of a seen folder with the hash of
// the delivered one, and the decisions of a seen record that was delivered. It also removes whole hashes, unless s
// needs them.
func withoutRepeats(s *State) *State {
	packed := *s
	if s.LastRead.Record != nil && s.LastRead.RecordHash == s.DeliveredRecord {
		record := *s.LastRead.Record
		record.Decisions = nil
		packed.LastRead.Record = &record
	}
	packed.LastRead.Folders = s.LastRead.Folders.Replace(func(name string, folder inventory.Folder) inventory.Folder {
		if was, ok := s.Delivered[name]; ok && was.Hash == folder.Hash {
			folder.Targets = nil
		}
		return folder
	})
	if !s.WholeHashes {
		packed.Delivered = s.Delivered.Replace(inventory.WithoutWholeHashes)
		packed.LastRead.Folders = packed.LastRead.Folders.Replace(inventory.WithoutWholeHashes)
		packed.LastRead.Replaced = packed.LastRead.Replaced.Replace(inventory.WithoutWholeHashes)
	}
	if s.Proposal != nil {
		p := *s.Proposal
		p.Head = withoutRepeats(p.Head)
		packed.Proposal = &p
	}
	packed.OldLocations = nil
	for _, old := range s.OldLocations {
		o := *old
		o.State = withoutRepeats(o.State)
		packed.OldLocations = append(packed.OldLocations, &o)
	}
	return &packed
}

func withRepeats(s *State) *State {
	if s.LastRead.Record != nil && s.LastRead.RecordHash == s.DeliveredRecord {
		s.LastRead.Record.Decisions = s.Decisions
	}
	s.LastRead.Folders = s.LastRead.Folders.Replace(func(name string, folder inventory.Folder) inventory.Folder {
		if was, ok := s.Delivered[name]; ok && was.Hash == folder.Hash {
			folder.Targets = was.Targets
		}
		return folder
	})
	if s.Proposal != nil && s.Proposal.Head != nil {
		withRepeats(s.Proposal.Head)
	}
	for _, old := range s.OldLocations {
		withRepeats(old.State)
	}
	return s
}
