package promotion

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// ErrNotOnBranch means that the first-parent history of the control plane's branch lacks the pinned commit.
var ErrNotOnBranch = errors.New("not on the first-parent history of the branch")

// Decide chooses the commit to render. If the result has Unread commits, read their status histories and decide again.
// The only error is [ErrNotOnBranch], for a pin.
func Decide(w World) (*Choice, error) {
	d := &Choice{Commit: w.Current.Commit, Current: w.Current.Commit}
	if w.Current.Proposal != nil {
		d.Proposed = w.Current.Proposal.Commit
	}
	c := newChoice(&w, d)
	c.warn()
	switch {
	case w.Pinned != "" && !w.History.Has(w.Pinned):
		return nil, fmt.Errorf("pinned_commit %s: %w %q", w.Pinned, ErrNotOnBranch, w.History.Branch)
	case w.Pinned != "":
		d.Commit, d.Kind = w.Pinned, Pinned
		c.taken.Override = "pinned by pinned_commit"
		d.Candidate = c.newest()
	case w.Hold != "":
		c.freeze()
	case len(w.rejected()) > 0:
		c.goBack()
	default:
		if c.choose(); len(d.Unread) > 0 {
			return d, nil
		}
	}
	if c.Unproven = c.unproven(); len(d.Unread) == 0 {
		c.finish()
	}
	return d, nil
}

// NeedsDeliveries reports whether the decision depends on [Current.Delivered]: folders contain a rejected commit, or
// the branch lost the current one, and a newer one may be approved.
func (w *World) NeedsDeliveries() bool {
	return w.Pinned == "" && w.Hold == "" && (len(w.rejected()) > 0 || w.lost() && len(w.Approved) > 0)
}

// rejected returns the rejected commits that folders of the environment may contain.
func (w *World) rejected() (all []string) {
	for _, commit := range append([]string{w.Current.Commit}, w.Current.Others...) {
		if commit != "" && w.rejection(commit) != "" {
			all = append(all, commit)
		}
	}
	return all
}

// freeze keeps the current commit, with any state of the gates.
func (c *choice) freeze() {
	c.Kind = Frozen
	if c.lost() {
		return
	}
	for _, commit := range c.History.Commits[:c.count] {
		if reason := c.skipped(commit, slices.Contains(c.Approved, commit)); reason != "" {
			c.skip(commit, reason)
			continue
		}
		if c.Candidate == "" {
			c.Candidate = commit
		}
		c.wait(commit, []Waiting{{Gate: gateHold, Reason: c.Hold}})
	}
}

// goBack chooses the newest earlier delivery that is not rejected. Without one, nothing is written: another commit
// would be unproven, and the rejected one must not spread.
func (c *choice) goBack() {
	c.Kind, c.Candidate = Frozen, c.newest()
	newest := c.History.index(c.World.Current.Commit)
	if newest < 0 && c.World.Current.RolledBack != "" {
		return // it is unknown which of the earlier deliveries were rolled back
	}
	for _, commit := range c.World.Current.Delivered {
		at := c.History.index(commit)
		if commit == c.World.Current.Commit || at < 0 || at < newest || c.rejection(commit) != "" {
			continue
		}
		c.Commit, c.Kind = commit, Rollback
		c.taken.Override = fmt.Sprintf("rollback: %s is rejected, and this is the newest earlier delivery",
			short(c.rejected()[0]))
		return
	}
}

// choice is a decision in progress.
type choice struct {
	*World
	*Choice
	count int // of commits after the current one
	// found contains the latest statuses, by context in lower case and commit.
	found map[string]map[string][]githost.Status
	// events caches [choice.eventsOf] by context.
	events map[string][]*event
	// hinted contains the names whose spelling was questioned.
	hinted map[string]bool
	taken  proof
	// waits counts the commits newer than the chosen one that only a gate keeps from being candidates.
	waits int
	// skips counts the commits that can't be candidates.
	skips int
}

func newChoice(w *World, d *Choice) *choice {
	c := &choice{
		World: w, Choice: d, count: w.candidates(),
		found: map[string]map[string][]githost.Status{}, events: map[string][]*event{}, hinted: map[string]bool{},
	}
	for commit, statuses := range w.Ledger.ByCommit {
		for _, s := range statuses {
			name := strings.ToLower(s.Context)
			if c.found[name] == nil {
				c.found[name] = map[string][]githost.Status{}
			}
			c.found[name][commit] = append(c.found[name][commit], s)
		}
	}
	return c
}

// choose finds the newest candidate that may be chosen.
func (c *choice) choose() {
	c.Kind = UpToDate
	if c.History.Gone {
		c.Kind = Hold
		return
	}
	unknown := c.lost() // nothing shows where the candidates begin
	for _, commit := range c.History.Commits[:c.count] {
		approved := slices.Contains(c.Approved, commit)
		if unknown && (!approved || c.delivered(commit)) {
			continue
		}
		if reason := c.skipped(commit, approved); reason != "" {
			c.skip(commit, reason)
			continue
		}
		if c.Candidate == "" {
			c.Candidate = commit
		}
		p, waiting := c.eligible(commit, approved)
		switch {
		case len(c.Unread) > 0:
			return
		case len(waiting) > 0:
			c.wait(commit, waiting)
		default:
			c.Commit, c.Kind, c.taken = commit, Promote, p
			return
		}
	}
	if c.waits > 0 || c.World.Current.Rollout || unknown {
		c.Kind = Hold
	}
}

