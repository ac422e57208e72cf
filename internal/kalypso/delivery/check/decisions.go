package check

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
)

// decisions returns a *DecisionsError if the record contains decisions that the state does not know, and the tree was
// rendered with other decisions. Adopting the record would move targets.
func (c *Comparison) decisions() error {
	if c.Before.Current() || c.Branch.Record == nil || len(c.Branch.Record.Decisions) == 0 {
		return nil
	}
	if !c.Next.Rendered.DecisionsKnown() || c.Next.Rendered.Decisions.Equal(c.Branch.Record.Decisions) {
		return nil
	}
	return &DecisionsError{c.Next.Wish.Destination, c.Next.Wish.Environment}
}

// DecisionsError says that the destination contains a rendering that the state does not know, with other decisions of
// placement.
type DecisionsError struct {
	Destination record.Destination
	Environment string
}

// Error implements error.
func (e *DecisionsError) Error() string {
	return fmt.Sprintf(
		"At %s, the record %s contains placement decisions that the state does not know. Placement decided without them, so "+
			"the apply would move deployment targets.",
		e.Destination,
		e.Destination.RecordPath(),
	)
}
