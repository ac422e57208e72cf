package promotion

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// proof is the reason why a commit may be chosen.
type proof struct {
	Gates    []string // a line for each open gate
	Override string   // set instead of gates
}

const (
	pending = githost.Pending
	// descriptionDeployed is the description that Kalypso's workflows give a pending status once an environment runs the
	// commit and another environment follows.
	descriptionDeployed = "Deployed"
)

// isGood reports whether a status proves that the environment runs the commit.
func isGood(s githost.Status) bool {
	return s.State == githost.Success || s.State == pending && s.Description == descriptionDeployed
}

// judge returns the proof that a commit may be chosen, or the closed gates.
func (c *choice) judge(commit string) (proof, []Waiting) {
	var p proof
	var waiting []Waiting
	for _, g := range c.Statuses {
		line, w := c.judgeStatus(g, commit)
		if w != nil {
			waiting = append(waiting, *w)
		} else {
			p.Gates = append(p.Gates, line)
		}
	}
	// Reading the time of a status takes a request, so gates with a soak are judged in full only if all others are open.
	var soaks []Gate
	for _, g := range c.After {
		line, w := c.judgeGate(g, commit)
		switch {
		case w != nil:
			waiting = append(waiting, *w)
		case g.Soak > 0:
			soaks = append(soaks, g)
		default:
			p.Gates = append(p.Gates, line)
		}
	}
	if len(waiting) > 0 {
		return p, waiting
	}
	for _, g := range soaks {
		line, w := c.judgeSoak(g, commit)
		if w != nil {
			waiting = append(waiting, *w)
		} else {
			p.Gates = append(p.Gates, line)
		}
	}
	return p, waiting
}

// unproven returns the reason why the gates of the current commit are closed now, or "". It needs none if people pinned
// or approved it, or if it is the target of a rollback.
func (c *choice) unproven() string {
	current := c.World.Current
	rejection := c.rejection(current.Commit)
	switch {
	case current.Commit == "", current.Commit == c.Pinned, c.isRollbackTarget():
		return ""
	case !c.History.Has(current.Commit):
		return fmt.Sprintf("it is not on the first-parent history of branch %q", c.History.Branch)
	case rejection != "":
		return "it is " + rejection
	case slices.Contains(c.Approved, current.Commit):
		return ""
	}
	_, waiting := c.judge(current.Commit)
	var lines []string
	for _, w := range waiting[:min(len(waiting), shown)] {
		lines = append(lines, fmt.Sprintf("%s: %s", printable.Line(w.Gate), printable.Line(w.Reason)))
	}
	return strings.Join(lines, "; ")
}

// isRollbackTarget reports whether the current commit replaced a newer one that is rejected.
func (c *choice) isRollbackTarget() bool {
	current := c.World.Current
	return current.Decision == Rollback && c.rejection(current.RolledBack) != "" && c.rejection(current.Commit) == "" &&
		c.History.index(current.RolledBack) < c.History.index(current.Commit)
}

// judgeStatus judges a status or a check run of a commit.
func (c *choice) judgeStatus(g StatusGate, commit string) (string, *Waiting) {
	wait := func(by, format string, args ...any) (string, *Waiting) {
		return "", &Waiting{Gate: g.Name, By: by, Reason: fmt.Sprintf(format, args...)}
	}
	if reason := c.unreadable(commit); reason != "" {
		return wait("", "%s", reason)
	}
	found := c.all(commit, g.Name) // a status and a check run, or several check runs, may share the name
	if len(found) == 0 {
		return wait("", "no status and no check run%s", c.noteUnknownName(g.Name))
	}
	others := found[0]
	found = slices.DeleteFunc(slices.Clone(found), func(s githost.Status) bool { return !mayBeBy(s, g.By) })
	if len(found) == 0 {
		return wait(others.Creator, "%s, and only one by %q counts%s", describeStatus(others), g.By,
			c.noteUnknownCreator(g.Name, g.By))
	}
	for _, s := range found {
		switch {
		case c.isFuture(s):
			return wait(s.Creator, "%s, which is in the future", describeStatus(s))
		case s.State != githost.Success:
			return wait(s.Creator, "%s", describeStatus(s))
		}
	}
	return factsOf(found[0]), nil
}

