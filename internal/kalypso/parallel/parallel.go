// Package parallel runs indexed work on all CPUs.
package parallel

import (
	"runtime"
	"sync"
)

// Do calls work for 0 to n-1, in any order, on all CPUs, and returns when all calls have returned.
func Do(n int, work func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				work(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// Map returns the results of work for 0 to n-1, in this order; see [Do].
func Map[T any](n int, work func(i int) T) []T {
	all := make([]T, n)
	Do(n, func(i int) { all[i] = work(i) })
	return all
}
