package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := clock.Sleep(t.Context(), time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Errorf("an hour took %s: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start = time.Now()
		if err := clock.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("a context of a minute ended after %s: %v", time.Since(start), err)
		}
	})
}

func TestFormat(t *testing.T) {
	for d, want := range map[time.Duration]string{
		4 * time.Hour: "4h", 90 * time.Minute: "1h30m", 30 * time.Minute: "30m", 61 * time.Second: "1m1s", time.Second: "1s",
		10 * time.Hour: "10h", 0: "0s", time.Hour + time.Second: "1h0m1s", 20 * time.Minute: "20m",
	} {
		if got := clock.Format(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
