package rollout

import (
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// failed returns the cluster types whose folders the rollout changed and that have failed, sorted, if a failure rolls
// the rollout back. It ignores an observation from before the last commit. After the last wave, the record names the
// promoted commit, so only the promotion can roll it back.
func (w *wave) failed() (names []string) {
	before := w.Progress
	if !w.rollout.ReturnOnFailure && !w.rollout.OnFailureUnknown || before == nil || !before.RestoresOnFailure ||
		before.RolledBack != "" || w.Rollback || before.Complete && w.PromotedCommit != "" ||
		w.TargetTreeHash == "" || w.rollout.Observed == nil || w.observedBefore() {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(before.EarlierHashes)) {
		hash, f := before.EarlierHashes[name], w.Target[name]
		if hash != "" && w.Replaced[name] != hash {
			return nil
		}
		if f.Hash != hash && w.existing[name] == f.Hash && w.stateOf(name) == stateFailed {
			names = append(names, name)
		}
	}
	return names
}

// returnFolders restores the rollout's folders to their trees from before the rollout.
func (w *wave) returnFolders(failed []string) {
	for name, hash := range w.Progress.EarlierHashes {
		f, wanted := w.Target[name]
		switch {
		case w.existing[name] == hash:
		case wanted && f.Hash == hash:
			w.take(name)
		default:
			w.outdated[name] = true
			w.step.Restored = append(w.step.Restored, name)
		}
	}
	facts := make([]string, len(failed))
	for i, name := range failed {
		facts[i] = w.rollout.Observed.Folders[name].Failure(name)
		w.step.Stopped = append(w.step.Stopped, w.describe(name, "  ")...)
	}
	w.step.RolledBack, w.step.Stage = problem.First(facts, maxReasons), w.Progress.Stage
}

// maxReasons limits the failed folders that a record names.
const maxReasons = 5
