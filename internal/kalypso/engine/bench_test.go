package engine_test

import (
	"runtime"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

// BenchmarkBuild schedules and renders the large golden fleets on one core, from the objects to the tree's hash.
func BenchmarkBuild(b *testing.B) {
	for _, name := range []string{"large-10k", "large-100k"} {
		b.Run(name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			f := objectsOf(b, golden.Named(b, name))
			b.ReportAllocs()
			assignments := 0
			for b.Loop() {
				built, problems := build(b.Context(), f)
				if err := problems.Err(); err != nil {
					b.Fatal(err)
				}
				assignments += built.Schedule.AssignmentCount
			}
			b.ReportMetric(float64(assignments)/b.Elapsed().Seconds(), "assignments/s")
		})
	}
}
