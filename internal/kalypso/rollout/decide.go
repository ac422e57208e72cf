package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// Folder is the folder of a cluster type, as the fleet renders to it.
type Folder struct {
	Hash        string
	Assignments int
	Unknown     bool              // Hash is not known yet
	Labels      map[string]string // of the cluster type
}

// Situation is all that a wave follows from. Hashes are those of folders, by cluster type; one that is absent has no
// folder.
type Situation struct {
	Target         map[string]Folder
	TargetTreeHash string // of the whole; "": not known yet
	PromotedCommit string // of the target; "": none
	// Delivered is what the last apply left on the branch, and Seen what the branch was last seen to hold of that.
	Delivered, Seen map[string]string
	Before          *State // of the last commit; nil: no rollout was begun
}

// Step is what an apply does of a rollout.
type Step struct {
	// Stay are the cluster types whose folders stay as they were delivered, sorted: their wave did not come yet. All
	// others are as the fleet renders to them.
	Stay []string
	// Taken are the cluster types whose folders the apply changes, sorted.
	Taken []string
	// Uncertain says that Stay depends on what is not known yet.
	Uncertain bool
	// After is the state after the apply; nil: no rollout was begun.
	After *State
	// Waiting tells what is awaited, a line each, where the apply changes no folder and the target is not reached; Stage
	// is whose.
	Waiting []string
	// Stopped tells what stopped the rollout, a line each.
	Stopped []string
	Stage   string
}

// Complete reports whether the branch holds the target after the apply.
func (s *Step) Complete() bool { return len(s.Stay) == 0 && !s.Uncertain }

// Next decides which folders the next apply takes from the fleet. It is a pure function: time is when clusters were
// observed.
func (r *Rollout) Next(s Situation) *Step {
	w := &wave{Rollout: r, Situation: s, step: &Step{}, held: map[string]string{}, wrong: map[string]bool{}}
	w.compare()
	switch {
	case len(w.wrong) == 0 && !w.unknown:
	case r.SkipUnknown, r.StagesUnknown, r.ObservedUnknown, r.Skip != "" && s.TargetTreeHash == "":
		w.step.Uncertain = true
	case r.Skip != "" && r.Skip == s.TargetTreeHash:
		w.takeAll()
	default:
		w.goBack()
		w.goOn()
	}
	return w.finish()
}

// wave is a step that is being decided.
type wave struct {
	*Rollout
	Situation
	step    *Step
	held    map[string]string // what the branch holds before the apply
	wrong   map[string]bool   // the cluster types whose folder differs from the target, and stays so
	unknown bool              // of some cluster types this is not known yet
	stage   string            // of the last cluster type that was taken; "": it went without its stage
}

// compare finds what the branch holds and how that differs from the target. What others changed goes back to what was
// delivered, unless it is what the fleet renders to.
func (w *wave) compare() {
	for name := range w.Seen {
		if f, wanted := w.Target[name]; wanted && !f.Unknown && f.Hash == w.Seen[name] {
			w.held[name] = f.Hash
		}
	}
	for name, hash := range w.Delivered {
		_, done := w.held[name]
		_, wanted := w.Target[name]
		_, there := w.Seen[name]
		if !done && (wanted || there) { // a removed folder that others removed too is as desired
			w.held[name] = hash
		}
	}
	for name, f := range w.Target {
		w.unknown = w.unknown || f.Unknown
		if !f.Unknown && w.held[name] != f.Hash {
			w.wrong[name] = true
		}
	}
	for name := range w.held {
		if _, wanted := w.Target[name]; !wanted {
			w.wrong[name] = true
		}
	}
}

func (w *wave) take(name string) {
	delete(w.wrong, name)
	w.step.Taken = append(w.step.Taken, name)
}

func (w *wave) takeAll() {
	for name := range w.wrong {
		w.take(name)
	}
	w.unknown = false
}

