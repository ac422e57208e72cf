// Package clock waits for time to pass.
package clock

import (
	"context"
	"time"
)

// Sleep waits for d or until ctx is done. If ctx is done first, Sleep returns its error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
