package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
)

// Origins returns the origins of the rendering that was last delivered to a destination, with their commits, as its
// record names them. It returns [ErrNoRendering] if there is no record.
func Origins(ctx context.Context, client *gitremote.Client, at Destination) ([]origin.Origin, error) {
	branch, err := gitops.Open(client, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	snapshot, err := branch.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	data, err := snapshot.ReadFile(at.RecordPath())
	switch {
	case errors.Is(err, gitops.ErrNoFile):
		return nil, fmt.Errorf("%w: at %s there is no record of a delivery", ErrNoRendering, at)
	case err != nil:
		return nil, err
	}
	record, err := ParseRecord(data)
	if err != nil {
		return nil, fmt.Errorf("the record at %s can't be used: %w", at, err)
	}
	return record.Sources.Resolve(record.Origins), nil
}
