package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
)

// Summary returns a line for each cluster type of the tree that the apply leaves, such as "+1 -0 ~3, 16 targets, tree
// 8042707eec4d": the changes of the folder when it last changed, the number of its deployment targets, and its hash.
// last contains the lines after the last apply. The line of an unchanged folder stays, so a plan shows exactly the
// cluster types that change. A line has no changes if the state does not contain the last tree, as for a create: the
// branch may contain the folder already. A line is [unknown.Text] if the folder is not known yet.
func (decision *Decision) Summary(t *next.Next, last map[string]string) map[string]string {
	var changes map[string]string
	if before := decision.Before.Last(); before != nil && decision.Before.Known() != inventory.Partial {
		changes = inventory.Changes(before, t.Folders)
	}
	return t.Folders.Summary(changes, last)
}