// from returns the folder before the rollout that is under way, and whether the rollout has written another one since.
func (w *wave) from(name string) (hash string, written bool) {
	if !w.Before.UnderWay() {
		return "", false
	}
	hash, written = w.Before.From[name]
	return hash, written
}

// goBack takes what returns to its tree from before the rollout: no stage holds up a rollback.
func (w *wave) goBack() {
	for name := range w.Target {
		if _, written := w.from(name); written && w.Target[name].Unknown {
			w.step.Uncertain = true
		}
	}
	for name := range w.wrong {
		if hash, written := w.from(name); written && hash == w.Target[name].Hash {
			w.take(name)
		}
	}
}

// goOn takes what the first stage that is not done has room for. A stage that needs no report of a cluster is done at
// once.
func (w *wave) goOn() {
	members, known := w.members()
	if !known {
		w.step.Uncertain = true
		return
	}
	for i, names := range members {
		if len(names) == 0 {
			continue
		}
		w.step.Stage = w.Stages[i].Name
		if !w.pass(&w.Stages[i], names) || w.step.Uncertain {
			return
		}
	}
	w.step.Stage = removalStage
	for name := range w.wrong {
		w.take(name)
		w.stage = removalStage
	}
}

// members returns the cluster types of each stage, sorted.
func (w *wave) members() (members [][]string, known bool) {
	members = make([][]string, len(w.Stages))
	for _, name := range slices.Sorted(maps.Keys(w.Target)) {
		i, ok, known := w.stageOf(w.Target[name].Labels)
		if !known {
			return nil, false
		}
		if ok {
			members[i] = append(members[i], name)
		}
	}
	return members, true
}

