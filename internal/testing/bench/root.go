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
	peak := watchPeak(cmd.Process.Pid)
	err := cmd.Wait()
	s.time, s.peak = time.Since(start), peak()
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		log.Panicf("bench: terraform %s: %v\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	return s
}

// watchPeak polls the children of Terraform's process, which are the providers. The returned function stops the
// polling, and returns the largest peak of their resident memory in bytes.
func watchPeak(parent int) func() int64 {
	var watching sync.WaitGroup
	quit := make(chan struct{})
	var peak int64
	watching.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				peak = max(peak, peakOfChildren(parent))
			}
		}
	})
	return func() int64 {
		close(quit)
		watching.Wait()
		return peak
	}
}

// peakOfChildren returns the largest peak memory among the children of a process, in bytes, or 0 if the system does
// not report it. It must be cheap, since it runs during the measurement.
func peakOfChildren(parent int) (peak int64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) //nolint:gosec // in /proc
		for child := range strings.FieldsSeq(string(children)) {
			status, _ := os.ReadFile(filepath.Join("/proc", child, "status")) //nolint:gosec // in /proc
			for line := range strings.Lines(string(status)) {
				if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
					kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
					peak = max(peak, kib<<10)
				}
			}
		}
	}
	return peak
}
