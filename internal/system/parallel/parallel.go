// Package parallel runs indexed work concurrently.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Do calls work for 0 to n-1, in any order, on all CPUs, and returns when all calls have returned. If calls panic, Do
// panics with the panic of the call with the lowest index.
func Do(n int, work func(i int)) { Limited(n, runtime.GOMAXPROCS(0), work) }

// Limited is like [Do], but runs at most limit calls at a time. Use it for work that mostly waits.
func Limited(n, limit int, work func(i int)) {
	panics := make([]*problem.Panic, n)
	guarded := func(i int) {
		defer problem.ReportPanic(func(p *problem.Panic) { panics[i] = p })
		work(i)
	}
	var wg sync.WaitGroup
	var started atomic.Int64
	for range min(n, max(limit, 1)) {
		wg.Go(func() {
			for i := int(started.Add(1)) - 1; i < n; i = int(started.Add(1)) - 1 {
				guarded(i)
			}
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// Go calls work in the background. wait returns when work has returned, and panics if it panicked.
func Go(work func()) (wait func()) {
	var panicked *problem.Panic
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer problem.ReportPanic(func(p *problem.Panic) { panicked = p })
		work()
	}()
	return func() {
		<-done
		if panicked != nil {
			panic(panicked)
		}
	}
}

// Map returns the results of work for 0 to n-1, in this order; see [Do].
func Map[T any](n int, work func(i int) T) []T {
	all := make([]T, n)
	Do(n, func(i int) { all[i] = work(i) })
	return all
}
