package deployment_test

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

func TestCovers(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		last time.Time
		soak time.Duration
		want bool
	}{
		{"one proof, no soak", start, 0, true},
		{"one proof", start, time.Hour, false},
		{"last proof a second before the end", start.Add(time.Hour - time.Second), time.Hour, false},
		{"last proof at the end", start.Add(time.Hour), time.Hour, true},
		{"last proof after the end", start.Add(2 * time.Hour), time.Hour, true},
		{"proof before the start", start.Add(-time.Second), 0, false},
	} {
		r := deployment.Run{Start: start, Last: c.last}
		if got := r.Covers(c.soak); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
