package promotion

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

// ErrNotOnBranch means that the first-parent history of the control plane's branch lacks the pinned commit.
var ErrNotOnBranch = errors.New("not on the first-parent history of the branch")

// Decide chooses the commit to render. If the result has Unread commits, read their status histories and decide again.
// The only error is [ErrNotOnBranch], for a pin.
func Decide(w World) (*Decision, error) {
	d := &Decision{Commit: w.Current.Commit, Current: w.Current.Commit}
	c := newChoice(&w, d)
	c.warn()
	if w.Pinned != "" {
		if !w.History.Has(w.Pinned) {
			return nil, fmt.Errorf("pinned_commit %s: %w %q", w.Pinned, ErrNotOnBranch, w.History.Branch)
		}
		d.Commit, d.Kind = w.Pinned, Pinned
		d.Candidate = c.newest()
		c.finish()
		return d, nil
	}
	c.choose()
	if len(d.Unread) > 0 {
		return d, nil
	}
	c.finish()
	return d, nil
}

// choice is a decision in progress.
type choice struct {
	*World
	*Decision
	count int // of commits after the current one
	// found holds the latest statuses, by context in lower case and commit.
	found map[string]map[string][]hosting.Status
	// events caches [choice.eventsOf] by context.
	events map[string][]*event
	// hinted holds the names whose spelling was questioned.
	hinted map[string]bool
	taken  proof
	// waits counts the commits newer than the chosen one that only a gate keeps from being candidates.
	waits int
	// skips counts the commits that can't be candidates.
	skips int
}

func newChoice(w *World, d *Decision) *choice {
	c := &choice{
		World: w, Decision: d, count: w.candidates(),
		found: map[string]map[string][]hosting.Status{}, events: map[string][]*event{}, hinted: map[string]bool{},
	}
	for commit, statuses := range w.Ledger.ByCommit {
		for _, s := range statuses {
			name := strings.ToLower(s.Context)
			if c.found[name] == nil {
				c.found[name] = map[string][]hosting.Status{}
			}
			c.found[name][commit] = append(c.found[name][commit], s)
		}
	}
	return c
}

// choose finds the newest candidate that may be chosen.
func (c *choice) choose() {
	c.Kind = UpToDate
	if c.lost() || c.History.Gone { // nothing shows where the candidates begin
		c.Kind = Hold
		return
	}
	for _, commit := range c.History.Commits[:c.count] {
		approved := slices.Contains(c.Approved, commit)
		if reason := c.skipped(commit, approved); reason != "" {
			c.skip(commit, reason)
			continue
		}
		if c.Candidate == "" {
			c.Candidate = commit
		}
		p, waiting := c.may(commit, approved)
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
	if c.Hold != "" || c.waits > 0 || c.World.Current.Rollout {
		c.Kind = Hold
	}
}

// may returns why a candidate may be chosen, or what it waits for.
func (c *choice) may(commit string, approved bool) (proof, []Waiting) {
	blocked := c.blocked()
	switch {
	case blocked != nil && (!approved || blocked.Gate == gateHold):
		return proof{}, []Waiting{*blocked}
	case approved:
		return proof{Override: "approved: no gate is needed"}, nil
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
	// gateRollback waits for people: the branch lost the commit that was rolled back, and may still hold commits that came
	// before it there.
	gateRollback = "rollback"
)

// blocked returns what stops all candidates, whatever their gates say, or nil.
func (c *choice) blocked() *Waiting {
	switch {
	case c.Hold != "":
		return &Waiting{Gate: gateHold, Reason: c.Hold}
	case c.World.Current.Rollout:
		return &Waiting{Gate: gateRollout, Reason: fmt.Sprintf("a rollout of environment %q is under way", c.Environment)}
	case c.rollbackLost():
		return &Waiting{Gate: gateRollback,
			Reason: fmt.Sprintf("%s was rolled back and is not on branch %q any more, so it is unclear which commits were "+
				"rolled back with it: approve the newest good commit", short(c.World.Current.RolledBack), c.History.Branch)}
	}
	return nil
}

// rollbackLost reports whether the branch lost the commit that was rolled back.
func (c *choice) rollbackLost() bool {
	back := c.World.Current.RolledBack
	return back != "" && !c.History.Has(back)
}

// lost reports whether the branch lost the current commit.
func (c *choice) lost() bool {
	return c.World.Current.Commit != "" && !c.History.Has(c.World.Current.Commit)
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

// finish sets the fields that follow from the choice.
func (c *choice) finish() {
	c.RolledBack = c.rolledBack()
	c.Summary = c.summary()
}

// rolledBack returns the newest commit that a rollback removed and that the choice does not bring back. The commit that
// a pin replaces counts if the pinned commit is older. A commit that the branch lost is kept until the newest commit is
// chosen: until then, the branch may hold commits that were rolled back with it.
func (c *choice) rolledBack() string {
	back, at := c.World.Current.RolledBack, c.History.index(c.Commit)
	if c.rollbackLost() && at != 0 {
		return back
	}
	taken := []string{back}
	if c.Kind == Pinned {
		taken = append(taken, c.World.Current.Commit)
	}
	best := ""
	for _, commit := range taken {
		if i := c.History.index(commit); i >= 0 && i < at {
			best, at = commit, i
		}
	}
	return best
}
