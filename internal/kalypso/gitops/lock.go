package gitops

import (
	"context"
	"sync"
)

// locks hold one slot a branch for the whole process.
var locks sync.Map // key → chan struct{}

// lock waits for the branch. It gives what frees it.
func lock(ctx context.Context, key string) (func(), error) {
	slot, _ := locks.LoadOrStore(key, make(chan struct{}, 1))
	c := slot.(chan struct{})
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
