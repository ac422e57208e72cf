package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
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
	Version     int                     `json:"version"`
	Engine      int                     `json:"engine"`
	Destination destination.Destination `json:"destination"`
	Environment string                  `json:"environment"`
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
	// LastRead is the branch as it was last read.
	LastRead Branch `json:"seen"`
	// Cache contains the Git trees above our folders, as read at LastRead.Head. The next delivery does not read them
	// again.
	Cache gitbranch.TreeCache `json:"cache"`
	Drift []drift.Commit      `json:"drift,omitempty"`
	// EarlierDeliveries are the deliveries before that one, newest first. RevertKnown says that an earlier run found that
	// people reverted the branch to one of them, and succeeded.
	EarlierDeliveries []EarlierDelivery `json:"past,omitempty"`
	RevertKnown       bool              `json:"revert_known,omitempty"`
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
	// ProofKey makes the proof in the commits of the next apply.
	ProofKey ProofKey `json:"proof_key,omitempty"`
	// UnsavedCommit is the branch's head after an apply that was killed before Terraform saved its state. The attributes
	// in Terraform's state are still those from before that apply. It is "" if the last apply saved its state.
	UnsavedCommit string `json:"unsaved_commit,omitempty"`
}

// Prior contains the attributes of a rendering in Terraform's state, in addition to the private state.
type Prior struct {
	Strategy       destination.Strategy
	Destination    destination.Destination
	Environment    string
	TreeHash       string
	TargetTreeHash string // of the fleet's tree; empty if there is no rollout
	PromotedCommit string // empty if there is none
	Promotes       bool   // by the argument promotion
	Commit         string // on the branch that contains the tree; empty if none does
	Delivered      bool
	Placed         map[string][]string // the cluster types of each deployment target, sorted
	PullRequest    pullrequest.Settings
	Owners         owners.Owners
	Paused         bool // the argument rollout has a pause
	Described      bool // the last change has a description
	Preview        string
}

// DeliveredBefore reports whether something was delivered or proposed.
func (p *Prior) DeliveredBefore() bool {
	return p.Strategy == destination.PullRequest && p.TreeHash != "" || p.Strategy == destination.Push && p.Commit != ""
}

// NewState returns a state of this version of the provider.
func NewState(at destination.Destination, environment string) State {
	return State{Version: stateVersion, Engine: engineVersion, Destination: at, Environment: environment}
}

// Current reports whether this version of the provider wrote s, and s says that something was delivered.
func (s *State) Current() bool {
	return s.Readable() && s.LastRead.Head != ""
}

// Of reports whether p and s belong to the same rendering.
func (p *Prior) Of(s *State) bool {
	return s.Destination.Same(p.Destination) && s.Desired().Environment == p.Environment
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

// owned returns the names of our folders on a branch: those in its record, and those that were delivered.
func (s *State) owned(at *Branch) []string {
	return sets.Union(at.RecordedFolders(), s.Delivered.Names())
}

// OwnFolders returns our folders on the branch, as they were last read.
func (s *State) OwnFolders() inventory.Folders { return s.LastRead.Folders.Only(s.owned(&s.LastRead)) }

// Readable reports whether this version of the provider wrote s.
func (s *State) Readable() bool {
	return s != nil && s.Version == stateVersion && s.Engine == engineVersion
}

// LastFolders returns the tree that was last delivered, proposed or computed. It is empty if this version of the
// provider does not know it.
func (s *State) LastFolders() inventory.Folders {
	if !s.Readable() {
		return nil
	}
	return s.Desired().Delivered
}

// WithoutTargets returns s without the targets of its folders, which are read again then.
func (s *State) WithoutTargets() *State {
	drop := func(_ string, folder inventory.Folder) inventory.Folder {
		folder.Targets = nil
		return folder
	}
	now := *s
	now.Delivered, now.LastRead.Folders = s.Delivered.Replace(drop), s.LastRead.Folders.Replace(drop)
	return &now
}

// Known returns how much of the last delivery s contains. Partial: the delivered tree has foreign changes, and s does
// not contain all its folders. Then every run has to recover the state.
func (s *State) Known() inventory.Known {
	if !s.Current() {
		return inventory.Unread
	}
	for _, folder := range s.Delivered {
		if folder.Hash == (tree.Hash{}) {
			return inventory.Partial
		}
	}
	return inventory.Whole
}

// earlier returns the placement decisions of the last delivery, and whether s knows them. A state of another version
// does not know them. The state of a rendering that is only computed does.
func (s *State) earlier() (e placement.PriorResults, known bool) {
	if !s.Readable() {
		return e, false
	}
	existing := s.Delivered
	if s.Known() == inventory.Partial {
		existing = s.OwnFolders()
	}
	return placement.PriorResults{Decisions: s.Decisions, Placed: existing.Placed()}, true
}

// WithTarget returns s whose proposal names the hash of another target: of the tree that the fleet renders to now.
// Nothing else of the proposal changes.
func (s *State) WithTarget(target string) *State {
	if s == nil || s.Proposal == nil || s.Proposal.Head.Rollout == nil || target == "" {
		return s
	}
	now, proposal, head, r := *s, *s.Proposal, *s.Proposal.Head, *s.Proposal.Head.Rollout
	r.TargetTreeHash, head.Rollout, proposal.Head, now.Proposal = target, &r, &head, &proposal
	return &now
}