// pass takes cluster types of a stage, and reports whether the stage is done.
func (w *wave) pass(stage *Stage, names []string) bool {
	var wrong, unsettled []string
	latest, sinceUnknown := time.Time{}, []string(nil)
	for _, name := range names {
		f := w.Target[name]
		switch state := w.stateOf(name); {
		case f.Unknown:
			w.step.Uncertain = true
		case w.wrong[name]:
			wrong = append(wrong, name)
		case state == stateSettledAtOnce:
		case state == stateFailed:
			w.step.Stopped = append(w.step.Stopped, w.failure(name)...)
		case state == stateWaiting:
			unsettled = append(unsettled, name)
		case w.Observed.Folders[name].Since.IsZero():
			sinceUnknown = append(sinceUnknown, name)
		case w.Observed.Folders[name].Since.After(latest):
			latest = w.Observed.Folders[name].Since
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
		case w.needsNoReport(name):
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

// soaked reports whether the soak of a settled stage is over.
func (w *wave) soaked(stage *Stage, latest time.Time, sinceUnknown []string) bool {
	switch {
	case stage.Soak == 0:
		return true
	case len(sinceUnknown) > 0:
		w.step.Waiting = append(w.step.Waiting, fmt.Sprintf(
			"the soak of %s: reports don't say since when these run the change: %s",
			clock.Format(stage.Soak), strings.Join(sinceUnknown, ", ")))
		return false
	case latest.IsZero(): // no cluster is needed for anything
		return true
	}
	over := latest.Add(stage.Soak)
	if w.Observed.At.Before(over) {
		w.step.Waiting = append(w.step.Waiting, fmt.Sprintf(
			"the soak of %s, which ends at %s: the last clusters run the change since %s",
			clock.Format(stage.Soak), stamp(over), stamp(latest)))
		return false
	}
	return true
}

// clusterTypeState is how far a cluster type with the target's folder is.
type clusterTypeState int

const (
	stateWaiting clusterTypeState = iota
	stateSettledAtOnce
	stateSettled
	stateFailed
)

// stateOf judges a cluster type whose folder is the target's.
func (w *wave) stateOf(name string) clusterTypeState {
	if w.needsNoReport(name) {
		return stateSettledAtOnce
	}
	o, taken := w.Observed, slices.Contains(w.step.Taken, name)
	if o == nil || taken || o.Folders[name].Tree != w.Target[name].Hash {
		return stateWaiting
	}
	switch verdict := o.Folders[name].Verdict; {
	// an observation from before the last commit may stop a rollout, and never lets it go on
	case verdict == deployment.Failure:
		return stateFailed
	case verdict == deployment.Success && !w.outdated():
		return stateSettled
	}
	return stateWaiting
}

// needsNoReport reports whether a cluster type settles with the commit: nothing is on it, or no cluster has to follow
// it.
func (w *wave) needsNoReport(name string) bool {
	f, known := w.Target[name]
	if known && !f.Unknown && f.Assignments == 0 {
		return true
	}
	if w.Observed == nil {
		return false
	}
	o, reported := w.Observed.Folders[name]
	return reported && o.Total == 0 && o.Verdict == deployment.Success
}

// outdated reports whether the observation is older than the last commit: then it says nothing.
func (w *wave) outdated() bool {
	return w.Before != nil && w.Observed.At.Before(w.Before.At.Truncate(time.Second))
}

// finish returns the step.
func (w *wave) finish() *Step {
	slices.Sort(w.step.Taken)
	for name, f := range w.Target {
		if f.Unknown { // no stage up to its own is done, else the step is uncertain
			w.wrong[name] = true
		}
	}
	w.step.Stay = slices.Sorted(maps.Keys(w.wrong))
	if w.step.Uncertain {
		w.step.Taken, w.step.Stay, w.step.Waiting, w.step.Stopped = nil, nil, nil, nil
		return w.step
	}
	if len(w.step.Stay) == 0 {
		w.step.Stopped = nil
	}
	if len(w.step.Stay) == 0 || len(w.step.Taken) > 0 || len(w.step.Stopped) > 0 {
		w.step.Waiting = nil
	}
	w.step.After = w.after()
	return w.step
}

// after returns the state of the rollout after the apply. One that only waits has the state of before.
func (w *wave) after() *State {
	before, complete := w.Before, len(w.step.Stay) == 0
	underWay := before.UnderWay()
	if len(w.step.Taken) == 0 && (!underWay || !complete) && (complete || !w.interrupted()) {
		return before
	}
	now := &State{Progress: Progress{
		TargetTreeHash: w.TargetTreeHash, PromotedCommit: w.PromotedCommit, Stage: w.stage, Complete: complete,
	}}
	if before != nil {
		now.At = before.At
	}
	same := underWay && before.TargetTreeHash == w.TargetTreeHash
	switch {
	case before == nil && len(w.step.Taken) == 0:
		now.Stage = w.step.Stage
	case len(w.step.Taken) == 0, w.stage == "" && !complete: // what went back is of no stage
		now.Stage, now.Wave = before.Stage, before.Wave
	case w.stage == "":
	case same && before.Stage == w.stage && before.Wave == 0: // after an import
	case same && before.Stage == w.stage:
		now.Wave = before.Wave + 1
	default:
		now.Wave = 1
	}
	if !complete {
		now.From = w.fromAfter()
	}
	return now
}

// interrupted reports whether the branch holds folders of the target that no apply has told of: it was killed after its
// push.
func (w *wave) interrupted() bool {
	for name, hash := range w.held {
		if w.Delivered[name] != hash {
			return true
		}
	}
	return false
}

// fromAfter returns the folders from before the rollout of all that it has written, also by an apply that was killed
// after it.
func (w *wave) fromAfter() map[string]string {
	from := map[string]string{}
	if w.Before.UnderWay() {
		maps.Copy(from, w.Before.From)
	}
	for name, hash := range w.held {
		if _, written := from[name]; !written && w.Delivered[name] != hash {
			from[name] = w.Delivered[name]
		}
	}
	for _, name := range w.step.Taken {
		if _, written := from[name]; !written {
			from[name] = w.held[name]
		}
	}
	maps.DeleteFunc(from, func(name, hash string) bool { return !w.wrong[name] && hash == w.Target[name].Hash })
	return from
}
