package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// root is a root module with its GitOps repo.
type root struct{ dir, repo string }

// newRoot creates a root module. fill writes its files.
func (b *bench) newRoot(fill func(*root)) *root {
	dir := must(os.MkdirTemp(b.scratch, "root-"))
	r := &root{dir, newRepo(dir, "gitops.git")}
	config := programs.Overriding(filepath.Dir(b.provider))
	check(os.WriteFile(filepath.Join(dir, "terraform.rc"), []byte(config), 0o600))
	fill(r)
	return r
}

// configure writes the configuration.
func (r *root) configure(format string, values ...any) {
	check(os.WriteFile(filepath.Join(r.dir, "main.tf"), fmt.Appendf(nil, format, values...), 0o600))
}

func (r *root) remove() { check(os.RemoveAll(r.dir)) }

// apply applies the module.
func (r *root) apply() sample { return r.terraform("apply", "-auto-approve", "-no-color") }

func (r *root) firstPlan() sample { return r.terraform("plan", "-no-color") }

// plan plans the module, which must have no changes.
func (r *root) plan() sample { return r.terraform("plan", "-detailed-exitcode", "-no-color") }

func (r *root) terraform(args ...string) (s sample) {
	cmd := exec.Command(programs.TerraformCLI(), args...) //nolint:gosec // the CLI
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(r.dir, "terraform.rc"), "CHECKPOINT_DISABLE=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	check(cmd.Start())
	watched := watchProvider(cmd.Process.Pid)
	err := cmd.Wait()
	s.time = time.Since(start)
	s.peak, s.provider = watched()
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		log.Panicf("bench: terraform %s: %v\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	return s
}

// watchProvider polls the children of Terraform's process, which are the providers. The returned function stops the
// polling, and returns the largest peak of their resident memory in bytes, and their processor time. It does not see
// what a provider does in its last milliseconds.
func watchProvider(parent int) func() (peak int64, cpu time.Duration) {
	var watching sync.WaitGroup
	quit := make(chan struct{})
	var peak int64
	spent := map[string]time.Duration{} // by process
	watching.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				for _, child := range children(parent) {
					peak = max(peak, peakOf(child))
					spent[child] = max(spent[child], processorTimeOf(child))
				}
			}
		}
	})
	return func() (int64, time.Duration) {
		close(quit)
		watching.Wait()
		var cpu time.Duration
		for _, s := range spent {
			cpu += s
		}
		return peak, cpu
	}
}

// children returns the children of a process. It must be cheap, as the functions below, since it runs during the
// measurement.
func children(parent int) (all []string) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, thread := range threads {
		text, _ := os.ReadFile(thread) //nolint:gosec // in /proc
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// peakOf returns the peak memory of a process in bytes, or 0 if the system does not report it.
func peakOf(process string) (peak int64) {
	status, _ := os.ReadFile(filepath.Join("/proc", process, "status")) //nolint:gosec // in /proc
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			peak = max(peak, kib<<10)
		}
	}
	return peak
}

// clockTick is the unit of processor times in /proc.
const clockTick = time.Second / 100

// processorTimeOf returns the processor time of a process, or 0 if the system does not report it.
func processorTimeOf(process string) time.Duration {
	stat, _ := os.ReadFile(filepath.Join("/proc", process, "stat")) //nolint:gosec // in /proc
	_, after, _ := strings.Cut(string(stat), ") ")                  // the name of the program may contain spaces
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * clockTick
}
