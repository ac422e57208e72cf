package windows_test

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
)

// FuzzParse: a window is refused, or its state is known soon, at any time.
func FuzzParse(f *testing.F) {
	f.Add("allow", "0 8 * * 1-5", "8h", "Europe/Berlin", "", "", int64(1_700_000_000))
	f.Add("deny", "", "", "", "2026-12-24T00:00:00Z", "2027-01-02T00:00:00Z", int64(1_798_000_000))
	f.Add("allow", "0 0 30 2 *", "1m", "UTC", "", "", int64(0))
	f.Add("deny", "*/7 1-3,5 29 2 MON", "24h", "America/New_York", "", "", int64(1_900_000_000))
	f.Fuzz(func(t *testing.T, kind, schedule, duration, zone, from, until string, now int64) {
		all, ps := windows.Parse([]windows.Arguments{{
			Kind: kind, Schedule: schedule, Duration: duration, TimeZone: zone, From: from, Until: until,
		}})
		if len(ps) > 0 || len(all) == 0 {
			return
		}
		at := time.Unix(now%4_000_000_000, 0)
		begun := time.Now()
		if first, second := all.At(at), all.At(at); first.Waits() != second.Waits() {
			t.Errorf("two states at %s: %q and %q", at, first.Waits(), second.Waits())
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
