package delivery

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// stateVersion is the version of State, and engineVersion the version of the rendering engine. A state of another
// version is recovered from the branch.
const (
	stateVersion  = 4
	engineVersion = 1
)

// State contains the facts that a rendering keeps between runs in Terraform's private state. With it, a plan knows the
// branch without contacting a server. The zero value means that nothing was delivered.
type State struct {
	Version     int                `json:"version"`
	Engine      int                `json:"engine"`
	Destination record.Destination `json:"destination"`
	Environment string             `json:"environment"`
	// Delivered is the tree that was delivered, and DeliveredRecord the hash of the record that went with it.
	Delivered       inventory.Folders `json:"delivered"`
	DeliveredRecord string            `json:"delivered_record"`
	PromotedCommit  string            `json:"promoted_commit,omitempty"` // in the record
	// Decisions are the decisions of placement in that record.
	Decisions placement.Decisions `json:"decisions,omitempty"`
	// Rollout is the progress of a rollout. It is nil if the branch contains the whole tree.
	Rollout *rollout.StoredProgress `json:"rollout,omitempty"`
	// Inputs are the inputs of the delivered tree, or nil if they are unknown.
	Inputs *Inputs `json:"inputs,omitempty"`
	// Base is the last commit of the branch at which it contained the delivered tree.
	Base string `json:"base"`
	// Seen is the branch as it was last read.
	Seen BranchState `json:"seen"`
	// Cache contains the Git trees above our folders, as read at Seen.Head. The next delivery does not read them again.
	Cache gitbranch.TreeCache `json:"cache"`
	Drift []drift.Commit      `json:"drift,omitempty"`
	// Past are the deliveries before that one, newest first. RevertKnown says that an earlier run found that people
	// reverted the branch to one of them, and succeeded.
	Past        []Delivery `json:"past,omitempty"`
	RevertKnown bool       `json:"revert_known,omitempty"`
	// Proposal is the tree that a pull request proposes. It is nil if the branch contains the tree, or none was proposed.
	Proposal *Proposal `json:"proposal,omitempty"`
	// OldLocations are the previous locations of the rendering that pull requests still have to remove.
	OldLocations []*OldLocation `json:"previous_locations,omitempty"`
	// WholeHashes says that the targets of the folders have their whole hashes. They are needed to keep targets that
	// fail to render, and make the state larger.
	WholeHashes bool `json:"whole_hashes,omitempty"`
	// Removal is the number of the pull request that removes the rendering and was not merged while a destroy waited, or
	// 0.
	Removal int `json:"removal,omitempty"`
}

// Prior contains the attributes of a rendering in Terraform's state, in addition to the private state.
type Prior struct {
	Strategy       strategy.Strategy
	Destination    record.Destination
	Environment    string
	TreeHash       string
	TargetTreeHash string // of the fleet's tree; empty if there is no rollout
	PromotedCommit string // empty if there is none
	Promotes       bool   // by the argument promotion
	Commit         string // on the branch that contains the tree; empty if none does
	Delivered      bool
	Placed         map[string][]string // the cluster types of each deployment target, sorted
	PullRequest    pullrequest.Settings
}

// DeliveredBefore reports whether something was delivered or proposed.
func (p *Prior) DeliveredBefore() bool {
	return p.Strategy == strategy.PullRequest && p.TreeHash != "" || p.Strategy == strategy.Push && p.Commit != ""
}

// NewState returns a state of this version of the provider.
func NewState(at record.Destination, environment string) State {
	return State{Version: stateVersion, Engine: engineVersion, Destination: at, Environment: environment}
}

// Current reports whether this version of the provider wrote s, and s says that something was delivered.
func (s *State) Current() bool {
	return s != nil && s.Version == stateVersion && s.Engine == engineVersion && s.Seen.Head != ""
}

// Of reports whether s belongs to the rendering of p.
func (s *State) Of(p *Prior) bool {
	return s.Destination.Same(p.Destination) && s.DesiredEnvironment() == p.Environment
}

