package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// root is a root module with a GitOps repo beside it.
type root struct {
	b         *bench
	dir, repo string
}

// newRoot makes a root module; fill writes its files, for the repo.
func (b *bench) newRoot(ctx context.Context, fill func(dir, repo string) error) (*root, error) {
	dir, err := os.MkdirTemp(b.scratch, "root-")
	if err != nil {
		return nil, err
	}
	r := &root{b, dir, filepath.Join(dir, "gitops.git")}
	if err := git(ctx, nil, "init", "-q", "--bare", r.repo); err != nil {
		return nil, err
	}
	config := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    \"registry.terraform.io/terraform-kalypso/kalypso\" = %q\n  }\n}\n", filepath.Dir(b.provider))
	if err := os.WriteFile(filepath.Join(dir, "terraform.rc"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	return r, fill(dir, r.repo)
}

func (r *root) remove() { _ = os.RemoveAll(r.dir) }

// apply applies the module, and plan plans it where there is nothing to do.
func (r *root) apply(ctx context.Context) (sample, error) {
	return r.terraform(ctx, "apply", "-auto-approve", "-no-color")
}

func (r *root) plan(ctx context.Context) (sample, error) {
	return r.terraform(ctx, "plan", "-detailed-exitcode", "-no-color")
}

func (r *root) terraform(ctx context.Context, args ...string) (s sample, err error) {
	peak := watchPeak(r.b.provider)
	cmd := exec.CommandContext(ctx, "terraform", args...) //nolint:gosec // the CLI
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(r.dir, "terraform.rc"), "CHECKPOINT_DISABLE=1")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	s.time, s.peak = time.Since(start), peak()
	if cmd.ProcessState != nil {
		s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return s, fmt.Errorf("terraform %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return s, nil
}

// watchPeak looks at the processes of a program until it is asked for the largest peak of their resident memory, in bytes.
func watchPeak(program string) func() int64 {
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
				peak = max(peak, peakOf(program))
			}
		}
	})
	return func() int64 {
		close(quit)
		watching.Wait()
		return peak
	}
}

// peakOf is the largest peak among the processes of a program, in bytes; 0 where there is no /proc.
func peakOf(program string) (peak int64) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if exe, err := os.Readlink(link); err != nil || exe != program {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "status")) //nolint:gosec // in /proc
		for line := range strings.Lines(string(status)) {
			if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
				peak = max(peak, kib<<10)
			}
		}
	}
	return peak
}
