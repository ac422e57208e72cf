package parallel_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// TestMap: each call runs once, also if calls are nested, and the results are in the order of the calls.
func TestMap(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		var calls atomic.Int64
		got := parallel.Map(n, func(i int) int {
			parallel.Do(3, func(int) { calls.Add(1) })
			return i
		})
		if len(got) != n || !slices.IsSorted(got) || len(slices.Compact(got)) != n || calls.Load() != int64(3*n) {
			t.Errorf("%d times: %v after %d calls", n, got, calls.Load())
		}
	}
}
