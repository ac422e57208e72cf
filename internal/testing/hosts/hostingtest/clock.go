package hostingtest

import (
	"context"
	"sync"
	"time"
)

// Clock is a clock on which waits end at once. It is safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

// NewClock returns a clock that begins at a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// NewClockNow returns a clock that begins at the current second.
func NewClockNow() *Clock { return NewClock(time.Now().Truncate(time.Second)) }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep passes time. It returns the error of ctx.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

// Pass moves the clock without a wait.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Waited returns the durations of the waits since the last call.
func (c *Clock) Waited() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := c.waits
	c.waits = nil
	return waits
}
