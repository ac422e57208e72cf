package promotion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// shown limits the lines of a kind in a summary.
const shown = 5

// summary describes the choice: the commit, the gates and who opened them, the overrides, the waiting commits, and
// notes.
func (c *choice) summary() string {
	lines := []string{c.headline()}
	if c.result.Decision == Promote || c.result.Decision == Rollback {
		for _, line := range c.chosen.lines() {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range c.clusters {
		lines = append(lines, "- "+line)
	}
	if p := c.world.Current.Proposal; p != nil {
		lines = append(lines, fmt.Sprintf("Pull request %d, which is open, would promote %s.", p.Number, short(p.Commit)))
	}
	if c.waitingCount > 0 {
		lines = append(lines, problem.OneOrMany(c.waitingCount, "1 newer commit waits:", "%d newer commits wait:"))
		for i, w := range c.result.Waiting {
			if i == shown {
				lines = append(lines, "- and more")
				break
			}
			lines = append(lines, fmt.Sprintf("- %s, %s: %s", short(w.Commit), printable.Line(w.Gate), printable.Line(w.Reason)))
		}
	}
	if c.skippedCount > 0 {
		lines = append(lines, fmt.Sprintf("%s skipped. The newest is %s: %s", problem.Count(c.skippedCount, "commit"),
			short(c.result.Skipped[0].Commit), c.result.Skipped[0].Reason))
	}
	for _, note := range c.notes() {
		lines = append(lines, "Note: "+note)
	}
	return strings.Join(lines, "\n")
}

// lines returns the reasons why a commit was chosen: facts of open gates, or the override.
func (p proof) lines() []string {
	if p.Override != "" {
		return []string{p.Override}
	}
	if len(p.Gates) == 0 {
		return []string{"no gates"}
	}
	if rest := len(p.Gates) - 2*shown; rest > 0 {
		return append(slices.Clone(p.Gates[:2*shown]), fmt.Sprintf("and %d more open gates", rest))
	}
	return p.Gates
}

// headline describes the choice in one line.
func (c *choice) headline() string {
	w, d := c.world, c.result
	at := fmt.Sprintf("Environment %q has no promoted commit", w.Environment)
	after, from := ", as its first promoted commit", ""
	if d.Current != "" {
		at = fmt.Sprintf("Environment %q stays at %s", w.Environment, short(d.Current))
		after, from = ", after "+short(d.Current), ", from "+short(d.Current)
	}
	switch {
	case d.Decision == Pinned && d.Commit == d.Current:
		return at + ": pinned_commit keeps it there."
	case d.Decision == Pinned:
		return fmt.Sprintf("Pin environment %q to %s by pinned_commit%s.", w.Environment, short(d.Commit), after)
	case d.Decision == Promote:
		return fmt.Sprintf("Promote %s to environment %q%s.", short(d.Commit), w.Environment, after)
	case d.Decision == Rollback:
		return fmt.Sprintf("Roll back environment %q to %s%s.", w.Environment, short(d.Commit), from)
	case w.Hold != "":
		return fmt.Sprintf("%s, and nothing is written there. Hold: %s", at, problem.EndSentence(w.Hold))
	case d.Decision == Frozen && c.failed != "":
		return fmt.Sprintf("%s, and nothing is written there: %s, and no earlier delivery on branch %q is good. The "+
			"environment continues with the first newer commit whose gates are open. To continue now, set pinned_commit or "+
			"approved.",
			at, c.failed, w.History.Branch)
	case d.Decision == Frozen:
		return fmt.Sprintf("%s, and nothing is written there: %s is rejected, and no earlier delivery on branch %q is good. "+
			"Set pinned_commit to the commit that the environment should run.", at, short(w.rejected()[0]), w.History.Branch)
	case w.History.NoBranch:
		return fmt.Sprintf("%s. The control plane has no branch %q, so nothing can be promoted.", at, w.History.Branch)
	case w.lost():
		return fmt.Sprintf("%s, which is not on branch %q any more: its history was rewritten, or the commit came from "+
			"elsewhere. The environment continues once approved or pinned_commit names a commit, or once the branch contains "+
			"a commit with the same tree.", at, w.History.Branch)
	case d.Decision == Hold && w.Current.Rollout:
		return at + " while its rollout is under way."
	case d.Decision == Hold:
		return at + ": no newer commit may be promoted yet."
	case d.Current == "":
		return at + ", and no commit can be promoted."
	}
	return at + ", and no newer commit waits."
}
