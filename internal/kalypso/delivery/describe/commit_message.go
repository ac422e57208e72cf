package describe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// CommitMessage returns the configured message of the commit, or the default, which lists the changes.
func CommitMessage(c *delivery.Change) string {
	t := c.Next
	if t.Args.Message != "" {
		return t.Args.Message
	}
	changes := inventory.Changes(c.Existing, c.Wanted)
	var b strings.Builder
	b.WriteString(record.Message(t.Args.Environment, changedObjects(c.Before, t.Args)))
	names := slices.Sorted(maps.Keys(changes))
	if len(names) > 0 {
		b.WriteString("\n")
	}
	for i, name := range names {
		if i == problem.MaxListed {
			fmt.Fprintf(&b, "and %s\n", problem.Count(len(names)-i, "more cluster type"))
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", printable.Line(name), changes[name])
	}
	if k := t.Failing; k != nil {
		fmt.Fprintf(&b, "\nFails to render: %d kept, %d left out\n", len(k.Kept), len(k.LeftOut))
	}
	if t.NewRollout {
		fmt.Fprintf(&b, "\nRollout: %s\n", t.Rollout.StageAndWave())
		if why := t.Rollout.RolledBack; why != "" {
			fmt.Fprintf(&b, "\n%s", promotion.Reason{Explanation: why}.Facts())
		}
	}
	if c.NotesSuccess {
		b.WriteString("\nThe environment succeeded after an automatic rollback.\n")
	}
	if t.Args.Promotion.Commit != "" && t.Complete {
		fmt.Fprintf(&b, "\nPromoted commit: %s\n", t.Args.Promotion.Commit)
	}
	if facts := c.Record.NewReason(c.Branch.Record).Facts(); facts != "" {
		if !t.Complete {
			fmt.Fprintf(&b, "\nPromoted commit, in waves: %s\n", t.Args.Promotion.Commit)
		}
		fmt.Fprintf(&b, "\n%s", facts)
	}
	return b.String()
}
