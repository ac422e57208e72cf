package promotion

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// ErrNotOnBranch means that the first-parent history of the control plane's branch lacks the pinned commit.
var ErrNotOnBranch = errors.New("not on the first-parent history of the branch")

// Decide chooses the commit to render. If the result has Unread commits, read their status histories and decide again.
// The only error is [ErrNotOnBranch], for a pin.
func Decide(w World) (*Choice, error) {
	result := &Choice{
		Promotion: Promotion{Commit: w.Current.Commit, Closed: w.Window.Closed, OpenUntil: w.Window.OpenUntil},
		Current:   w.Current.Commit, OpensAt: w.Window.OpensAt,
	}
	if w.Current.Proposal != nil {
		result.Proposed = w.Current.Proposal.Commit
	}
	gates := &gates{&w, newStatuses(&w.Ledger), map[string][]*event{}}
	c := &choice{world: &w, gates: gates, rollback: rollback{&w}, result: result}
	result.Warnings = c.warnings()
	switch {
	case w.Pinned != "" && !w.History.Has(w.Pinned):
		return nil, fmt.Errorf("the commit %s of pinned_commit is %w %q", w.Pinned, ErrNotOnBranch, w.History.Branch)
	case w.Pinned != "":
		result.Commit, result.Decision, result.Candidate = w.Pinned, Pinned, w.newest()
		c.chosen.Override = "pinned by pinned_commit" + gates.lifted(w.Pinned)
	case w.Hold != "":
		c.freeze()
	case len(w.rejected()) > 0:
		c.goBackFromRejected()
	case c.goBackByItself():
	default:
		c.choose()
	}
	if len(result.Unread) > 0 {
		return result, nil
	}
	result.Unproven = c.unproven()
	if len(result.Unread) == 0 {
		result.RolledBack = c.rolledBack()
		result.Settled = w.Current.Unsettled && c.rollback.succeeds()
		if result.Commit == w.Current.Commit {
			result.By = w.Current.By
		}
		goesBack := result.Decision == Rollback && result.By == ByRollback
		result.Unsettled = goesBack || w.Current.Unsettled && !result.Settled
		if commit := result.Commit; commit != "" && (w.approves(commit) || commit == w.Pinned) {
			result.Unverified = gates.unverified(commit)
		}
		if w.Signatures != nil && result.Commit != "" {
			if signer, err := w.Signatures.Signer(result.Commit); err == nil {
				result.Verified = map[string]string{result.Commit: signer}
			}
		}
		result.Explanation = c.reason()
		result.Summary = c.summary()
	}
	return result, nil
}

// choice is a decision in progress.
type choice struct {
	world    *World
	gates    *gates
	rollback rollback
	result   *Choice
	chosen   proof
	// waits counts the commits newer than the chosen one that wait for a gate.
	waitingCount int
	// skips counts the commits that can't be candidates.
	skippedCount int
	// failed says which folders the current commit broke, if no earlier delivery is good; "": none.
	failed string
	// clusters are lines with the messages of clusters about the failed folders.
	clusters []string
}

// freeze keeps the current commit, even if the gates of a newer one are open.
func (c *choice) freeze() {
	c.result.Decision = Frozen
	if c.world.lost() {
		return
	}
	for _, commit := range c.world.candidates() {
		if c.consider(commit) {
			c.wait(commit, []Waiting{{Gate: gateHold, Reason: c.world.Hold}})
		}
	}
}

// goBackFromRejected chooses the newest earlier delivery that is good. Without one, the environment freezes: any other
// commit would be unproven, and the rejected commit must not spread.
func (c *choice) goBackFromRejected() {
	c.result.Decision, c.result.Candidate = Frozen, c.world.newest()
	if to := c.rollback.earlier(); to != nil {
		c.goBack(to.Commit, proof{Override: fmt.Sprintf("rollback: %s is rejected, and this is the newest earlier delivery",
			short(c.world.rejected()[0]))})
	}
}

// goBack chooses an earlier delivery.
func (c *choice) goBack(to string, why proof) {
	c.result.Commit, c.result.Decision, c.result.Candidate, c.chosen = to, Rollback, c.world.newest(), why
}

// choose finds the newest candidate whose gates are open. If only closed windows stop it, an older candidate needs an
// approval.
func (c *choice) choose() {
	w, result := c.world, c.result
	result.Decision = UpToDate
	if w.History.NoBranch {
		result.Decision = Hold
		return
	}
	unknown := w.lost() // nothing shows where the candidates begin
	stopped := false
	for _, commit := range w.candidates() {
		if unknown && (!w.approves(commit) || w.delivered(commit)) || stopped && !w.approves(commit) ||
			!c.consider(commit) {
			continue
		}
		v := c.eligible(commit)
		result.Unread = v.unread
		if len(v.unread) > 0 {
			return
		}
		if len(v.waiting) == 0 && w.outsideWindows(commit) {
			stopped, v.waiting = true, []Waiting{{Gate: gateWindow, Reason: w.Window.Waits()}}
		}
		if len(v.waiting) == 0 {
			if until := w.Window.OpenUntil; !until.IsZero() {
				v.proof.Gates = append(v.proof.Gates, "the window is open until "+clock.Stamp(until))
			}
			result.Commit, result.Decision, c.chosen = commit, Promote, v.proof
			return
		}
		c.wait(commit, v.waiting)
	}
	if c.waitingCount > 0 || w.Current.Rollout || unknown {
		result.Decision = Hold
	}
}

