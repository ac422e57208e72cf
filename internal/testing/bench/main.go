// Command bench measures the costs of the provider at fleet size, and prints a Markdown table. Figures that it compares
// come from the same run. It measures the large golden fleets, and checks that all runs give their trees.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

func main() {
	log.SetFlags(0)
	b := bench{samples: map[string][]sample{}}
	flag.StringVar(&b.provider, "provider", "", "path of the built provider")
	flag.IntVar(&b.runs, "runs", 3, "number of measurements; the table shows the median")
	only := flag.String("only", "", "measure only pushing, planning, models, waves or describing")
	benchmarks := flag.Bool("benchmarks", false,
		"print results in the format of Go benchmarks, for benchstat, instead of the table")
	flag.Parse()
	if b.provider == "" {
		log.Fatal("bench: set -provider to the built provider (make bench does)")
	}
	b.run(*only)
	if *benchmarks {
		fmt.Print(b.benchmarks())
		return
	}
	b.print(os.Stdout)
}

// bench contains the settings and the results of one run.
type bench struct {
	provider string // the path of the built provider
	scratch  string
	runs     int
	samples  map[string][]sample // by name
	rows     []row
}

// row is a line of the table.
type row struct {
	what                  string
	measured              sample
	against, ratio, bound string
}

func (b *bench) run(only string) {
	b.provider = must(filepath.Abs(b.provider))
	b.scratch = must(os.MkdirTemp("", "kalypso-bench-"))
	defer os.RemoveAll(b.scratch)
	for _, part := range []struct {
		name    string
		measure func()
	}{
		{"pushing", b.pushing}, {"planning", b.planning}, {"models", b.models}, {"waves", b.waves},
		{"describing", b.describing},
	} {
		if only == "" || only == part.name {
			part.measure()
		}
	}
}

func (b *bench) add(r row) { b.rows = append(b.rows, r) }

// compare adds a row that compares the measurements with two names.
func (b *bench) compare(what, name, text, against, bound string) {
	m, other := b.median(name), b.median(against)
	b.add(row{what, m, text + ": " + seconds(other.time), ratio(m, other), bound})
}

func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "| what | measured | CPU | peak memory | against | ratio | bound |\n|---|---|---|---|---|---|---|\n")
	for _, r := range b.rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.what, strings.Join(r.measured.cells(), " | "), r.against, r.ratio,
			r.bound)
	}
	fmt.Fprintf(w, "\nMachine: %s, %d cores, %s/%s; %s; %s; %s. The median of %d runs, and the largest peak.\n",
		cpu(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version("git", "--version"),
		version(programs.TerraformCLI(), "version"), b.runs)
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
