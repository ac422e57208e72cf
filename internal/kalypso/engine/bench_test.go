package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// BenchmarkBuild schedules and renders the large golden fleets on one core, from the objects to the tree's hash, and
// also large-10k with every tenth cluster type, and with a config of its own for each assignment.
func BenchmarkBuild(b *testing.B) {
	for _, name := range []string{"large-1k", "large-10k", "large-10k with own values", "large-100k"} {
		b.Run(name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			f := benchFleet(b, name)
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

// benchFleet returns the fleet of a benchmark by its name.
func benchFleet(b *testing.B, name string) *fleet.Fleet {
	b.Helper()
	if name == "large-100k" {
		return objectsOf(b, golden.Named(b, name))
	}
	f := objectsOf(b, golden.Named(b, "large-10k"))
	switch name {
	case "large-1k":
		all := f.ClusterTypes
		f.ClusterTypes = nil
		for tenth := range slices.Chunk(all, 10) {
			f.ClusterTypes = append(f.ClusterTypes, tenth[0])
		}
	case "large-10k with own values":
		built, _ := build(b.Context(), f)
		for _, p := range built.Schedule.Placements {
			for _, a := range p.Assignments {
				f.Configs = append(f.Configs, &fleet.Config{
					Meta: fleet.Meta{Name: fmt.Sprintf("own-%06d", len(f.Configs)), Labels: map[string]string{
						fleet.PlatformConfigLabel: "true", fleet.ClusterTypeLabel: p.ClusterType.Name,
						fleet.DeploymentTargetLabel: a.Target.Name,
					}},
					Data: map[string]string{"OWN": fmt.Sprintf("value of %s on %s", a.Target.Name, p.ClusterType.Name)},
				})
			}
		}
	}
	return f
}

// BenchmarkFeature schedules and renders large fleets with a feature that not every fleet uses and without it, in
// turns, since the speed of the machine changes. It reports the median of the additional time, and of the additional
// processor time as a share of the processor time without the feature.
func BenchmarkFeature(b *testing.B) {
	nothing := func(*optionedFleet) {}
	compared := func(f *optionedFleet) { f.Duplicates = problem.Warn }
	valid := func(f *optionedFleet) { f.Duplicates, f.Invalid = problem.Warn, problem.Fail }
	for _, c := range []struct {
		name, fleet   string
		without, with func(*optionedFleet)
	}{
		{"objects", "large-10k", nothing, compared}, // nothing is delivered, so the objects in all folders are read
		{"requires", "large-100k", nothing, requireFive},
		{"invalid", "large-100k", compared, valid},
	} {
		b.Run(c.name, func(b *testing.B) {
			without, with := &optionedFleet{Fleet: benchFleet(b, c.fleet)}, &optionedFleet{Fleet: benchFleet(b, c.fleet)}
			c.without(without)
			c.with(with)
			var times, shares []float64
			for b.Loop() {
				timeWithout, cpuWithout := spent(b, without)
				timeWith, cpuWith := spent(b, with)
				times = append(times, (timeWith - timeWithout).Seconds())
				shares = append(shares, cpuWith.Seconds()/cpuWithout.Seconds()-1)
			}
			slices.Sort(times)
			slices.Sort(shares)
			b.ReportMetric(1000*times[len(times)/2], "ms-more")
			b.ReportMetric(shares[len(shares)/2], "share")
		})
	}
}

// spent returns the time and the processor time that a fleet takes.
func spent(b *testing.B, f *optionedFleet) (took, processed time.Duration) {
	b.Helper()
	runtime.GC() // else a run pays for the garbage of the run before
	start, before := time.Now(), processor.Time()
	if _, problems := f.run(b.Context()); problems.HasErrors() {
		b.Fatal(problems)
	}
	return time.Since(start), processor.Time() - before
}

// requireFive makes each deployment target require five targets of other workloads on the same cluster types, by
// workload, target and label in turn.
func requireFive(f *optionedFleet) {
	on := map[string]string{} // deployment target → the cluster types
	made, _ := engine.Run(context.Background(), f.Fleet, engine.Options{})
	for i, p := range made.Schedule.Placements {
		for _, a := range p.Assignments {
			on[a.Target.Name] += fmt.Sprint(i, " ")
		}
	}
	f.Requires = problem.Fail
	earlier := map[string][]fleet.Requirement{} // of the workloads before, by the cluster types
	for _, w := range f.Workloads {
		own := map[string]fleet.Requirement{}
		for i := range w.Targets {
			target := &w.Targets[i]
			places := on[w.Name+"-"+target.Name]
			if target.Environment != f.Environment || places == "" {
				continue
			}
			n := len(earlier[places])
			target.Requires = slices.Clone(earlier[places][max(0, n-5):])
			own[places] = []fleet.Requirement{
				{Workload: w.Name},
				{Workload: w.Name, DeploymentTarget: target.Name},
				{MatchLabels: map[string]string{fleet.WorkloadLabel: w.Name}},
			}[n%3]
		}
		for places, r := range own {
			earlier[places] = append(earlier[places], r)
		}
	}
}
