// Package clock waits for durations, and formats durations and times.
package clock

import (
	"context"
	"strings"
	"time"
)

// Sleep waits for d or until ctx is done. If ctx is done first, Sleep returns the error of ctx.
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

// Format formats a duration briefly: "4h", not "4h0m0s".
func Format(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Stamp formats a time for texts: in UTC, to the second.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
