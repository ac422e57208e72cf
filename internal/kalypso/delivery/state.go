package delivery

import (
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
)

// stateVersion is that of State, and engineVersion that of what the domain makes of a fleet: a state of another
// version is read anew from the branch.
const (
	stateVersion  = 3
	engineVersion = 1
)

// State is what a rendering keeps of its delivery from one run to the next, besides what Terraform shows: plan must know
// the branch without contacting it. Its zero value says that nothing was delivered.
type State struct {
	Version     int    `json:"version"`
	Engine      int    `json:"engine"`
	Place       Place  `json:"place"`
	Environment string `json:"environment"`
	Build       string `json:"build,omitempty"` // of the program that rendered what was delivered
	// Delivered is what was delivered, and DeliveredRecord the hash of the record that went with it.
	Delivered       Footprint `json:"-"` // the footprints: see packer
	DeliveredRecord string    `json:"delivered_record"`
	PromotedCommit  string    `json:"promoted_commit,omitempty"` // that the record names
	// Inputs are what the delivered tree was made of; empty where that is not known.
	Inputs packedInputs `json:"inputs,omitempty"`
	// Base is the last commit of the branch at which it held what was delivered.
	Base string `json:"base"`
	// Head is the branch's head when it was last read, and Seen what it held of the folders then.
	Head string `json:"head"`
	// Way is what was read of the branch at Head, but for its folders: the next delivery does not read it again.
	Way        gitops.Way `json:"way"`
	Seen       Footprint  `json:"-"`
	SeenRecord string     `json:"seen_record"`
	// Others are the folders at the path that are not ours, and Files what lies there and is no folder.
	Others []string `json:"others,omitempty"`
	Files  []string `json:"files,omitempty"`
	Drift  []Drift  `json:"drift,omitempty"`
	// Tracking is the blob of the file at the repo's root that names the promoted commit, which all renderings of the
	// branch write.
	Tracking string `json:"tracking,omitempty"`
	// Proposal is what was proposed since by a pull request; nil where there is nothing that is not delivered.
	Proposal *Proposal `json:"proposal,omitempty"`
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

// Current reports whether s was written by this version of the provider and says that something was delivered.
func (s *State) Current() bool {
	return s != nil && s.Version == stateVersion && s.Engine == engineVersion && s.Head != ""
}

// Computed is the state of a rendering that is computed alone: nothing of it is on a branch.
func Computed(o *Order) *State {
	return &State{
		Version: stateVersion, Engine: engineVersion, Build: build(), Environment: o.Environment,
		PromotedCommit: o.PromotedCommit, Inputs: o.inputs().pack(), Seen: FootprintOf(o.Tree),
	}
}

// known is what is known of the branch without reading it, as far as a change to wanted needs it.
func (s *State) known(wanted Footprint) gitops.Way {
	way := s.Way
	way.Trees = slices.Clone(way.Trees)
	for _, name := range s.Seen.differing(wanted) {
		if raw, ok := s.Seen[name].Raw(); ok {
			way.Trees = append(way.Trees, raw)
		}
	}
	return way
}

// record is what was delivered as the record, but for the origins.
func (s *State) record() Record {
	return NewRecord(s.Environment, s.Delivered.Names(), s.PromotedCommit, nil)
}

// Drifted reports whether the branch holds something else of ours than what was delivered.
func (s *State) Drifted() bool { return len(s.Drift) > 0 }
