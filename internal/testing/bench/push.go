package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// pushing measures the first delivery to an empty bare repo and the one after a change of a config value, against git.
func (b *bench) pushing(ctx context.Context) error {
	for _, name := range []string{"large-10k", "large-100k"} {
		f, err := b.load(name)
		if err != nil {
			return err
		}
		t, _, err := build(ctx, f)
		if err != nil {
			return err
		}
		baseline, err := b.median(func() (time.Duration, error) { return b.fastImport(ctx, t) })
		if err != nil {
			return err
		}
		var first, reaching, narrow []time.Duration
		for range b.runs {
			times, err := b.deliveries(ctx, f, t)
			if err != nil {
				return err
			}
			first, narrow, reaching = append(first, times[0]), append(narrow, times[1]), append(reaching, times[2])
		}
		firstTime := medianOf(first)
		b.add(row{"`" + name + "` written and pushed to an empty bare repo", seconds(firstTime), "`git fast-import` + `git push`: " + seconds(baseline), ratio(firstTime, baseline), "1.5"})
		b.add(row{"a value of one config that reaches one workload or cluster type changed, then the same", seconds(medianOf(narrow)), "the first: " + seconds(firstTime), ratio(medianOf(narrow), firstTime), "0.1"})
		b.add(row{"a value of a config that reaches all changed, then the same", seconds(medianOf(reaching)), "the first: " + seconds(firstTime), ratio(medianOf(reaching), firstTime), ""})
	}
	return nil
}

func medianOf(times []time.Duration) time.Duration {
	b := bench{runs: len(times)}
	i := -1
	d, _ := b.median(func() (time.Duration, error) { i++; return times[i], nil })
	return d
}

// fastImport writes the files of a tree with git fast-import into a repo and pushes them to an empty bare one.
func (b *bench) fastImport(ctx context.Context, t *tree.Tree) (time.Duration, error) {
	dir, err := os.MkdirTemp(b.scratch, "git-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var stream bytes.Buffer
	fmt.Fprint(&stream, "commit refs/heads/main\ncommitter bench <bench@localhost> 0 +0000\ndata 1\nx\n")
	for i, folder := range t.Folders {
		for f := range t.Files(i) {
			fmt.Fprintf(&stream, "M 100644 inline %s/%s\ndata %d\n%s\n", folder.ClusterType, f.Path, len(f.Content), f.Content)
		}
	}
	work, bare := filepath.Join(dir, "work"), filepath.Join(dir, "bare.git")
	if err := git(ctx, nil, "init", "-q", "--bare", work); err != nil {
		return 0, err
	}
	if err := git(ctx, nil, "init", "-q", "--bare", bare); err != nil {
		return 0, err
	}
	return timed(func() error {
		if err := git(ctx, &stream, "-C", work, "fast-import", "--quiet"); err != nil {
			return err
		}
		return git(ctx, nil, "-C", work, "push", "-q", "file://"+bare, "main")
	})
}

func git(ctx context.Context, stdin io.Reader, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stdin = stdin
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// deliveries are the times of a first delivery, of one after a narrow change, and of one after a change that reaches all.
func (b *bench) deliveries(ctx context.Context, f *fleet.Fleet, t *tree.Tree) ([]time.Duration, error) {
	bare, err := os.MkdirTemp(b.scratch, "gitops-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bare)
	if err := git(ctx, nil, "init", "-q", "--bare", bare); err != nil {
		return nil, err
	}
	client, err := gitremote.NewClient(nil)
	if err != nil {
		return nil, err
	}
	order := delivery.Order{
		Place:        delivery.Place{Repo: "file://" + bare, Branch: "main", Path: "."},
		Environment:  f.Environment,
		Tree:         t,
		CreateBranch: true,
		Guardrails:   delivery.Guardrails{MaxRemoved: delivery.DefaultLimit},
		Author:       gitops.Signature{Name: "bench", Email: "bench@localhost", When: time.Unix(0, 0)},
	}
	var times []time.Duration
	for _, change := range []func(*fleet.Config) bool{nil, isNarrow, reachesAll} {
		if change != nil {
			if order.Tree, _, err = build(ctx, changed(f, change)); err != nil {
				return nil, err
			}
		}
		d, err := timed(func() error {
			receipt, err := delivery.Deliver(ctx, client, &order, nil)
			if err == nil && !receipt.Pushed {
				err = fmt.Errorf("nothing was pushed")
			}
			if err == nil {
				order.Before = receipt.State
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		times = append(times, d)
	}
	return times, nil
}

func isNarrow(c *fleet.Config) bool {
	return c.Labels[fleet.WorkloadLabel] != "" || c.Labels[fleet.ClusterTypeLabel] != ""
}

func reachesAll(c *fleet.Config) bool { return len(c.Labels) == 1 && c.IsPlatformConfig() }

// changed is the fleet with a new value in the first config that which names.
func changed(f *fleet.Fleet, which func(*fleet.Config) bool) *fleet.Fleet {
	f.Sort()
	other := *f
	other.Configs = append([]*fleet.Config{}, f.Configs...)
	for i, c := range other.Configs {
		if which(c) {
			edited := *c
			edited.Data = map[string]string{"BENCH": "changed"}
			for k, v := range c.Data {
				edited.Data[k] = v
			}
			other.Configs[i] = &edited
			break
		}
	}
	return &other
}