// OrNil returns s if it is [State.Current], else nil.
func (s *State) OrNil() *State {
	if !s.Current() {
		return nil
	}
	return s
}

// Drifted reports whether our folders or our record on the branch differ from the delivered ones.
func (s *State) Drifted() bool { return len(s.Drift) > 0 }

// Owned returns the names of our folders on a branch: those in its record, and those that were delivered.
func (s *State) Owned(at *BranchState) []string {
	return sets.Union(at.RecordedFolders(), s.Delivered.Names())
}

// Ours returns our folders on the branch, as they were last read.
func (s *State) Ours() inventory.Folders { return s.Seen.Folders.Only(s.Owned(&s.Seen)) }

// lastTree returns the tree that was last delivered, proposed or computed. It is empty if this version of the provider
// does not know it.
func lastTree(s *State) inventory.Folders {
	switch {
	case s == nil || s.Version != stateVersion || s.Engine != engineVersion:
		return nil
	case s.Proposal != nil:
		return s.Proposal.Head.Delivered
	}
	return s.Delivered
}

// Computed returns the state of a rendering that is only computed.
func Computed(t *AppliedTree) *State {
	s := NewState(record.Destination{}, t.Environment)
	s.PromotedCommit, s.Inputs = t.Promotion.Commit, t.inputs()
	s.Delivered, s.Decisions = t.inventory, t.decisions
	s.Seen.Folders = s.Delivered
	s.WholeHashes = t.KeepsFailed()
	return &s
}

// RenamedTo returns s with the destination at, if both are the same location under different URLs. Otherwise it returns
// s.
func (s *State) RenamedTo(at record.Destination) *State {
	if s.Destination == at || !s.Destination.Same(at) {
		return s
	}
	renamed := *s
	renamed.Destination = at
	return &renamed
}

var errState = errors.New("the state does not have the form of this version")

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
	visit(&s.Seen.Folders)
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

// withoutRepeats returns s without whole hashes that it does not need, and without the targets of seen folders, and the
// decisions of the seen record, that equal the delivered ones. They would be stored twice.
func withoutRepeats(s *State) *State {
	packed := *s
	if s.Seen.Record != nil && s.Seen.RecordHash == s.DeliveredRecord {
		record := *s.Seen.Record
		record.Decisions = nil
		packed.Seen.Record = &record
	}
	packed.Seen.Folders = s.Seen.Folders.Replace(func(name string, folder inventory.Folder) inventory.Folder {
		if was, ok := s.Delivered[name]; ok && was.Hash == folder.Hash {
			folder.Targets = nil
		}
		return folder
	})
	if !s.WholeHashes {
		packed.Delivered = s.Delivered.Replace(inventory.WithoutWholeHashes)
		packed.Seen.Folders = packed.Seen.Folders.Replace(inventory.WithoutWholeHashes)
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
	if s.Seen.Record != nil && s.Seen.RecordHash == s.DeliveredRecord {
		s.Seen.Record.Decisions = s.Decisions
	}
	s.Seen.Folders = s.Seen.Folders.Replace(func(name string, folder inventory.Folder) inventory.Folder {
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

// WithoutTargets returns s without the targets of its folders, which are read again then.
func (s *State) WithoutTargets() *State {
	drop := func(_ string, folder inventory.Folder) inventory.Folder {
		folder.Targets = nil
		return folder
	}
	now := *s
	now.Delivered, now.Seen.Folders = s.Delivered.Replace(drop), s.Seen.Folders.Replace(drop)
	return &now
}

// BaselineUnknown reports whether the delivered tree has foreign changes, and s does not contain that tree. Then every
// run has to recover the state.
func (s *State) BaselineUnknown() bool {
	return s.Current() && slices.ContainsFunc(s.Delivered.Names(), func(name string) bool {
		return s.Delivered[name].Hash == tree.Hash{}
	})
}
