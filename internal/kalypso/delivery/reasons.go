package delivery

import (
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// reasonsToWrite returns why an apply writes, from the configuration and the last apply. Without a reason, the apply
// writes nothing to the destination. Foreign changes of the branch are reasons only as far as the state contains them.
func (s *Situation) reasonsToWrite(t *NextTree) []string {
	if s.Prior == nil {
		return []string{"the rendering is new"}
	}
	return slices.Concat(s.deliveryReasons(), s.treeReasons(t), s.recordReasons(t))
}

// deliveryReasons say why the apply writes although the tree stays the same: the delivered or proposed tree is missing,
// has to be repaired, or is at an old location.
func (s *Situation) deliveryReasons() (why []string) {
	p, state := s.Prior, s.State
	switch a := s.Args; a.Strategy {
	case destination.Push:
		why = s.missing()
		if a.Located() {
			for _, old := range OldLocations(a, state) {
				why = append(why, fmt.Sprintf("the tree at %s is to be removed", old.State.Destination))
			}
		}
	case destination.PullRequest:
		switch {
		case !state.Current(), state.Proposal == nil:
			return s.missing()
		case !state.Proposal.Open():
			if a.PullRequest.Reopen {
				why = append(why, "a new pull request replaces the closed one")
			}
			return why
		}
		proposal := state.Proposal
		number := fmt.Sprintf("pull request %d", proposal.Number)
		add := func(applies bool, reason string) {
			if applies {
				why = append(why, reason)
			}
		}
		add(proposal.Lost, "the branch of "+number+" no longer exists")
		add(proposal.Stale, number+" can't be merged any more")
		add(proposal.UnwantedDraft, number+" is a draft")
		add(proposal.Head.Drifted(), "people changed the branch of "+number)
		add(proposal.Withheld != "", number+" may be merged again")
		add(state.Drifted(), "people changed the branch")
		add(!p.PullRequest.Equal(a.PullRequest) || !p.Owners.Equal(a.Owners), "the settings of "+number+" change")
	case destination.None:
		if p.Commit != "" || state != nil && state.Proposal != nil {
			why = append(why, "the rendering is only computed from now on")
		}
	}
	return why
}

// missing says why the branch does not contain the last tree, as far as the state shows.
func (s *Situation) missing() (why []string) {
	switch {
	case s.Prior.Commit == "":
		return []string{"the branch does not contain the tree yet"}
	case !s.State.Current():
		return []string{"the private state can't be read, so the apply reads the branch"}
	}
	if s.State.Drifted() {
		why = append(why, "people changed the branch")
	}
	if s.State.UnsavedCommit != "" {
		why = append(why, "an earlier apply was stopped before its state was saved")
	}
	return why
}

// environmentChanges reports whether the rendering is known to be of another environment than the last one.
func (s *Situation) environmentChanges() bool {
	return s.lastState() != nil && !unknown.Is(s.Args.Environment) && s.lastState().Environment != s.Args.Environment
}

// treeReasons say what is known to change of the tree, its environment, its destination or its placement decisions.
func (s *Situation) treeReasons(t *NextTree) (why []string) {
	last := s.lastState()
	if t.Known == inventory.Whole && s.Prior.TreeHash != t.Folders.TreeHash().String() {
		why = append(why, changesOf(s.State, t))
	}
	if s.environmentChanges() {
		why = append(why, fmt.Sprintf("the environment %s replaces %s", s.Args.Environment, last.Environment))
	}
	if last != nil && s.Args.Located() && !s.State.Destination.Same(s.Args.Destination) {
		why = append(why, fmt.Sprintf("the destination changes to %s", s.Args.Destination))
	}
	if (last != nil || s.Case == Computed) && t.Known == inventory.Whole &&
		t.Rendered.Folders.Known() == inventory.Whole && t.Rendered.DecisionsKnown() && s.State != nil &&
		!t.Rendered.Decisions.Equal(s.State.Desired().Decisions) {
		why = append(why, "the placement decisions change")
	}
	return why
}

// changesOf names the folders that change.
func changesOf(last *State, t *NextTree) string {
	var names []string
	if before := last.LastFolders(); len(before) > 0 {
		names = before.Differing(t.Folders)
	}
	switch len(names) {
	case 0:
		return "the tree changes"
	case 1:
		return "the folder " + printable.Line(names[0]) + " changes"
	}
	return "the folders " + problem.First(names, problem.MaxListed) + " change"
}

// recordReasons say what changes of the record while the folders stay: the promoted commit, the beginning or the end of
// a rollout, the targets that fail to render, and the success after an automatic rollback.
func (s *Situation) recordReasons(t *NextTree) (why []string) {
	p, last, promoted := s.Prior, s.lastState(), t.Record.PromotedCommit
	known := t.Rendered.Tree != nil && t.Known > inventory.Unread
	before := p.PromotedCommit
	switch {
	case !known:
		promoted = s.Args.Promotion.Commit
		if s.Args.Rollout != nil {
			promoted = before // a wave may keep it
		}
	case last != nil && last.Rollout.UnderWay() != t.Rollout.UnderWay():
		reason := "the rollout ends"
		if t.Rollout.UnderWay() {
			reason = "a rollout begins"
		}
		why = append(why, reason)
	case s.Args.Rollout != nil && last != nil:
		before = last.PromotedCommit
	}
	if !unknown.Is(promoted) && promoted != before && len(why) == 0 {
		why = append(why, fmt.Sprintf("the promoted commit changes from %s to %s", shortCommit(before),
			shortCommit(promoted)))
	}
	if t.Known < inventory.Whole || last == nil {
		return why
	}
	if s.Args.Delivers() && last.LastRead.Record != nil && !last.LastRead.Record.SameFailures(t.Record) {
		why = append(why, "other deployment targets fail to render")
	}
	// With pull requests, the next pull request includes it.
	if s.Args.Strategy == destination.Push && notesSuccess(s.Args, s.State.LastRead.Record) {
		why = append(why, "the environment succeeded after an automatic rollback")
	}
	return why
}

// notesSuccess reports whether an apply notes in the record r of the branch that the environment succeeded after an
// automatic rollback, see [promotion.Reason.Unsettled].
func notesSuccess(a *Arguments, r *record.Record) bool {
	return a.Promotion.Settled && r != nil && r.FinalPromotion().Unsettled
}

// shortCommit returns the beginning of a commit's hash, or "none".
func shortCommit(commit string) string {
	const shown = 12
	switch {
	case commit == "":
		return "none"
	case len(commit) > shown:
		commit = commit[:shown]
	}
	return printable.Line(commit)
}

// withholds reports whether the open or closed pull request must stay as it is, because it must not be merged now.
func (s *Situation) withholds(t *NextTree) bool {
	return s.Args.Strategy == destination.PullRequest && s.lastState() != nil && s.State.Proposal != nil &&
		t.Withheld != ""
}

// dependsOnUnknown reports whether unknown values decide whether the apply writes.
func (s *Situation) dependsOnUnknown(t *NextTree) bool {
	return t.Known < inventory.Whole || t.Rendered.Folders.Known() == inventory.Whole && !t.Rendered.DecisionsKnown() ||
		!s.Args.Located() || unknown.Is(t.Record.PromotedCommit)
}

// oldToRemove returns the old locations for which an apply opens pull requests although it writes nothing else, and
// those whose pull requests it closes.
func (s *Situation) oldToRemove() (open, closing []*OldLocation) {
	if s.Args.Strategy != destination.PullRequest {
		return nil, nil
	}
	return RemovalPullRequests(s.Args, s.State, s.Prior.Commit != "" && s.State.Proposal == nil)
}

// treeIsAt says where the desired tree is already.
func (s *Situation) treeIsAt(t *NextTree) string {
	hash := t.Folders.ShownHash()
	switch {
	case s.Case == Computed:
		return "the state contains the tree " + hash
	case s.State.Proposal.Open():
		return fmt.Sprintf("pull request %d proposes the tree %s", s.State.Proposal.Number, hash)
	case s.State.Proposal != nil:
		return fmt.Sprintf("pull request %d with the tree %s was closed", s.State.Proposal.Number, hash)
	}
	return "the branch contains the tree " + hash
}
