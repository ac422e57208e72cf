package delivery

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// unknownStep completes a new tree: its step is not known yet.
func (n *NextTree) unknownStep() *NextTree {
	n.Step, n.Complete = &rollout.Step{Uncertain: true}, false
	if n.Args.inWaves() && n.Args.Promotion.Decision != promotion.Rollback {
		n.Step.OpenUntil = n.Args.Rollout.Window.OpenUntil
	}
	return n.withRecord("", true)
}

// afterStep returns the tree that a pull request already proposes, or the one after the next wave.
func (n *NextTree) afterStep(s *State) *NextTree {
	next, proposed := n.afterWave(s), n.proposed(s)
	if proposed == nil {
		return next
	}
	switch step := next.Step; {
	case proposed.Rollout.RolledBack != "":
	case len(step.Restored) > 0:
		return next
	case step.Uncertain:
	case step.Paused != "":
		proposed.Step, proposed.Withheld = step, "The rollout is paused: "+problem.EndSentence(step.Paused)
	case len(step.Written) == 0 && len(step.Waiting)+len(step.Stopped) > 0:
		proposed.Step = step
		proposed.Withheld = fmt.Sprintf("An earlier wave of the rollout, in stage %q, is not current yet.",
			printable.Line(step.Stage))
	}
	return proposed
}

// proposed returns the tree that a pull request proposes on the way to the same target, or nil if there is none. A
// new observation does not change an open pull request. A pull request that people closed stops the rollout.
func (n *NextTree) proposed(s *State) *NextTree {
	if s.Proposal == nil || s.Proposal.Head.Rollout == nil || n.TargetTreeHash() == "" || n.Args.Rollout.SkipUnknown {
		return nil
	}
	head, target := s.Proposal.Head, n.TargetTreeHash()
	r := head.Rollout
	switch {
	case r.TargetTreeHash != target || CaseOf(n.Args, s) != Update:
		return nil
	case r.Complete && head.PromotedCommit != n.Args.Promotion.Commit:
		return nil
	case !r.Complete && n.Args.Rollout.Skip == target:
		return nil
	}
	step := &rollout.Step{Stage: r.Stage}
	if s.Proposal.Open() && s.Proposal.Withheld == "" {
		step.Waiting = []string{
			fmt.Sprintf("pull request %d, which proposes the wave, is not merged yet", s.Proposal.Number),
		}
	}
	proposed := *n
	proposed.Folders, proposed.Step, proposed.Complete, proposed.Rollout = head.Delivered, step, r.Complete, r
	return proposed.withRecord(head.PromotedCommit, false)
}

// withhold returns the tree of the open pull request, which must not be merged now, if it promotes a commit and the
// windows of the promotion have closed since. If the environment's own objects changed meanwhile, it returns n: windows
// do not delay them.
func (n *NextTree) withhold(now *Situation) *NextTree {
	why, s := n.Args.Promotion.Withheld(), now.State
	if why == "" || n.Args.Strategy != destination.PullRequest || now.Case != Update || !s.Proposal.Open() ||
		s.Drifted() || n.Known < inventory.Whole || !n.Folders.Equal(s.Delivered) {
		return n
	}
	head := s.Proposal.Head
	commit := head.PromotedCommit
	if head.Rollout.UnderWay() {
		commit = head.Rollout.PromotedCommit
	}
	if commit == n.Args.Promotion.Commit {
		return n
	}
	proposed := *n
	proposed.Folders, proposed.Rollout, proposed.Withheld = head.Delivered, head.Rollout, why
	proposed.Complete = !head.Rollout.UnderWay()
	return proposed.withRecord(head.PromotedCommit, false)
}

// afterWave returns the tree after the next wave.
func (n *NextTree) afterWave(s *State) *NextTree {
	delivered, existing := maps.Clone(n.baseline(s)), s.OwnFolders()
	for name, folder := range delivered {
		if folder.Hash == (tree.Hash{}) { // of a state that was recovered in part
			delivered[name] = existing[name]
			if existing[name].Hash == (tree.Hash{}) {
				delete(delivered, name)
			}
		}
	}
	labels := map[string]map[string]string{}
	for _, ct := range n.Args.Fleet.ClusterTypes {
		labels[ct.Name] = ct.Labels
	}
	target := map[string]rollout.RenderedFolder{}
	for name, folder := range n.Target() {
		target[name] = rollout.RenderedFolder{
			Hash: folder.Hash.String(), Assignments: len(folder.Targets), Labels: labels[name],
			Unknown: folder.Known < inventory.Whole,
		}
	}
	step := n.Args.Rollout.Next(rollout.Situation{
		Target: target, TargetTreeHash: n.TargetTreeHash(), PromotedCommit: n.Args.Promotion.Commit,
		Rollback:  n.Args.Promotion.Decision == promotion.Rollback,
		Delivered: delivered.HashTexts(), OnBranch: existing.HashTexts(), Replaced: s.LastRead.Replaced.HashTexts(),
		Progress: s.Rollout,
	})
	next := *n
	next.Step, next.Complete = step, step.Complete()
	next.Rollout, next.NewRollout = step.Progress, step.Progress != s.Rollout
	if len(step.Kept) > 0 {
		next.Folders = maps.Clone(n.Folders)
		for _, name := range step.Kept {
			from := delivered
			if slices.Contains(step.Restored, name) {
				from = s.LastRead.Replaced
			}
			if folder, found := from[name]; found {
				next.Folders[name] = folder
			} else {
				delete(next.Folders, name)
			}
		}
	}
	promoted := s.PromotedCommit
	if next.Complete {
		promoted = n.Args.Promotion.Commit
	}
	return next.withRecord(promoted, step.Uncertain)
}

// RolloutAfter returns the progress of the rollout once the branch contains the tree of this apply. written says that a
// commit was made.
func (n *NextTree) RolloutAfter(written bool) *rollout.StoredProgress {
	if n.Rollout == nil || !written && !n.NewRollout {
		return n.Rollout
	}
	now := *n.Rollout
	now.At = n.Args.Author.When
	return &now
}
