package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// RenderedFolder is the folder of a cluster type as the fleet renders it.
type RenderedFolder struct {
	Hash        string
	Assignments int
	Unknown     bool              // Hash is not known yet
	Labels      map[string]string // of the cluster type
}

// Situation contains everything that the next wave depends on. Maps have the cluster type as key, and mostly the hash
// of its folder as value. A cluster type without a folder is absent.
type Situation struct {
	Target         map[string]RenderedFolder
	TargetTreeHash string // of the whole; "": not known yet
	PromotedCommit string // of the target; "": none
	// Rollback says that the target is an earlier delivery, which all folders get at once.
	Rollback bool
	// Delivered are the folders that the last apply left on the branch. OnBranch are our folders that the branch
	// contained when it was last read.
	Delivered, OnBranch map[string]string
	// Replaced are the folders from before the rollout that a rollback can restore.
	Replaced map[string]string
	Progress *StoredProgress // of the last commit; nil: no rollout was begun
}

// Step is the part of a rollout that one apply does.
type Step struct {
	// Kept lists the cluster types that wait for a later wave, sorted. Their folders stay as delivered. The apply
	// writes all others as the fleet renders them.
	Kept []string
	// Written lists the cluster types whose folders the apply changes, sorted.
	Written []string
	// Restored lists the cluster types of Kept whose folders are rolled back to their trees from before the rollout,
	// sorted. See RolledBack.
	Restored []string
	// Uncertain says that Kept depends on values that are not known yet.
	Uncertain bool
	// Progress is the progress after the apply; nil: no rollout was begun.
	Progress *StoredProgress
	// Waiting lists what the rollout waits for, one line each, if the apply changes no folder and the target is not
	// reached. Stage is the waiting stage.
	Waiting []string
	// Stopped lists what stopped the rollout, one line each.
	Stopped []string
	Stage   string
	// Paused is the reason why the next wave does not follow; "": no wave is due, or the rollout is not paused.
	Paused string
	// RolledBack says why this or an earlier apply rolled back the target, so that it is not retried. It is empty
	// without a rollback.
	RolledBack string
	// OpenUntil is when the windows close, if the apply writes a wave in them. It is zero if the apply writes no wave,
	// or the windows stay open for years.
	OpenUntil time.Time
}

// Complete reports whether the branch contains the target after the apply.
func (s *Step) Complete() bool { return len(s.Kept) == 0 && !s.Uncertain }

// Next decides which folders the next apply takes from the fleet. It is a pure function: it takes the time from the
// observation.
func (r *Rollout) Next(s Situation) *Step {
	w := &wave{
		Situation: s, rollout: r, step: &Step{}, existing: map[string]string{}, outdated: map[string]bool{},
	}
	w.compare()
	failed := w.failed()
	switch {
	case len(failed) > 0 && (r.SkipUnknown || r.OnFailureUnknown):
		w.step.Uncertain = true
	case len(failed) > 0 && (r.Skip == "" || r.Skip != s.TargetTreeHash):
		w.returnFolders(failed)
	case len(w.outdated) == 0 && !w.unknown:
	case s.Rollback && !w.unknown:
		w.takeAll()
	case s.Rollback, r.PauseUnknown:
		w.step.Uncertain = true
	case r.Paused() != "":
		w.rollBack()
		w.step.Paused = r.Paused()
	case r.SkipUnknown, r.StagesUnknown, r.ObservedUnknown, r.OnFailureUnknown, r.Skip != "" && s.TargetTreeHash == "":
		w.step.Uncertain = true
	case r.Skip != "" && r.Skip == s.TargetTreeHash:
		w.takeAll()
		w.step.OpenUntil = r.Window.OpenUntil
	case s.Progress != nil && s.Progress.RolledBack != "" && s.Progress.TargetTreeHash == s.TargetTreeHash:
		w.step.RolledBack, w.step.Stage = s.Progress.RolledBack, s.Progress.Stage
	default:
		w.rollBack()
		back := len(w.step.Written)
		w.advance()
		if len(w.step.Written) > back {
			w.step.OpenUntil = r.Window.OpenUntil
		}
	}
	return w.finish()
}

// wave is a step in progress.
type wave struct {
	Situation
	rollout  *Rollout
	step     *Step
	existing map[string]string // the folders on the branch before the apply
	outdated map[string]bool   // the cluster types whose folder still differs from the target
	unknown  bool              // for some cluster types, this is not known yet
	stage    string            // of the last taken cluster type; "": unknown
}

