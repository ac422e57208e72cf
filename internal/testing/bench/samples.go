package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// sample is one measurement. For runs of Terraform it also has the CPU time of Terraform and the provider, and the peak
// of the provider's resident memory in bytes. provider is the provider's part of the CPU time.
type sample struct {
	time, cpu, provider time.Duration
	peak                int64
}

// measure adds a sample under a name.
func (b *bench) measure(name string, f func() sample) {
	s := f()
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, strings.Join(strings.Fields(strings.Join(s.cells(), " ")), " "))
	b.samples[name] = append(b.samples[name], s)
}

// timed measures a function in this process.
func timed(f func()) sample {
	start := time.Now()
	f()
	return sample{time: time.Since(start)}
}

// median returns the median times and the largest peak of the samples with a name.
func (b *bench) median(name string) (m sample) {
	var times, cpus, providers []time.Duration
	for _, s := range b.samples[name] {
		times, cpus, m.peak = append(times, s.time), append(cpus, s.cpu), max(m.peak, s.peak)
		providers = append(providers, s.provider)
	}
	if len(times) == 0 {
		panic("nothing was measured under " + name)
	}
	slices.Sort(times)
	slices.Sort(cpus)
	slices.Sort(providers)
	m.time, m.cpu, m.provider = times[len(times)/2], cpus[len(cpus)/2], providers[len(providers)/2]
	return m
}

// cells returns the time, the CPU time and the peak, each empty if it is zero.
func (s sample) cells() []string {
	cells := []string{seconds(s.time), seconds(s.cpu), s.memory()}
	for i, zero := range []bool{s.time == 0, s.cpu == 0, s.peak == 0} {
		if zero {
			cells[i] = ""
		}
	}
	return cells
}

func (s sample) memory() string { return fmt.Sprintf("%d MiB", s.peak>>20) }

// benchmarks returns the samples in the format of Go's benchmarks, for benchstat.
func (b *bench) benchmarks() string {
	var lines []string
	for name, samples := range b.samples {
		for _, s := range samples {
			line := fmt.Sprintf("BenchmarkFleet/%s 1 %d ns/op", name, s.time.Nanoseconds())
			if s.peak > 0 {
				line += fmt.Sprintf(" %d cpu-ns/op %d peak-B", s.cpu.Nanoseconds(), s.peak)
			}
			lines = append(lines, line+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func ratio(a, b sample) string { return fmt.Sprintf("%.2f", a.time.Seconds()/b.time.Seconds()) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// exponent returns the exponent with which the time grows if the size grows by a factor.
func exponent(small, large time.Duration, factor float64) string {
	if small <= 0 || large <= 0 {
		return "unknown: less than the noise"
	}
	return fmt.Sprintf("%.2f", math.Log(large.Seconds()/small.Seconds())/math.Log(factor))
}
