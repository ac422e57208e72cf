package clock

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Backoff returns the wait after an attempt that failed, counted from 1: first, doubled with each attempt, up to
// longest.
func Backoff(first, longest time.Duration, attempt int) time.Duration {
	for range attempt - 1 {
		first *= 2
		if first >= longest {
			return longest
		}
	}
	return min(first, longest)
}

// RetryAfter returns the wait that the header Retry-After of an answer asks for, and whether it asks for one: in
// seconds, or as a date. The wait until a date begins now, or at the date of the answer if now is zero.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err == nil && now.IsZero() {
		now, err = http.ParseTime(h.Get("Date"))
	}
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}
