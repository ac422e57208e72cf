package delivery

import (
	"cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
)

// ReachedOwners returns the owners of whom the apply changes a folder. before is as in [Describe].
func ReachedOwners(t *next.Next, before *past.State) []describe.Owner {
	if t.Wish.Strategy != strategy.PullRequest || len(t.Wish.Owners) == 0 {
		return nil
	}
	now, _ := t.Wish.Workspaces()
	return t.Wish.Owners.Reached(before.Found().ChangesTo(t.Folders), func(target string) string {
		return cmp.Or(now[target], before.Inputs.Workspace(target))
	})
}

// OwnersOfRemoved returns the owners of folders that are removed from the destination of s.
func OwnersOfRemoved(all owners.Owners, existing inventory.Folders, s *past.State) []describe.Owner {
	return all.Reached(existing.ChangesTo(nil), s.Inputs.Workspace)
}
