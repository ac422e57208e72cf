package engine_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/processor"
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

// BenchmarkObjects compares schedule and render with and without a look at the objects in all folders, by the least
// processor time of each: whatever else runs on the machine only adds to it.
func BenchmarkObjects(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f := objectsOf(b, golden.Named(b, "large-10k"))
	var least [2]time.Duration
	for b.Loop() { // in turns, as the machine's load changes
		for i, reaction := range []problem.Reaction{problem.Ignore, problem.Warn} {
			f.Duplicates = reaction
			before := processor.Time()
			if _, problems := build(b.Context(), f); len(problems) > 0 {
				b.Fatal(problems)
			}
			if spent := processor.Time() - before; least[i] == 0 || spent < least[i] {
				least[i] = spent
			}
		}
	}
	b.ReportMetric(least[1].Seconds()/least[0].Seconds(), "ratio")
}
