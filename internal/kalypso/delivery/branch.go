package delivery

import (
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Branch is the content of a branch at a destination, as far as decisions need it. The state keeps it, so that the
// next plan decides without contacting a server.
type Branch struct {
	Head string    `json:"head"`          // the commit that was read; empty if the branch does not exist
	Time time.Time `json:"time,omitzero"` // the committer's time of that commit
	// Folders are the folders at the path whose names have no leading dot. Targets are read only for folders that are
	// ours or needed.
	Folders inventory.Folders `json:"folders"`
	// Replaced are the folders from before the rollout in Record, if a failure rolls it back. Folders that can't be
	// read are missing.
	Replaced inventory.Folders `json:"replaced,omitempty"`
	Files    []string          `json:"files,omitempty"` // other entries beside the folders
	// OperatorFolders are folders with the operator's README that the record does not list.
	OperatorFolders []string `json:"operator_folders,omitempty"`
	// Record is the record at the path. It is nil if there is none, or if it is invalid: see RecordError.
	Record      *record.Record `json:"record,omitempty"`
	RecordHash  string         `json:"record_hash,omitempty"` // of the record's blob; empty if the file does not exist
	RecordError string         `json:"record_error,omitempty"`
	// RecordObstacle and PromotedCommitObstacle say why the record, or the file of the promoted commit, can't be
	// written: a file exists in place of a directory, or the other way round.
	RecordObstacle         string `json:"record_obstacle,omitempty"`
	PromotedCommitObstacle string `json:"promoted_commit_obstacle,omitempty"`
	// OtherRenderings are the paths of other records above and below the path.
	OtherRenderings []string `json:"other_renderings,omitempty"`
	// Obstacle names what exists at or above the path but is not a directory.
	Obstacle string `json:"obstacle,omitempty"`
	// PromotedCommitFile is the blob of the promoted commit's file at the repo's root. All renderings of the branch
	// share that file. It is empty if the file does not exist.
	PromotedCommitFile string `json:"promoted_commit_file,omitempty"`
}

// RecordedFolders returns the folders that the record lists as ours.
func (b *Branch) RecordedFolders() []string {
	if b.Record == nil {
		return nil
	}
	return b.Record.ClusterTypes
}

// Foreign returns the folders that are not in owned, sorted.
func (b *Branch) Foreign(owned []string) []string {
	return sets.Without(b.Folders.Names(), owned)
}

// PromotedCommit returns the promoted commit of the record, or "".
func (b *Branch) PromotedCommit() string {
	if b.Record == nil {
		return ""
	}
	return b.Record.PromotedCommit
}

// changedSince lists our folders, and the record, that differ from what the last run read.
func (b *Branch) changedSince(s *State) []string {
	before := s.OwnFolders()
	names := b.Folders.Only(before.Names()).Differing(before)
	if b.RecordHash != s.LastRead.RecordHash {
		names = append(names, record.File)
	}
	return names
}

// SetReplaced sets the folders from before the rollout, by their hashes in the record. find returns the folder of a
// cluster type with a hash.
func (b *Branch) SetReplaced(
	find func(name string, hash tree.Hash) (folder inventory.Folder, ok bool, err error),
) error {
	b.Replaced = nil
	if b.Record == nil || b.Record.Rollout == nil || !b.Record.Rollout.RestoresOnFailure {
		return nil
	}
	for name, text := range b.Record.Rollout.EarlierHashes {
		hash := tree.Hash(plumbing.NewHash(text))
		if hash == (tree.Hash{}) { // there was no folder
			continue
		}
		folder, ok, err := find(name, hash)
		switch {
		case err != nil:
			return err
		case !ok:
			continue
		case b.Replaced == nil:
			b.Replaced = inventory.Folders{}
		}
		b.Replaced[name] = folder
	}
	return nil
}

// asState returns the state of a destination whose last apply is not known.
func (b *Branch) asState(at destination.Destination, existing inventory.Folders) *State {
	s := &State{Destination: at, Delivered: existing, LastRead: *b}
	if b.Record != nil {
		s.PromotedCommit, s.Inputs = b.Record.PromotedCommit, inputsOf(b.Record)
	}
	return s
}
