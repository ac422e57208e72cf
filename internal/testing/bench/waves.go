package main

import (
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
func (b *bench) waves() {
	for range b.runs {
		b.measureWave()
	}
	b.compare("the wave of one cluster type, of a change that reaches all of `large-100k`", "apply/wave",
		"one config value of one cluster type came, without `rollout`", "apply/wave/without", "")
	b.compare("a plan that waits for it", "plan/wave", "nothing to do, without `rollout`", "plan/wave/without", "")
}

func (b *bench) measureWave() {
	f := load(fleet100k)
	r := b.newRoot(asManifests(f, "none", ""))
	defer r.remove()
	r.apply()
	b.measure("plan/wave/without", r.plan)
	f = changed(f, ofOneClusterType, "added")
	r.write(f)
	b.measure("apply/wave/without", r.apply)

	r.write(changed(f, ofAll, "added"))
	check(os.WriteFile(filepath.Join(r.dir, "folders.txt"), []byte(listFolders(r.repo, "dev")), 0o600))
	rollout := fmt.Sprintf(rolloutArgument, r.repo, time.Now().Add(time.Second).UTC().Format(time.RFC3339))
	r.configure(manifestsRoot, r.repo, "none", rollout)
	b.measure("apply/wave", r.apply)
	b.measure("plan/wave", r.plan)
	checkCommits(r.repo, "dev", 3)
}
