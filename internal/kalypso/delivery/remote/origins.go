package remote

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
)

// Origins returns the origins of the rendering that was last delivered to a destination, with their commits, as its
// record names them. It returns [ErrNoRendering] if there is no record.
func Origins(ctx context.Context, client *gitremote.Client, at destination.Destination) ([]origin.Origin, error) {
	snapshot, err := gitbranch.ReadHead(ctx, client, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	found, err := record.Read(snapshot, at)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, fmt.Errorf("%w: there is no delivery record at %s", delivery.ErrNoRendering, at)
	}
	return found.Sources.Resolve(found.Origins), nil
}
