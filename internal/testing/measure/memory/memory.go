// Package memory measures the memory of the test's process.
package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// Measure runs f, and adds its processor time and memory to the results of a benchmark.
func Measure(b *testing.B, f func()) {
	b.Helper()
	start := processor.Time()
	peak := Peak(f)
	b.ReportMetric((processor.Time() - start).Seconds(), "cpu-s")
	b.ReportMetric(float64(peak>>20), "peak-MiB")
}

// Peak runs f and returns the peak of the memory that the process uses meanwhile, in bytes. It includes garbage that is
// not collected yet, but not memory that was free before f began.
func Peak(f func()) (peak uint64) {
	runtime.GC()
	debug.FreeOSMemory()
	look := func() {
		all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(all)
		peak = max(peak, all[0].Value.Uint64()-all[1].Value.Uint64())
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			look()
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	f()
	close(done)
	wg.Wait()
	look()
	return peak
}
