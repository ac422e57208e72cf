package remote

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// Rendering is a rendering that was found by its record. It can be read while [EachRendering] visits it.
type Rendering struct {
	At          destination.Destination
	Environment string
	snapshot    *gitbranch.Snapshot
}

// State returns the state of the rendering as [Import] does, without the deliveries before it.
func (r *Rendering) State() (*delivery.State, error) {
	return importFrom(r.snapshot, r.At, r.Environment)
}

// EachRendering visits the renderings with a record on a branch that a glob matches, by branch and path, until visit
// returns false. It skips branches without a record. [gitbranch.EachBranch] describes the globs and the result.
//
// If a branch or a record can't be read, visit gets its location and the error, and no rendering. An invalid record is
// a [*record.Error].
func EachRendering(
	ctx context.Context, client *gitremote.Client, url string, globs []string,
	visit func(at destination.Destination, found *Rendering, err error) (next bool),
) error {
	return gitbranch.EachBranch(ctx, client, url, globs, func(branch string, s *gitbranch.Snapshot, err error) bool {
		at := destination.Destination{Repo: url, Branch: branch, Path: "."}
		var folders []string
		if err == nil {
			folders, err = s.FoldersWith(record.File)
		}
		if err != nil {
			return visit(at, nil, err)
		}
		for _, folder := range folders {
			at.Path = folder
			if found, err := readRendering(s, at); !visit(at, found, err) {
				return false
			}
		}
		return true
	})
}

// readRendering reads the rendering whose record is at a destination.
func readRendering(s *gitbranch.Snapshot, at destination.Destination) (*Rendering, error) {
	if _, err := destination.CleanPath(at.Path); err != nil {
		return nil, err
	}
	found, err := record.Read(s, at)
	if err != nil {
		return nil, err
	}
	return &Rendering{at, found.Environment, s}, nil
}