// compare finds the folders on the branch, and the cluster types whose folder differs from the target. A folder that
// was changed outside Terraform counts as delivered, since the apply restores it, unless the change made it equal to
// the target.
func (w *wave) compare() {
	for name := range w.OnBranch {
		if f, wanted := w.Target[name]; wanted && !f.Unknown && f.Hash == w.OnBranch[name] {
			w.existing[name] = f.Hash
		}
	}
	for name, hash := range w.Delivered {
		_, done := w.existing[name]
		_, wanted := w.Target[name]
		_, there := w.OnBranch[name]
		if !done && (wanted || there) { // people removed a folder that the fleet removes too
			w.existing[name] = hash
		}
	}
	for name, f := range w.Target {
		w.unknown = w.unknown || f.Unknown
		if !f.Unknown && w.existing[name] != f.Hash {
			w.outdated[name] = true
		}
	}
	for name := range w.existing {
		if _, wanted := w.Target[name]; !wanted {
			w.outdated[name] = true
		}
	}
}

func (w *wave) take(name string) {
	delete(w.outdated, name)
	w.step.Written = append(w.step.Written, name)
}

func (w *wave) takeAll() {
	for name := range w.outdated {
		w.take(name)
	}
	w.unknown = false
}

// from returns the hash of a folder from before the current rollout, and whether the rollout has written that folder.
func (w *wave) from(name string) (hash string, written bool) {
	if !w.Progress.UnderWay() {
		return "", false
	}
	hash, written = w.Progress.EarlierHashes[name]
	return hash, written
}

// rollBack takes the folders whose target is their tree from before the rollout: no stage delays a rollback.
func (w *wave) rollBack() {
	for name := range w.Target {
		if _, written := w.from(name); written && w.Target[name].Unknown {
			w.step.Uncertain = true
		}
	}
	for name := range w.outdated {
		if hash, written := w.from(name); written && hash == w.Target[name].Hash {
			w.take(name)
		}
	}
}

// advance takes cluster types of the first unfinished stage, up to max_concurrency. A stage that needs no report from
// clusters finishes at once.
func (w *wave) advance() {
	members, known := w.members()
	if !known {
		w.step.Uncertain = true
		return
	}
	for i, names := range members {
		if len(names) == 0 {
			continue
		}
		w.step.Stage = w.rollout.Stages[i].Name
		if !w.pass(&w.rollout.Stages[i], names) || w.step.Uncertain {
			return
		}
	}
	w.step.Stage = removalStage
	for name := range w.outdated {
		w.take(name)
		w.stage = removalStage
	}
}

// members returns the cluster types of each stage, sorted.
func (w *wave) members() (members [][]string, known bool) {
	members = make([][]string, len(w.rollout.Stages))
	for _, name := range slices.Sorted(maps.Keys(w.Target)) {
		i, ok, known := w.rollout.stageOf(w.Target[name].Labels)
		if !known {
			return nil, false
		}
		if ok {
			members[i] = append(members[i], name)
		}
	}
	return members, true
}

// pass takes cluster types of a stage, and reports whether the stage is finished.
func (w *wave) pass(stage *Stage, names []string) bool {
	var wrong, unsettled []string
	latest, sinceUnknown := time.Time{}, []string(nil)
	for _, name := range names {
		f := w.Target[name]
		switch state := w.stateOf(name); {
		case f.Unknown:
			w.step.Uncertain = true
		case w.outdated[name]:
			wrong = append(wrong, name)
		case state == stateSettledAtOnce:
		case state == stateFailed:
			w.step.Stopped = append(w.step.Stopped, w.describe(name, "  ")...)
		case state == stateWaiting:
			unsettled = append(unsettled, name)
		case w.rollout.Observed.Folders[name].Total == 0: // no cluster runs it, so there is nothing to soak
		case w.rollout.Observed.Folders[name].Since.IsZero():
			sinceUnknown = append(sinceUnknown, name)
		case w.rollout.Observed.Folders[name].Since.After(latest):
			latest = w.rollout.Observed.Folders[name].Since
		}
	}
	if w.step.Uncertain || len(w.step.Stopped) > 0 {
		return false
	}
	room := len(names)
	if stage.MaxConcurrency != nil {
		room = stage.MaxConcurrency.RoundUp(len(names))
	}
	room -= len(unsettled)
	rest := 0
	for _, name := range wrong {
		switch {
		case w.needNone(name):
		case room > 0:
			room--
			rest++ // it settles after the apply
		default:
			rest++
			continue
		}
		w.take(name)
		w.stage = stage.Name
	}
	for _, name := range unsettled {
		w.step.Waiting = append(w.step.Waiting, w.awaited(name))
	}
	if rest+len(unsettled) > 0 {
		return false
	}
	return w.soaked(stage, latest, sinceUnknown)
}

