package record

import (
	"iter"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
)

// Revision is the rendering in a commit of its branch.
type Revision struct {
	Commit gitbranch.Commit
	// Record is nil if the commit has none, and if Err says why it can't be parsed. Text is its file.
	Record *Record
	Text   []byte
	Err    error
	// Folders maps the folders at the destination's path, also those that the record does not list, to their hashes.
	Folders map[string]plumbing.Hash
}

// Listed returns the folders that the record lists and the commit contains.
func (r *Revision) Listed() map[string]plumbing.Hash {
	listed := map[string]plumbing.Hash{}
	for _, name := range r.Record.ClusterTypes {
		if hash, there := r.Folders[name]; there {
			listed[name] = hash
		}
	}
	return listed
}

// Along reads the rendering at a destination in commits, such as the first parents of its branch. It parses each record
// when the loop gets there, since all together take much memory.
func Along(
	history gitbranch.History, at destination.Destination, commits []gitbranch.Commit,
) (iter.Seq[*Revision], error) {
	hashes := gitbranch.Hashes(commits)
	records, err := history.FileAt(at.RecordPath(), hashes)
	if err != nil {
		return nil, err
	}
	folders, err := history.FoldersAt(at.Path, hashes)
	if err != nil {
		return nil, err
	}
	return func(yield func(*Revision) bool) {
		for _, c := range commits {
			r := &Revision{Commit: c, Folders: folders[c.Hash]}
			if text, there := records[c.Hash]; there {
				found, err := Parse(text)
				r.Text, r.Err = text, err
				if err == nil {
					r.Record = &found
				}
			}
			if !yield(r) {
				return
			}
		}
	}, nil
}
