package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
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
				assignments += built.Schedule.Count
			}
			b.ReportMetric(float64(assignments)/b.Elapsed().Seconds(), "assignments/s")
		})
	}
}

// BenchmarkRebuild is the same where all of it was rendered before, or all but one cluster type.
func BenchmarkRebuild(b *testing.B) {
	for _, name := range []string{"large-10k", "large-100k"} {
		f := objectsOf(b, golden.Named(b, name))
		built, problems := build(b.Context(), f)
		if err := problems.Err(); err != nil {
			b.Fatal(err)
		}
		for _, changed := range []int{0, 1} {
			b.Run(fmt.Sprintf("%s/%d-changed", name, changed), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				before := tree.Rendered{}
				for _, folder := range built.Folders[changed:] {
					before[folder.Digest] = folder
				}
				b.ReportAllocs()
				for b.Loop() {
					made, problems := engine.Run(b.Context(), f, engine.Options{Rendered: before})
					if err := problems.Err(); err != nil || made.Tree.Hash != built.Hash {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
