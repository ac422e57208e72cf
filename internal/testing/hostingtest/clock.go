package hostingtest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock passes time at once where it is waited for. It is safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

// NewClock returns a clock that begins at a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// NewClockNow returns a clock that begins at the present second.
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

// Pass passes time that nothing waited for.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Waited returns how long was waited each time, and forgets it.
func (c *Clock) Waited() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := c.waits
	c.waits = nil
	return waits
}

// Waits returns how long was waited each time.
func (c *Clock) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}
