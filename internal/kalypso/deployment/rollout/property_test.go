package rollout_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// simulation is a fleet with its branch and its clusters, which random edits, applies and reports change.
type simulation struct {
	*testing.T
	seed     uint64
	random   *rand.Rand
	rollout  rollout.Rollout
	clock    time.Time
	target   map[string]rollout.RenderedFolder
	clusters map[string]deployment.FolderState
	observed []*deployment.Observation // all observations, since a late one may be passed again
	version  int
	rollback bool // the target is an earlier delivery
	held     bool // the environment is frozen, so no apply writes
	// unpromoted says that the fleet has no promoted commit. returns counts the rollouts that restored their folders.
	unpromoted bool
	returns    int
	branchState
	past []branchState // the branch before each commit, the oldest first
}

// branchState is a branch with its history, as the last apply left it.
type branchState struct {
	branch   map[string]string
	before   *rollout.StoredProgress
	original map[string]string // the branch at the beginning of the rollout
	refused  string            // the target that failed, if the original was restored
	good     []delivery        // the complete deliveries, oldest first
	wrote    map[string]string // the promoted commit that each folder comes from
	wroteAt  map[string]string // wrote at the beginning of the rollout
}

func (b branchState) clone() branchState {
	b.branch, b.original, b.wrote = maps.Clone(b.branch), maps.Clone(b.original), maps.Clone(b.wrote)
	b.good = slices.Clone(b.good)
	return b
}

// delivery is a complete delivery of a target.
type delivery struct {
	commit string
	target map[string]rollout.RenderedFolder
}

var rings = []string{"0", "1", "2"}

func newSimulation(t *testing.T, seed uint64) *simulation {
	s := &simulation{
		T: t, seed: seed, random: rand.New(rand.NewPCG(seed, 18)), clock: time.Unix(1_800_000_000, 0),
		target: map[string]rollout.RenderedFolder{}, clusters: map[string]deployment.FolderState{},
		branchState: branchState{branch: map[string]string{}, wrote: map[string]string{}},
	}
	s.rollout.ReturnOnFailure, s.unpromoted = s.random.IntN(2) == 0, s.random.IntN(2) == 0
	for _, ring := range rings[:1+s.random.IntN(len(rings))] {
		stage := rollout.Stage{Name: "ring " + ring, Soak: time.Duration(s.random.IntN(3)) * time.Minute}
		stage.Selector.MatchLabels = map[string]string{"ring": ring}
		if s.random.IntN(2) == 0 {
			stage.MaxConcurrency = &limit.Limit{Number: 1 + s.random.IntN(60), Percentage: s.random.IntN(2) == 0}
		}
		s.rollout.Stages = append(s.rollout.Stages, stage)
	}
	s.rollout.Stages[len(s.rollout.Stages)-1].Selector = fleet.Selector{}
	for range 1 + s.random.IntN(8) {
		s.add()
	}
	return s
}

// add adds a cluster type with a random name, or changes the cluster type that has this name.
func (s *simulation) add() {
	s.version++
	name := fmt.Sprintf("type-%d", s.random.IntN(10))
	was, there := s.target[name]
	f := rollout.RenderedFolder{
		Hash: fmt.Sprint("tree ", s.random.IntN(4)), Assignments: s.random.IntN(5), // so few trees that one may appear again
		Labels: map[string]string{"ring": rings[s.random.IntN(len(rings))]},
	}
	if there {
		f.Labels = was.Labels
	}
	if f.Assignments == 0 {
		f.Hash = "empty"
	}
	s.target[name] = f
}

func (s *simulation) edit() {
	switch names := slices.Sorted(maps.Keys(s.target)); {
	case len(names) > 0 && s.random.IntN(4) == 0:
		delete(s.target, names[s.random.IntN(len(names))])
	default:
		s.add()
	}
}

// report lets clusters sync the branch, some sooner than others. Some of them fail unless healthy is set.
func (s *simulation) report(healthy bool) {
	for _, name := range slices.Sorted(maps.Keys(s.branch)) {
		hash := s.branch[name]
		was, known := s.clusters[name]
		switch {
		case known && was.Tree == hash && was.Verdict == deployment.Success && (healthy || s.random.IntN(10) > 0):
			continue
		case healthy || s.random.IntN(2) == 0:
			s.clusters[name] = deployment.FolderState{
				Tree: hash, Counts: deployment.Counts{Total: 2, Current: 2}, Verdict: deployment.Success, Since: s.clock,
			}
		case s.random.IntN(6) == 0:
			s.clusters[name] = deployment.FolderState{
				Tree: hash, Counts: deployment.Counts{Total: 2, Failed: 1, Current: 1}, Verdict: deployment.Failure, Since: s.clock,
			}
		default:
			s.clusters[name] = deployment.FolderState{
				Tree: hash, Counts: deployment.Counts{Total: 2, Progressing: 2}, Verdict: deployment.Pending,
			}
		}
	}
	s.observed = append(s.observed, &deployment.Observation{At: s.clock, Folders: maps.Clone(s.clusters)})
}

