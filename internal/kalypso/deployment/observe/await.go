package observe

import (
	"context"
	"errors"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// Await calls [Look] every interval until the branch contains the goal and its verdict is success or failure. It
// returns the last observation, or nil if there was none, and the context's error if that ended first. It retries if
// the repo can't be reached, and calls progress after each attempt that did not end the wait.
func Await(
	ctx context.Context,
	req Request,
	interval time.Duration,
	now func() time.Time,
	progress func(*Observation, error),
) (*Observation, error) {
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
			if seen.Awaits == "" && seen.Outcome.Verdict != deployment.Pending {
				return seen, nil
			}
		}
		progress(seen, err)
		if err := clock.Sleep(ctx, interval); err != nil {
			return last, err
		}
	}
}
