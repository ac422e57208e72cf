package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// sample is what something took once: its time, and the peak of the provider's resident memory in bytes, 0 where there is no
// provider.
type sample struct {
	time time.Duration
	peak int64
}

// measure adds a sample to those of a name.
func (b *bench) measure(name string, f func() (sample, error)) error {
	s, err := f()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, s)
	if b.samples == nil {
		b.samples = map[string][]sample{}
	}
	b.samples[name] = append(b.samples[name], s)
	return nil
}

// timed is the sample of what is done in this process.
func timed(f func() error) (sample, error) {
	start := time.Now()
	err := f()
	return sample{time: time.Since(start)}, err
}

// median is the median time of the samples of a name, and the largest peak.
func (b *bench) median(name string) (m sample) {
	var times []time.Duration
	for _, s := range b.samples[name] {
		times, m.peak = append(times, s.time), max(m.peak, s.peak)
	}
	if len(times) == 0 {
		panic("nothing was measured under " + name)
	}
	slices.Sort(times)
	m.time = times[len(times)/2]
	return m
}

// String is the time, and the peak where there is one.
func (s sample) String() string {
	return strings.TrimSpace(seconds(s.time) + " " + s.memory())
}

func (s sample) memory() string {
	if s.peak == 0 {
		return ""
	}
	return fmt.Sprintf("%d MiB", s.peak>>20)
}

// benchmarks are the samples in the format of Go's benchmarks, for benchstat.
func (b *bench) benchmarks() string {
	var lines []string
	for name, samples := range b.samples {
		for _, s := range samples {
			line := fmt.Sprintf("BenchmarkFleet/%s 1 %d ns/op", name, s.time.Nanoseconds())
			if s.peak > 0 {
				line += fmt.Sprintf(" %d peak-B", s.peak)
			}
			lines = append(lines, line+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func ratio(a, b sample) string { return fmt.Sprintf("%.2f", a.time.Seconds()/b.time.Seconds()) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// exponent is that of the growth from one size to another, so many times as large.
func exponent(small, large time.Duration, factor float64) string {
	if small <= 0 || large <= 0 {
		return "unknown: less than the noise"
	}
	return fmt.Sprintf("%.2f", math.Log(large.Seconds()/small.Seconds())/math.Log(factor))
}
