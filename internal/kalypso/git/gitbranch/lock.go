package gitbranch

import (
	"context"
	"sync"
)

// locks contains one slot per branch for the whole process.
var locks sync.Map

// lock waits for the branch and returns a function that unlocks it.
func lock(ctx context.Context, key string) (func(), error) {
	known, _ := locks.LoadOrStore(key, make(chan struct{}, 1))
	slot, _ := known.(chan struct{})
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