// judgeGate judges an environment that must run the commit first, without its soak.
func (c *choice) judgeGate(g Gate, commit string) (string, *Waiting) {
	wait := func(by, format string, args ...any) (string, *Waiting) {
		return "", &Waiting{Gate: g.Name, By: by, Reason: fmt.Sprintf(format, args...)}
	}
	if d := g.Deployed; d != nil {
		switch {
		case d.Commit == "":
			return wait("", "environment %q has no promoted commit", g.Name)
		case d.Commit != commit:
			return wait("", "environment %q is at %s: %s", g.Name, short(d.Commit), printable.Line(d.Verdict))
		case d.Verdict != string(githost.Success):
			return wait("", "environment %q: %s", g.Name, printable.Line(d.Verdict))
		}
		return fmt.Sprintf("environment %q runs it: %s", g.Name, printable.Line(d.Verdict)), nil
	}
	if reason := c.unreadable(commit); reason != "" {
		return wait("", "%s", reason)
	}
	s, ok := c.latest(commit, g.Context)
	switch {
	case !ok:
		return wait("", "no status %q%s", g.Context, c.noteUnknownName(g.Context))
	case c.isFuture(s):
		return wait(s.Creator, "%s, which is in the future", describeStatus(s))
	case !isGood(s):
		return wait(s.Creator, "%s", describeStatus(s))
	case !mayBeBy(s, g.By):
		return wait(s.Creator, "%s, and only one by %q counts%s", describeStatus(s), g.By,
			c.noteUnknownCreator(g.Context, g.By))
	}
	return factsOf(s), nil
}

// unreadable returns the reason why the statuses of a commit cannot be read, or "".
func (c *choice) unreadable(commit string) string {
	if c.Ledger.Silence != "" {
		return "the statuses can't be read"
	}
	return c.Ledger.Unread[commit]
}

// mayBeBy reports whether the creator of a status may open a gate that names who may.
func mayBeBy(s githost.Status, by string) bool { return by == "" || sameLogin(s.Creator, by) }

// sameLogin compares two logins. Logins are ASCII, and only ASCII letters have a case: strings.EqualFold takes the
// Kelvin sign for a k.
func sameLogin(a, b string) bool {
	lower := func(c byte) byte {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	return slices.EqualFunc([]byte(a), []byte(b), func(x, y byte) bool { return lower(x) == lower(y) })
}

// all returns the latest statuses and check runs with a name.
func (c *choice) all(commit, name string) []githost.Status {
	return c.found[strings.ToLower(name)][commit]
}

// latest returns the latest status of a commit in a context.
func (c *choice) latest(commit, context string) (githost.Status, bool) {
	for _, s := range c.all(commit, context) {
		if !s.CheckRun {
			return s, true
		}
	}
	return githost.Status{}, false
}

// isFuture reports whether a status was set after the host's current time, which makes it unclear.
func (w *World) isFuture(s githost.Status) bool {
	return s.SetAt.After(w.Ledger.SeenAt.Add(MaxSkew))
}

// noteUnknownName notes, once, that no commit has a status of this name, and lists the existing names: the name may be
// misspelled.
func (c *choice) noteUnknownName(name string) string {
	if name = strings.ToLower(name); c.found[name] != nil || c.hinted[name] {
		return ""
	}
	c.hinted[name] = true
	names := slices.Sorted(maps.Keys(c.found))
	if len(names) == 0 {
		return ", nor on any other commit"
	}
	const shown = 5
	more := ""
	if len(names) > shown {
		names, more = names[:shown], fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return fmt.Sprintf(", nor on any other commit; check the name: there are %q%s", names, more)
}

// noteUnknownCreator notes that an account set none of the latest statuses of a context: its name may be misspelled.
func (c *choice) noteUnknownCreator(name, by string) string {
	for _, statuses := range c.found[strings.ToLower(name)] {
		if slices.ContainsFunc(statuses, func(s githost.Status) bool { return sameLogin(s.Creator, by) }) {
			return ""
		}
	}
	return fmt.Sprintf("; %q set none of the latest statuses, so check the login", by)
}

// describeStatus describes a status with its creator, time and description.
func describeStatus(s githost.Status) string {
	if s.Description == "" {
		return factsOf(s)
	}
	return fmt.Sprintf("%s (%q)", factsOf(s), s.Description)
}

// factsOf describes a status with its creator and time, without the text that its creator chose: commit messages show
// it.
func factsOf(s githost.Status) string {
	kind := "status"
	if s.CheckRun {
		kind = "check run"
	}
	text := fmt.Sprintf("%s %q is %s", kind, s.Context, s.State)
	if s.Creator != "" {
		text += " by " + printable.Line(s.Creator)
	}
	if !s.SetAt.IsZero() {
		text += " at " + stamp(s.SetAt)
	}
	return text
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