// soaked reports whether the soak of a settled stage has ended.
func (w *wave) soaked(stage *Stage, latest time.Time, sinceUnknown []string) bool {
	switch {
	case stage.Soak == 0:
		return true
	case len(sinceUnknown) > 0:
		w.step.Waiting = append(w.step.Waiting, fmt.Sprintf(
			"the soak of %s: no report says when these started to run the change: %s",
			clock.Format(stage.Soak), strings.Join(sinceUnknown, ", ")))
		return false
	case latest.IsZero(): // no report of a cluster is needed
		return true
	}
	run := deployment.Run{Start: latest, Last: w.rollout.Observed.At}
	if !run.Covers(stage.Soak) {
		w.step.Waiting = append(w.step.Waiting, fmt.Sprintf(
			"the soak of %s, which ends at %s: the last clusters have run the change since %s",
			clock.Format(stage.Soak), clock.Stamp(run.End(stage.Soak)), clock.Stamp(latest)))
		return false
	}
	return true
}

// finish returns the step.
func (w *wave) finish() *Step {
	slices.Sort(w.step.Written)
	for name, f := range w.Target {
		if f.Unknown { // otherwise the step is uncertain: no stage up to its own is finished
			w.outdated[name] = true
		}
	}
	w.step.Kept = slices.Sorted(maps.Keys(w.outdated))
	if w.step.Uncertain {
		w.step = &Step{Uncertain: true, Stage: w.step.Stage}
		return w.step
	}
	if len(w.step.Kept) == 0 {
		w.step.Stopped, w.step.Paused = nil, ""
	}
	if len(w.step.Kept) == 0 || len(w.step.Written) > 0 || len(w.step.Stopped) > 0 {
		w.step.Waiting = nil
	}
	slices.Sort(w.step.Restored)
	w.step.Progress = w.after()
	return w.step
}

// after returns the state of the rollout after the apply. If the apply only waits, the state does not change.
func (w *wave) after() *StoredProgress {
	before, complete := w.Progress, len(w.step.Kept) == 0
	if len(w.step.Restored) > 0 {
		return &StoredProgress{Wave: before.Wave, At: before.At, Progress: Progress{
			TargetTreeHash: w.TargetTreeHash, PromotedCommit: w.PromotedCommit, Stage: before.Stage,
			RestoresOnFailure: true, RolledBack: w.step.RolledBack,
		}}
	}
	underWay := before.UnderWay()
	if len(w.step.Written) == 0 && (!underWay || !complete) && (complete || !w.interrupted()) {
		return before
	}
	now := &StoredProgress{Progress: Progress{
		TargetTreeHash: w.TargetTreeHash, PromotedCommit: w.PromotedCommit, Stage: w.stage, Complete: complete,
	}}
	if before != nil {
		now.At = before.At
	}
	same := underWay && before.TargetTreeHash == w.TargetTreeHash
	switch {
	case before == nil && len(w.step.Written) == 0:
		now.Stage = w.step.Stage
	case len(w.step.Written) == 0, w.stage == "" && !complete: // a rollback belongs to no stage
		now.Stage, now.Wave = before.Stage, before.Wave
	case w.stage == "":
	case same && before.Stage == w.stage && before.Wave == 0: // after an import
	case same && before.Stage == w.stage:
		now.Wave = before.Wave + 1
	default:
		now.Wave = 1
	}
	now.RestoresOnFailure = w.rollout.ReturnOnFailure
	if !complete {
		now.Interrupted = w.interruptedAfter()
	}
	if !complete || now.RestoresOnFailure {
		now.EarlierHashes = w.fromAfter()
	}
	return now
}

// interruptedAfter returns the promoted commits of earlier, incomplete rollouts that folders may still contain.
func (w *wave) interruptedAfter() []string {
	if !w.Progress.UnderWay() {
		return nil
	}
	var all []string
	for _, commit := range append(slices.Clone(w.Progress.Interrupted), w.Progress.PromotedCommit) {
		if commit != "" && commit != w.PromotedCommit && !slices.Contains(all, commit) {
			all = append(all, commit)
		}
	}
	return all
}

// interrupted reports whether the branch contains folders of the target that the state does not know, because an apply
// was killed after its push.
func (w *wave) interrupted() bool {
	for name, hash := range w.existing {
		if w.Delivered[name] != hash {
			return true
		}
	}
	return false
}

// fromAfter returns, for each folder that the rollout has written, its hash from before the rollout. It includes
// folders that an apply wrote before it was killed.
func (w *wave) fromAfter() map[string]string {
	from := map[string]string{}
	if w.Progress.UnderWay() {
		maps.Copy(from, w.Progress.EarlierHashes)
	}
	for name, hash := range w.existing {
		if _, written := from[name]; !written && w.Delivered[name] != hash {
			from[name] = w.Delivered[name]
		}
	}
	for _, name := range w.step.Written {
		if _, written := from[name]; !written {
			from[name] = w.existing[name]
		}
	}
	maps.DeleteFunc(from, func(name, hash string) bool { return !w.outdated[name] && hash == w.Target[name].Hash })
	return from
}
