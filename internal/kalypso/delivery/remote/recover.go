package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Import reads the state of an environment's rendering from the record at a destination. It also reads earlier
// deliveries, since people may revert to one of them.
func Import(
	ctx context.Context, client *gitremote.Client, at destination.Destination, environment string,
) (*delivery.State, error) {
	snapshot, err := gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	s, err := importFrom(snapshot, at, environment)
	if err != nil {
		return nil, err
	}
	earlier, err := readDeliveries(snapshot, at, environment)
	s.RememberEarlier(earlier)
	return s, err
}

// readDeliveries reads the deliveries of a rendering from the last [gitbranch.MaxHistory] commits of its branch, newest
// first: each tree that a record of the environment lists, with that record. It skips records that cannot be read.
func readDeliveries(
	snapshot *gitbranch.Snapshot, at destination.Destination, environment string,
) ([]delivery.EarlierDelivery, error) {
	history := snapshot.History()
	all, err := history.Ancestry(gitbranch.MaxHistory)
	if err != nil {
		return nil, err
	}
	revisions, err := record.Along(history, at, all.FirstParents)
	if err != nil {
		return nil, err
	}
	var deliveries []delivery.EarlierDelivery
	for r := range revisions {
		if r.Record == nil || r.Record.Environment != environment {
			continue
		}
		listed := sets.MapValues(r.Listed(), func(hash plumbing.Hash) tree.Hash { return tree.Hash(hash) })
		deliveries = append(deliveries, delivery.EarlierDelivery{
			Record: plumbing.ComputeHash(plumbing.BlobObject, r.Text).String(), Tree: tree.FolderHash(listed).String(),
		})
	}
	return deliveries, nil
}

// importFrom is [Import] from a branch that was read, without the earlier deliveries.
func importFrom(snapshot *gitbranch.Snapshot, at destination.Destination, environment string) (*delivery.State, error) {
	if snapshot.Commit.IsZero() {
		return nil, gitbranch.ErrBranchNotFound
	}
	found, err := readBranch(snapshot, at, nil, nil)
	switch {
	case err != nil:
		return nil, err
	case found.RecordError != "":
		return nil, delivery.RecordProblem(at, found)
	case found.Record == nil:
		return nil, fmt.Errorf(
			"%w: there is no record %s; to adopt a tree that the operator wrote, set adopt = true instead",
			delivery.ErrNoRendering,
			at.RecordPath(),
		)
	case found.Record.Environment != environment:
		return nil, fmt.Errorf(
			"%w of environment %q: the record %s says %q",
			delivery.ErrNoRendering, environment, at.RecordPath(), found.Record.Environment)
	}
	s := delivery.NewState(at, environment)
	s.LastRead, s.Cache = *found, snapshot.TreeCache(at.RecordPath())
	return s.AsLastRead(), nil
}

// Recover is [Import] for a rendering whose private state can't be read, because another version of the provider wrote
// it. A refresh writes the private state again; without a refresh, a change recovers it too. Foreign changes since the
// delivery are drift, and the state is only partly [delivery.State.Known]. If our record was removed, the error is
// [delivery.ErrNoRendering], and the state contains only the drift.
func Recover(ctx context.Context, client *gitremote.Client, p *delivery.Prior) (*delivery.State, error) {
	at, commit := p.Destination, p.Commit
	s, err := Import(ctx, client, at, p.Environment)
	proposed := commit == "" || p.Strategy != destination.Push && !p.Delivered // and maybe not delivered
	gone := errors.Is(err, delivery.ErrNoRendering)
	if proposed || err != nil && !gone || !gone && s.Delivered.TreeHash().String() == p.TreeHash {
		return s, err
	}
	branch, failed := gitbranch.Open(client, at.Repo, at.Branch)
	if failed != nil {
		return nil, failed
	}
	if gone {
		s = &delivery.State{Destination: at, Environment: p.Environment}
		s.Drift, failed = drift.Since(ctx, branch, commit, []string{at.RecordPath()})
		if failed != nil {
			return nil, failed
		}
		return s, err
	}
	s.Base, s.Delivered, s.Inputs = commit, inventory.Folders{}, nil
	paths := []string{at.RecordPath()}
	for _, name := range s.LastRead.RecordedFolders() { // which include all that it contains
		s.Delivered[name] = inventory.Folder{}
		paths = append(paths, at.Join(name))
	}
	s.Drift, err = drift.Since(ctx, branch, commit, paths)
	return s, err
}
