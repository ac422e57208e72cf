package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// rolloutArgument makes each wave commit the folder of one cluster type. It observes that all clusters run the tree of
// before the change.
const rolloutArgument = `  rollout = {
    stages   = [{ name = "all", cluster_type_selector = { match_all = true }, max_concurrency = "1" }]
    observed = {
      gitops_repo = { repo = "file://%s", branch = "dev" }
      observed_at = %q
      folders = { for line in split("\n", trimspace(file("folders.txt"))) :
        split("\t", line)[1] => { tree_hash = substr(line, 12, 40), verdict = "success", total = 1, current = 1 }
      }
      problems = []
    }
  }
`

// waves measures a change in waves of all folders of large-100k: the apply of a wave that changes one cluster type, and
// a plan that waits for this wave. It compares them with the same fleet without a rollout: with an apply that changes
// one cluster type, and with a plan without changes.
func (b *bench) waves(ctx context.Context) error {
	for range b.runs {
		if err := b.measureWave(ctx); err != nil {
			return err
		}
	}
	compare := func(what, name, with, against string) {
		m, other := b.median(name), b.median(with)
		b.add(row{what, m, against + ": " + seconds(other.time), ratio(m, other), ""})
	}
	compare("the wave of one cluster type, of a change that reaches all of `large-100k`", "apply/wave",
		"apply/wave/without", "one config value of one cluster type came, without `rollout`")
	compare("a plan that waits for it", "plan/wave", "plan/wave/without", "nothing to do, without `rollout`")
	return nil
}

func (b *bench) measureWave(ctx context.Context) error {
	f, err := load(fleet100k)
	if err != nil {
		return err
	}
	r, err := b.newRoot(ctx, asManifests(f, "none", ""))
	if err != nil {
		return err
	}
	defer r.remove()
	if _, err := r.apply(ctx); err != nil {
		return err
	}
	if err := b.measure("plan/wave/without", func() (sample, error) { return r.plan(ctx) }); err != nil {
		return err
	}
	if f, err = changed(f, ofOneClusterType, "added"); err != nil {
		return err
	}
	if err := r.write(f); err != nil {
		return err
	}
	if err := b.measure("apply/wave/without", func() (sample, error) { return r.apply(ctx) }); err != nil {
		return err
	}

	if f, err = changed(f, ofAll, "added"); err != nil {
		return err
	}
	if err := r.write(f); err != nil {
		return err
	}
	folders, err := listFolders(ctx, r.repo, "dev")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, "folders.txt"), []byte(folders), 0o600); err != nil {
		return err
	}
	rollout := fmt.Sprintf(rolloutArgument, r.repo, time.Now().Add(time.Second).UTC().Format(time.RFC3339))
	if err := r.configure(manifestsRoot, r.repo, "none", rollout); err != nil {
		return err
	}
	if err := b.measure("apply/wave", func() (sample, error) { return r.apply(ctx) }); err != nil {
		return err
	}
	if err := b.measure("plan/wave", func() (sample, error) { return r.plan(ctx) }); err != nil {
		return err
	}
	return checkCommits(ctx, r.repo, "dev", 3)
}