// eligible returns the reason why a candidate can be promoted, or the gates that it waits for.
func (c *choice) eligible(commit string, approved bool) (proof, []Waiting) {
	blocked := c.blocked()
	switch {
	case blocked != nil && !approved:
		return proof{}, []Waiting{*blocked}
	case approved:
		return proof{Override: "approved: no gate is needed"}, nil
	case commit == c.rewritten():
		return proof{Override: fmt.Sprintf("rewritten: it has the tree of %s, which the branch lost",
			short(c.World.Current.Commit))}, nil
	}
	if reason := c.dwells(); reason != "" {
		return proof{}, []Waiting{{Gate: gateDwell, Reason: reason}}
	}
	if len(c.Unread) > 0 {
		return proof{}, nil
	}
	return c.judge(commit)
}

// The gates that are neither an environment nor a status.
const (
	gateHold    = "hold"
	gateDwell   = "dwell"
	gateRollout = "rollout"
	// gateRollback waits for people: the branch lost the commit that was rolled back, and may still contain commits
	// that came before it there.
	gateRollback = "rollback"
)

// blocked returns the reason that stops all candidates, with any state of their gates, or nil.
func (c *choice) blocked() *Waiting {
	switch {
	case c.World.Current.Rollout:
		return &Waiting{Gate: gateRollout, Reason: fmt.Sprintf("a rollout of environment %q is under way", c.Environment)}
	case c.rollbackLost():
		return &Waiting{Gate: gateRollback,
			Reason: fmt.Sprintf("%s was rolled back and is not on branch %q any more, so it is unclear which commits were "+
				"rolled back with it: approve the newest good commit", short(c.World.Current.RolledBack), c.History.Branch)}
	}
	return nil
}

// rollbackLost reports whether the branch lost the commit that was rolled back, so that it is unclear what was rolled
// back with it.
func (c *choice) rollbackLost() bool {
	return c.mayRollBack(c.World.Current.RolledBack, c.World.Current.Commit)
}

// mayRollBack reports whether the branch lost a commit, and going from it to another one may have rolled back commits
// of the branch. A commit that is newer than the point where the lost one left the branch rolls nothing back, and
// neither does the newest.
func (c *choice) mayRollBack(lost, to string) bool {
	at := c.History.index(to)
	return lost != "" && !c.History.Has(lost) && at != 0 && (at < 0 || at >= c.History.index(c.History.Left[lost]))
}

// lost reports whether the branch lost the current commit, and contains none with its tree.
func (w *World) lost() bool {
	return w.Current.Commit != "" && !w.History.Has(w.Current.Commit) && w.rewritten() == ""
}

// delivered reports whether a commit, or a newer one of the branch, was delivered before: then its approval is spent.
func (c *choice) delivered(commit string) bool {
	at := c.History.index(commit)
	return slices.ContainsFunc(c.World.Current.Delivered, func(was string) bool {
		i := c.History.index(was)
		return i >= 0 && i <= at
	})
}

// newest returns the newest commit after the current one that is not skipped, or "".
func (c *choice) newest() string {
	if c.lost() {
		return ""
	}
	for _, commit := range c.History.Commits[:c.count] {
		if c.skipped(commit, slices.Contains(c.Approved, commit)) == "" {
			return commit
		}
	}
	return ""
}

func (c *choice) wait(commit string, gates []Waiting) {
	c.waits++
	for _, g := range gates {
		if len(c.Waiting) < MaxWaiting {
			g.Commit = commit
			c.Waiting = append(c.Waiting, g)
		}
	}
}

func (c *choice) skip(commit, reason string) {
	c.skips++
	if len(c.Skipped) < MaxWaiting {
		c.Skipped = append(c.Skipped, Skipped{commit, reason})
	}
}

// finish sets the fields that depend on the choice.
func (c *choice) finish() {
	c.RolledBack = c.rolledBack()
	c.Reason = c.reason()
	c.Summary = c.summary()
}

// reason returns the reason why the commit was chosen. The reason in the record or in the open pull request stays,
// because statuses are renewed.
func (c *choice) reason() string {
	current, proposal := c.World.Current, c.World.Current.Proposal
	switch {
	case c.Commit == "":
		return ""
	case c.Commit == current.Commit && (current.Reason != "" || c.Kind != Pinned):
		return current.Reason
	case proposal != nil && proposal.Commit == c.Commit && proposal.Reason != "":
		return proposal.Reason
	}
	return strings.Join(c.taken.lines(), "\n")
}

// rolledBack returns the newest commit that a rollback removed and that the choice does not bring back. The commit that
// a pin replaces counts if the pinned commit is older, and so do rejected ones. A commit that the branch lost counts
// while the branch may contain commits that were rolled back with it.
func (c *choice) rolledBack() string {
	back, current := c.World.Current.RolledBack, c.World.Current.Commit
	taken := []string{back}
	switch {
	case c.mayRollBack(back, c.Commit):
		return back
	case c.Kind == Pinned && c.mayRollBack(current, c.Commit):
		return current
	case c.Kind == Pinned:
		taken = append(taken, current)
	case c.Kind == Rollback:
		taken = append(taken, c.rejected()...)
	}
	best, at := "", c.History.index(c.Commit)
	for _, commit := range taken {
		if i := c.History.index(commit); i >= 0 && i < at {
			best, at = commit, i
		}
	}
	return best
}
