package branch

import (
	"context"
	"sync"
)

// locks contains one slot per branch for the whole process.
var (
	locksMu sync.Mutex
	locks   = map[string]chan struct{}{}
)

// lock waits for the branch and returns a function that unlocks it.
func lock(ctx context.Context, key string) (func(), error) {
	locksMu.Lock()
	c, ok := locks[key]
	if !ok {
		c = make(chan struct{}, 1)
		locks[key] = c
	}
	locksMu.Unlock()
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
