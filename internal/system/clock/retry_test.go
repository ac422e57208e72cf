package clock_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// TestBackoff checks that a wait doubles up to the longest one, also after very many attempts.
func TestBackoff(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 6: 30 * time.Second, math.MaxInt: 30 * time.Second,
	} {
		if got := clock.Backoff(time.Second, 30*time.Second, attempt); got != want {
			t.Errorf("after attempt %d: %s, want %s", attempt, got, want)
		}
	}
	if got := clock.Backoff(time.Minute, time.Second, 1); got != time.Second {
		t.Errorf("%s, but at most a second", got)
	}
}

// FuzzRetryAfter: a wait is never negative. A date needs a time from which it is counted.
func FuzzRetryAfter(f *testing.F) {
	const at = "Wed, 21 Oct 2015 07:28:00 GMT"
	for _, value := range []string{"0", " 7 ", "-1", "99999999999", "", "soon", at} {
		f.Add(value, at, int64(0))
		f.Add(value, "", int64(1445412480))
	}
	f.Fuzz(func(t *testing.T, value, date string, unix int64) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		for _, now := range []time.Time{{}, time.Unix(unix, 0)} {
			wait, asks := clock.RetryAfter(h, now)
			if wait < 0 || !asks && wait != 0 {
				t.Errorf("%q asks (%t) for %s", value, asks, wait)
			}
		}
		h = http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:29:00 GMT"}, "Date": {date}}
		if wait, asks := clock.RetryAfter(h, time.Time{}); date == at && (!asks || wait != time.Minute) {
			t.Errorf("a minute after the date of the answer: %s", wait)
		}
		if wait, asks := clock.RetryAfter(h, time.Unix(1445412480, 0)); !asks || wait != time.Minute {
			t.Errorf("a minute from now: %s", wait)
		}
	})
}
