package processor_test

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// TestLeast checks that a function that sleeps takes no processor time, and that a function that exceeds the bound runs
// three times.
func TestLeast(t *testing.T) {
	runs := 0
	sleep := func() {
		runs++
		time.Sleep(200 * time.Millisecond)
	}
	if took := processor.Least(100*time.Millisecond, sleep); took > 100*time.Millisecond || runs != 1 {
		t.Errorf("sleeping took %s in %d runs", took, runs)
	}
	runs = 0
	work := func() {
		runs++
		for start := processor.Time(); processor.Time()-start < 50*time.Millisecond; {
		}
	}
	if took := processor.Least(time.Millisecond, work); took < 5*time.Millisecond || runs != 3 { // on a slow machine, less
		t.Errorf("working took %s in %d runs", took, runs)
	}
	runs = 0
	processor.Least(time.Hour, work)
	if runs != 1 {
		t.Errorf("%d runs within the bound", runs)
	}
}
