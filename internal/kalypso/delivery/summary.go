package delivery

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// Summary returns a line for each cluster type of the tree that the apply leaves, such as "+1 -0 ~3, 16 targets, tree
// 8042707eec4d": the changes of the folder when it last changed, the number of its deployment targets, and its hash.
// last contains the lines after the last apply. The line of an unchanged folder stays, so a plan shows exactly the
// cluster types that change. A line has no changes if the state does not contain the last tree, as for a create: the
// branch may contain the folder already. A line is [unknown.Text] if the folder is not known yet.
func (decision *Decision) Summary(t *AppliedTree, last map[string]string) map[string]string {
	var changes map[string]string
	if before := lastTree(decision.Before); before != nil && !decision.Before.BaselineUnknown() {
		changes = Changes(before, t.inventory)
	}
	return t.inventory.summary(changes, last)
}

// Summary returns the lines of folders that a refresh or an import read; see [Decision.Summary].
func (inv Inventory) Summary(last map[string]string) map[string]string { return inv.summary(nil, last) }

func (inv Inventory) summary(changes, last map[string]string) map[string]string {
	all := make(map[string]string, len(inv))
	for name, folder := range inv {
		if folder.Unknown || folder.Undecided {
			all[name] = unknown.Text
			continue
		}
		targets := "1 target"
		if n := len(folder.Targets); n != 1 {
			targets = fmt.Sprintf("%d targets", n)
		}
		line := fmt.Sprintf("%s, tree %.12s", targets, folder.Hash)
		switch {
		case last[name] == line || strings.HasSuffix(last[name], ", "+line):
			line = last[name]
		case changes[name] != "":
			line = changes[name] + ", " + line
		}
		all[name] = line
	}
	return all
}