// observe passes the last observation to the rollout, or an older one, or none.
func (s *simulation) observe() {
	n := len(s.observed)
	switch {
	case n == 0 || s.random.IntN(10) == 0:
		s.rollout.Observed = nil
	case s.random.IntN(5) == 0:
		s.rollout.Observed = s.observed[s.random.IntN(n)]
	default:
		s.rollout.Observed = s.observed[n-1]
	}
}

func (s *simulation) situation() rollout.Situation {
	return rollout.Situation{
		Target: maps.Clone(s.target), TargetTreeHash: fmt.Sprint(s.hashes()), PromotedCommit: s.commit(),
		Rollback: s.rollback, Delivered: maps.Clone(s.branch), OnBranch: maps.Clone(s.branch), Progress: s.before,
		Replaced: s.original,
	}
}

// commit returns the promoted commit of the target.
func (s *simulation) commit() string {
	switch {
	case s.unpromoted:
		return ""
	case s.rollback:
		return s.good[len(s.good)-1].commit
	}
	return fmt.Sprint("commit ", s.version)
}

// people lets people do one thing: freeze the environment, pause the rollout, continue, or reject the current target.
// Then the last complete delivery is the new target. They may also revert the last commit.
func (s *simulation) people() {
	switch s.random.IntN(20) {
	case 0:
		s.rollout.Pause = "an incident"
	case 1, 2:
		s.rollout.Pause = ""
	case 3:
		if len(s.good) > 0 {
			s.rollback, s.target = true, maps.Clone(s.good[len(s.good)-1].target)
		}
	case 4:
		s.held = true
	case 5, 6:
		s.held = false
	case 7:
		s.revert()
	}
}

// revert reverts the last commit with its record, as people do, and rejects the target of this commit.
func (s *simulation) revert() {
	n := len(s.past) - 1
	if n < 0 || len(s.past[n].good) == 0 {
		return
	}
	s.branchState, s.past = s.past[n], s.past[:n]
	s.clock = s.clock.Add(time.Second)
	if s.before != nil {
		now := *s.before
		now.At = s.clock
		s.before = &now
	}
	s.rollback, s.target = true, maps.Clone(s.good[len(s.good)-1].target)
}

// checkPeople checks that nothing is written during a pause, and that a rollback is complete at once.
func (s *simulation) checkPeople(step *rollout.Step) {
	s.Helper()
	for _, name := range step.Written {
		if s.rollout.Pause != "" && !s.rollback && !s.isReverted(name) {
			s.Fatalf("seed %d: %s is written during a pause", s.seed, name)
		}
	}
	if s.rollback && !step.Complete() {
		s.Fatalf("seed %d: a rollback does not write %v", s.seed, step.Kept)
	}
}

// checkReturn checks that folders were only restored because a folder of the rollout failed, and that the branch is
// then as it was before the rollout.
func (s *simulation) checkReturn(step *rollout.Step) {
	s.Helper()
	s.returns++
	o := s.rollout.Observed
	failed := slices.ContainsFunc(slices.Sorted(maps.Keys(s.target)), func(name string) bool {
		return o != nil && !o.At.Before(s.before.At) && s.branch[name] == s.target[name].Hash &&
			s.branch[name] != s.original[name] && o.Folders[name].Tree == s.branch[name] &&
			o.Folders[name].Verdict == deployment.Failure
	})
	switch {
	case !failed || !s.rollout.ReturnOnFailure || s.rollback:
		s.Fatalf("seed %d: %v are restored, although no folder of the rollout failed", s.seed, step.Restored)
	case s.refused != "":
		s.Fatalf("seed %d: %v are restored twice", s.seed, step.Restored)
	case !s.before.UnderWay() && !s.unpromoted:
		s.Fatalf("seed %d: %v are restored after the commit was promoted", s.seed, step.Restored)
	}
	after := maps.Clone(s.branch)
	for _, name := range append(slices.Clone(step.Restored), step.Written...) {
		after[name] = s.original[name]
		if after[name] == "" {
			delete(after, name)
		}
	}
	if !maps.Equal(after, s.original) {
		s.Fatalf("seed %d: the branch is not the original: %s", s.seed, cmp.Diff(s.original, after))
	}
}