// consider reports whether a commit after the current one can be chosen once its gates are open. It lists the commit as
// skipped if not.
func (c *choice) consider(commit string) bool {
	if reason := c.world.skipped(commit); reason != "" {
		c.skippedCount++
		if len(c.result.Skipped) < MaxWaiting {
			c.result.Skipped = append(c.result.Skipped, Skipped{commit, reason})
		}
		return false
	}
	c.result.Candidate = cmp.Or(c.result.Candidate, commit)
	return true
}

// eligible returns the reason why a candidate can be promoted, or the gates that it waits for.
func (c *choice) eligible(commit string) verdict {
	blocked, approved := c.world.blocked(), c.world.approves(commit)
	if c.failed != "" && blocked != nil && blocked.Gate == gateRollout { // it never ends by itself
		blocked = nil
	}
	switch {
	case blocked != nil && !approved:
		return verdict{waiting: []Waiting{*blocked}}
	case approved:
		return verdict{proof: proof{Override: "approved: no gate is needed" + c.gates.lifted(commit)}}
	case commit == c.world.rewritten() && c.gates.unverified(commit) == "":
		return verdict{proof: proof{Override: fmt.Sprintf("rewritten: it has the tree of %s, which the branch lost",
			short(c.world.Current.Commit))}}
	}
	if v := c.gates.judgeDwell(); c.failed == "" && len(v.waiting)+len(v.unread) > 0 { // what failed does not dwell
		return v
	}
	return c.gates.judge(commit)
}

func (c *choice) wait(commit string, gates []Waiting) {
	c.waitingCount++
	for _, g := range gates {
		if len(c.result.Waiting) < MaxWaiting {
			g.Commit = commit
			c.result.Waiting = append(c.result.Waiting, g)
		}
	}
}

// unproven returns the reason why the gates of the current commit are closed now, or "". The commit needs no open gate
// if people pinned or approved it, or if a rollback chose it.
func (c *choice) unproven() string {
	w, current := c.world, c.world.Current.Commit
	rejection := w.rejection(current)
	switch {
	case current == "", current == w.Pinned, w.isRollbackTarget():
		return ""
	case !w.History.Has(current):
		return fmt.Sprintf("it is not on the first-parent history of branch %q", w.History.Branch)
	case rejection != "":
		return "it is " + rejection
	case w.approves(current):
		return ""
	}
	v := c.gates.judge(current)
	c.result.Unread = append(c.result.Unread, v.unread...)
	var lines []string
	for _, w := range v.waiting[:min(len(v.waiting), shown)] {
		lines = append(lines, fmt.Sprintf("%s: %s", printable.Line(w.Gate), printable.Line(w.Reason)))
	}
	return strings.Join(lines, "; ")
}

// reason returns why the commit was chosen. A reason in the record or in the open pull request is kept: renewed
// statuses would change its text.
func (c *choice) reason() string {
	current, proposal, commit := c.world.Current, c.world.Current.Proposal, c.result.Commit
	switch {
	case commit == "":
		return ""
	case commit == current.Commit && (current.Explanation != "" || c.result.Decision != Pinned):
		return current.Explanation
	case proposal != nil && proposal.Commit == commit && proposal.Explanation != "":
		return proposal.Explanation
	}
	return strings.Join(c.chosen.lines(), "\n")
}

// rolledBack returns the newest commit that was rolled back and is newer than the choice. A pin to an older commit
// rolls the current commit back too, and a rollback all rejected ones. A commit that the branch lost stays rolled back
// while the branch may contain commits that were rolled back with it.
func (c *choice) rolledBack() string {
	w, commit := c.world, c.result.Commit
	back, current := w.Current.RolledBack, w.Current.Commit
	taken := []string{back}
	switch {
	case w.mayRollBack(back, commit):
		return back
	case c.result.Decision == Pinned && w.mayRollBack(current, commit):
		return current
	case c.result.Decision == Pinned:
		taken = append(taken, current)
	case c.result.Decision == Rollback:
		taken = append(taken, w.rejected()...)
		if c.result.By == ByRollback {
			taken = append(taken, current)
		}
	}
	best, at := "", w.History.index(commit)
	for _, commit := range taken {
		if i := w.History.index(commit); i >= 0 && i < at {
			best, at = commit, i
		}
	}
	return best
}
