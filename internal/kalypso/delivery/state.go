package delivery

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
)

// stateVersion is that of State, and engineVersion that of what the domain makes of a fleet: a state of another
// version is read anew from the branch.
const (
	stateVersion  = 4
	engineVersion = 1
)

// State is what a rendering keeps from one run to the next, besides what Terraform shows: a plan must know the branch
// without contacting it. The zero value says that nothing was delivered.
type State struct {
	Version     int         `json:"version"`
	Engine      int         `json:"engine"`
	Destination Destination `json:"destination"`
	Environment string      `json:"environment"`
	// Delivered is the tree that was delivered, and DeliveredRecord the hash of the record that went with it.
	Delivered       Inventory `json:"delivered"`
	DeliveredRecord string    `json:"delivered_record"`
	PromotedCommit  string    `json:"promoted_commit,omitempty"` // that the record names
	// Decisions are those of placement in that record.
	Decisions placement.Decisions `json:"decisions,omitempty"`
	// Rollout is how far the tree reached the cluster types in waves; nil: all of it is on the branch.
	Rollout *rollout.State `json:"rollout,omitempty"`
	// Inputs are what the delivered tree was made of; nil where that is not known.
	Inputs *inputs `json:"inputs,omitempty"`
	// Base is the last commit of the branch at which it held what was delivered.
	Base string `json:"base"`
	// Seen is the branch as it was last read.
	Seen BranchState `json:"seen"`
	// Cache is what was read of the branch at Seen.Head, but for its folders: the next delivery does not read it again.
	Cache gitops.TreeCache `json:"cache"`
	Drift []Drift          `json:"drift,omitempty"`
	// Proposal is what was proposed since by a pull request; nil where there is nothing that is not delivered.
	Proposal *Proposal `json:"proposal,omitempty"`
	// OldPlaces are where the rendering was before, and what is still to be removed there by pull requests.
	OldPlaces []*OldPlace `json:"old_places,omitempty"`
	// Removal is the number of the pull request whose merge a destroy waited for in vain; 0 for none.
	Removal int `json:"removal,omitempty"`
}

// Drift is a commit of others that changed our folders.
type Drift struct {
	Commit  string   `json:"commit,omitempty"` // empty: not found in the branch's history
	Author  string   `json:"author,omitempty"` // name and mail
	Time    string   `json:"time,omitempty"`   // RFC 3339
	Subject string   `json:"subject,omitempty"`
	Paths   []string `json:"paths"`
	More    int      `json:"more,omitempty"` // how many paths are not listed
}

// newState returns a state of this version of the provider.
func newState(at Destination, environment string) State {
	return State{Version: stateVersion, Engine: engineVersion, Destination: at, Environment: environment}
}

// Current reports whether this version of the provider wrote s, and s says that something was delivered.
func (s *State) Current() bool {
	return s != nil && s.Version == stateVersion && s.Engine == engineVersion && s.Seen.Head != ""
}

// Of reports whether s is of the rendering whose Terraform state says d.
func (s *State) Of(d *Desired) bool {
	return s.Destination.Same(d.Destination) && s.desiredEnvironment() == d.Environment
}

// current returns s, or nil where s says nothing of what was delivered.
func (s *State) current() *State {
	if !s.Current() {
		return nil
	}
	return s
}

// Drifted reports whether the branch holds something else of ours than what was delivered.
func (s *State) Drifted() bool { return len(s.Drift) > 0 }

// owned returns the names of the folders that are ours on a branch: those of its record, and those that were delivered.
func (s *State) owned(at *BranchState) []string {
	return union(at.listed(), s.Delivered.Names())
}

// Ours returns what the branch holds that is ours, as it was last read.
func (s *State) Ours() Inventory { return s.Seen.Folders.only(s.owned(&s.Seen)) }

// Computed returns the state of a rendering that is computed alone: nothing of it is on a branch.
func Computed(d *Desired) *State {
	s := newState(Destination{}, d.Environment)
	s.PromotedCommit, s.Inputs = d.PromotedCommit, d.inputs()
	s.Delivered, s.Decisions = d.Inventory(), d.Decisions()
	s.Seen.Folders = s.Delivered
	return &s
}

// Compute returns the result of a rendering that is computed alone.
func Compute(d *Desired, before *State) *Result {
	if before == nil {
		before = &State{}
	}
	return &Result{State: Computed(d), Before: before}
}

// RenameTo takes on how the configuration writes the destination's URL now, and reports whether that is news. Another
// destination is none of its business.
func (s *State) RenameTo(at Destination) bool {
	if s.Destination == at || !s.Destination.Same(at) {
		return false
	}
	s.Destination = at
	return true
}

var errState = errors.New("not a state in this version's form")

// Encode returns the state as a JSON value for Terraform's private state: a string, as every step of a plan and of an
// apply looks through JSON at each level. What grows with the fleet is compressed.
func (s *State) Encode() ([]byte, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(json.NewEncoder(z).Encode(s.withoutRepeats()), z.Close()); err != nil {
		return nil, err
	}
	return json.Marshal(packed.Bytes())
}

// DecodeState reads what [State.Encode] wrote.
func DecodeState(data []byte) (*State, error) {
	var packed []byte
	if err := json.Unmarshal(data, &packed); err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	text, err := io.ReadAll(z) // to the checksum at its end
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	s := &State{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	return s.withRepeats(), nil
}

// withoutRepeats returns s without the targets of folders, and the decisions of the record, that the branch holds as they were
// delivered: they would be there twice.
func (s *State) withoutRepeats() *State {
	packed := *s
	if s.Seen.Record != nil && s.Seen.RecordHash == s.DeliveredRecord {
		record := *s.Seen.Record
		record.Decisions = nil
		packed.Seen.Record = &record
	}
	packed.Seen.Folders = s.Seen.Folders.replace(func(name string, folder Folder) Folder {
		if was, ok := s.Delivered[name]; ok && was.Hash == folder.Hash {
			folder.Targets = nil
		}
		return folder
	})
	if s.Proposal != nil {
		p := *s.Proposal
		p.Head = p.Head.withoutRepeats()
		packed.Proposal = &p
	}
	packed.OldPlaces = nil
	for _, old := range s.OldPlaces {
		o := *old
		o.State = o.State.withoutRepeats()
		packed.OldPlaces = append(packed.OldPlaces, &o)
	}
	return &packed
}

func (s *State) withRepeats() *State {
	if s.Seen.Record != nil && s.Seen.RecordHash == s.DeliveredRecord {
		s.Seen.Record.Decisions = s.Decisions
	}
	s.Seen.Folders = s.Seen.Folders.replace(func(name string, folder Folder) Folder {
		if was, ok := s.Delivered[name]; ok && was.Hash == folder.Hash {
			folder.Targets = was.Targets
		}
		return folder
	})
	if s.Proposal != nil && s.Proposal.Head != nil {
		s.Proposal.Head.withRepeats()
	}
	for _, old := range s.OldPlaces {
		old.State.withRepeats()
	}
	return s
}

func (inv Inventory) replace(with func(name string, folder Folder) Folder) Inventory {
	if inv == nil {
		return nil
	}
	replaced := make(Inventory, len(inv))
	for name, folder := range inv {
		replaced[name] = with(name, folder)
	}
	return replaced
}