// checkCommits checks that the record names the promoted commit that each folder comes from.
func (s *simulation) checkCommits() {
	s.Helper()
	if s.unpromoted {
		if !s.before.UnderWay() && s.refused == "" {
			s.good = append(s.good, delivery{"", maps.Clone(s.target)})
		}
		return
	}
	if s.before != nil && s.before.RolledBack != "" {
		return
	}
	if !s.before.UnderWay() {
		s.wrote = map[string]string{}
		for name := range s.branch {
			s.wrote[name] = s.commit()
		}
		s.good = append(s.good, delivery{s.commit(), maps.Clone(s.target)})
		return
	}
	named := append(slices.Clone(s.before.Interrupted), s.before.PromotedCommit)
	if n := len(s.good); n > 0 {
		named = append(named, s.good[n-1].commit)
	}
	for name, commit := range s.wrote {
		if !slices.Contains(named, commit) {
			s.Fatalf("seed %d: %s comes from %s, but the record names only %v", s.seed, name, commit, named)
		}
	}
}

func (s *simulation) hashes() map[string]string {
	all := map[string]string{}
	for name, f := range s.target {
		all[name] = f.Hash
	}
	return all
}

// apply runs the next apply of the rollout, and checks what it does.
func (s *simulation) apply() {
	s.Helper()
	if s.held {
		return
	}
	step := s.rollout.Next(s.situation())
	s.checkPeople(step)
	switch {
	case len(step.Restored) > 0:
		s.checkReturn(step)
	case !s.rollback && s.rollout.Skip != s.situation().TargetTreeHash:
		s.check(step)
	}
	if len(step.Written)+len(step.Restored) > 0 {
		s.past = append(s.past, s.clone())
		if !s.before.UnderWay() && len(step.Restored) == 0 {
			s.original, s.wroteAt, s.refused = maps.Clone(s.branch), maps.Clone(s.wrote), ""
		}
		for _, name := range step.Restored {
			s.refused = fmt.Sprint(s.hashes())
			s.branch[name], s.wrote[name] = s.original[name], s.wroteAt[name]
			if s.branch[name] == "" {
				delete(s.branch, name)
				delete(s.wrote, name)
			}
		}
		for _, name := range step.Written {
			if f, wanted := s.target[name]; wanted {
				s.branch[name], s.wrote[name] = f.Hash, s.commit()
			} else {
				delete(s.branch, name)
				delete(s.wrote, name)
			}
		}
		s.clock = s.clock.Add(time.Second)
	}
	if after := step.Progress; after != s.before {
		now := *after
		now.At = s.clock
		s.before = &now
	}
	again := s.rollout.Next(s.situation())
	if len(again.Written)+len(again.Restored) > 0 || again.Complete() != step.Complete() {
		s.Fatalf("seed %d: the plan after an apply writes %v (complete: %t, was %t)",
			s.seed, again.Written, again.Complete(), step.Complete())
	}
	if step.Complete() != maps.Equal(s.branch, s.hashes()) {
		s.Fatalf("seed %d: complete: %t\n%s", s.seed, step.Complete(), cmp.Diff(s.branch, s.hashes()))
	}
	if step.Complete() && s.before.UnderWay() {
		s.Fatal("the rollout is both complete and under way")
	}
	s.checkCommits()
}

// settled says in plain rules whether a cluster type has its target, and its clusters run it. atOnce says that it needs
// no cluster.
func (s *simulation) settled(name string) (settled, atOnce bool) {
	f := s.target[name]
	switch o := s.rollout.Observed; {
	case s.branch[name] != f.Hash:
		return false, false
	case f.Assignments == 0:
		return true, true
	case o == nil, s.before != nil && o.At.Before(s.before.At):
		return false, false
	default:
		return o.Folders[name].Tree == f.Hash && o.Folders[name].Verdict == deployment.Success, false
	}
}

func (s *simulation) stage(name string) int {
	for i, stage := range s.rollout.Stages {
		if ok, err := fleet.SelectorMatches("", &stage.Selector, s.target[name].Labels); err == nil && ok {
			return i
		}
	}
	s.Fatal("no stage")
	return 0
}

// isReverted says in plain rules whether the fleet reverts a folder to its tree from before the rollout.
func (s *simulation) isReverted(name string) bool {
	return s.before.UnderWay() && s.branch[name] != s.original[name] && s.target[name].Hash == s.original[name]
}

