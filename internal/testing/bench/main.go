// Command bench measures what the provider costs at fleet size and prints a Markdown table: every figure that is compared
// with another is measured in the same run. It takes the golden fleets from KALYPSO_GOLDEN.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	provider := flag.String("provider", "", "the built provider")
	runs := flag.Int("runs", 3, "how often each figure is measured; the median counts")
	only := flag.String("only", "", "rendering, pushing or planning: measure that alone")
	flag.Parse()
	golden := os.Getenv("KALYPSO_GOLDEN")
	if golden == "" || *provider == "" {
		log.Fatal("bench: set KALYPSO_GOLDEN to the folder of the golden fleets, and -provider to the built provider (make bench does)")
	}
	at, err := filepath.Abs(*provider)
	if err != nil {
		log.Fatal("bench: ", err)
	}
	if err := run(context.Background(), golden, at, *runs, *only); err != nil {
		log.Fatal("bench: ", err)
	}
}

// bench is one run of the measurements.
type bench struct {
	golden   string
	provider string // the folder of the built provider
	scratch  string
	runs     int
	rows     []row
}

// row is a line of the table.
type row struct{ what, figure, against, ratio, bound string }

func run(ctx context.Context, golden, provider string, runs int, only string) (err error) {
	scratch, err := os.MkdirTemp("", "kalypso-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	b := &bench{golden: golden, provider: filepath.Dir(provider), scratch: scratch, runs: runs}
	for _, part := range []struct {
		name    string
		measure func(context.Context) error
	}{{"rendering", b.rendering}, {"pushing", b.pushing}, {"planning", b.planning}} {
		if only != "" && only != part.name {
			continue
		}
		if err := part.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return b.print(os.Stdout)
}

func (b *bench) add(r row) {
	fmt.Fprintf(os.Stderr, "%s: %s %s\n", r.what, r.figure, r.ratio)
	b.rows = append(b.rows, r)
}

func (b *bench) print(w *os.File) error {
	if _, err := fmt.Fprintf(w, "| what | measured | against | ratio | bound |\n|---|---|---|---|---|\n"); err != nil {
		return err
	}
	for _, r := range b.rows {
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.what, r.figure, r.against, r.ratio, r.bound); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nMachine: %s, %d cores, %s/%s; %s; %s; %s. The median of %d runs.\n",
		cpu(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version("git", "--version"), version("terraform", "version"), b.runs)
	return err
}

func cpu() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown CPU"
}

func version(command ...string) string {
	out, _ := exec.Command(command[0], command[1:]...).Output() //nolint:gosec // git and terraform
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}

// median runs f and returns the median of its times.
func (b *bench) median(f func() (time.Duration, error)) (time.Duration, error) {
	var times []time.Duration
	for range b.runs {
		d, err := f()
		if err != nil {
			return 0, err
		}
		times = append(times, d)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", a.Seconds()/b.Seconds()) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// exponent is that of the growth from one size to another.
func exponent(small, large time.Duration, factor float64) string {
	return fmt.Sprintf("%.2f", math.Log(large.Seconds()/small.Seconds())/math.Log(factor))
}
