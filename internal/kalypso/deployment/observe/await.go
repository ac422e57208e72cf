package observe

import (
	"context"
	"errors"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Await looks until the goal is on the branch and its verdict is a success or a failure, every interval. It returns what was
// seen last: with the context's error where that ended before, nil where nothing was seen. progress is told of each look. A
// repo or a source that can't be reached for a moment is looked at again.
func Await(ctx context.Context, req Request, interval time.Duration, now func() time.Time, progress func(*Observation, error)) (*Observation, error) {
	var last *Observation
	for {
		seen, err := Look(ctx, req, now)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case errors.Is(err, gitremote.ErrUnreachable):
		case err != nil:
			return last, err
		default:
			last = seen
			if seen.Awaits == "" && seen.Verdict != deployment.Pending {
				return seen, nil
			}
		}
		progress(seen, err)
		if err := clock.Sleep(ctx, interval); err != nil {
			return last, err
		}
	}
}