// check compares what an apply does with plain rules.
func (s *simulation) check(step *rollout.Step) {
	s.Helper()
	taken := map[string]bool{}
	for _, name := range step.Written {
		taken[name] = true
	}
	for name, hash := range s.branch {
		if s.isReverted(name) && hash != s.target[name].Hash && !taken[name] {
			s.Fatalf("seed %d: %s is reverted by the fleet, but not written", s.seed, name)
		}
	}
	if s.refused != "" && s.refused == fmt.Sprint(s.hashes()) && len(step.Written) > 0 {
		s.Fatalf("seed %d: the failed target is tried again: %v", s.seed, step.Written)
	}
	for _, name := range step.Written {
		f, wanted := s.target[name]
		if s.branch[name] == f.Hash && wanted {
			s.Fatalf("seed %d: %s is written, but the branch already contains its target", s.seed, name)
		}
		if s.isReverted(name) {
			continue
		}
		last := len(s.rollout.Stages)
		if wanted {
			last = s.stage(name)
		}
		s.checkEarlier(name, last, taken)
		if wanted && f.Assignments > 0 {
			s.checkRoom(last, taken)
		}
	}
}

// checkEarlier checks that all cluster types of earlier stages have their target, run it and have soaked. Cluster types
// that need no cluster may be in the same commit.
func (s *simulation) checkEarlier(of string, last int, taken map[string]bool) {
	s.Helper()
	latest := map[int]time.Time{}
	for name := range s.target {
		i := s.stage(name)
		settled, atOnce := s.settled(name)
		switch {
		case i >= last || taken[name] && s.target[name].Assignments == 0 || atOnce:
		case !settled:
			s.Fatalf("seed %d: %s is written before %s of stage %d is settled", s.seed, of, name, i)
		case s.rollout.Observed.Folders[name].Since.After(latest[i]):
			latest[i] = s.rollout.Observed.Folders[name].Since
		}
	}
	for i, since := range latest {
		if s.rollout.Observed.At.Sub(since) < s.rollout.Stages[i].Soak {
			s.Fatalf("seed %d: %s is written before the soak of stage %d has ended", s.seed, of, i)
		}
	}
}

// checkRoom checks that no more cluster types of a stage are unsettled than max_concurrency allows, and that none
// failed.
func (s *simulation) checkRoom(i int, taken map[string]bool) {
	s.Helper()
	size, unsettled, back := 0, 0, 0
	for name, f := range s.target {
		if s.stage(name) != i {
			continue
		}
		size++
		settled, _ := s.settled(name)
		switch {
		case taken[name] && s.isReverted(name):
			back++ // reverted at once, whatever the limit
		case taken[name] && f.Assignments > 0, s.branch[name] == f.Hash && !settled:
			unsettled++
		}
		o := s.rollout.Observed
		if o != nil && s.branch[name] == f.Hash && o.Folders[name].Tree == f.Hash &&
			o.Folders[name].Verdict == deployment.Failure && f.Assignments > 0 {
			s.Fatalf("seed %d: a wave begins although %s failed", s.seed, name)
		}
	}
	if l := s.rollout.Stages[i].MaxConcurrency; l != nil && unsettled+back > max(back, l.RoundUp(size)) {
		s.Fatalf("seed %d: %d of %d cluster types of stage %d are unsettled, but only %s may be", s.seed, unsettled, size, i,
			l)
	}
}

// TestRandomRollouts plays random rollouts. Reports are late, lost, failing or about an earlier tree. The fleet is
// edited meanwhile, and people freeze the environment, pause, roll back and revert. No folder is written before its
// wave, and each rollout ends once the reports are good.
func TestRandomRollouts(t *testing.T) {
	t.Parallel()
	returns := 0
	for seed := range seeds.Of(t, 150, 1000) {
		s := newSimulation(t, seed)
		for range 60 {
			s.clock = s.clock.Add(time.Duration(s.random.IntN(90)) * time.Second)
			if s.random.IntN(8) == 0 {
				s.rollback = false // a fix
				s.edit()
			}
			s.people()
			s.report(false)
			s.observe()
			s.apply()
		}
		s.rollout.Pause, s.held = "", false
		s.rollout.Skip = s.refused // people allow the failed target
		for range 80 {
			s.clock = s.clock.Add(time.Minute)
			s.report(true)
			s.rollout.Observed = s.observed[len(s.observed)-1]
			s.apply()
		}
		if !maps.Equal(s.branch, s.hashes()) {
			t.Fatalf("seed %d: the rollout did not end: %s", seed, cmp.Diff(s.branch, s.hashes()))
		}
		returns += s.returns
	}
	if !seeds.Single() && returns == 0 {
		t.Error("no rollout restored its folders, so the test proves nothing about this")
	}
}
