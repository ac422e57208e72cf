package promotion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// proof is the reason why a commit may be chosen.
type proof struct {
	Gates    []string // a line for each open gate
	Override string   // set instead of gates
}

// verdict is the result of judging the gates of a commit.
type verdict struct {
	proof   proof
	waiting []Waiting // the closed gates
	// unread lists the commits whose status history the gates depend on. Unless it is empty, the rest is not valid yet.
	unread []string
}

// open returns the verdict of a gate that is open, with the reason.
func open(fact string) verdict { return verdict{proof: proof{Gates: []string{fact}}} }

// closed returns the verdict of a gate that waits. by set the insufficient status; "": no one.
func closed(gate, by, format string, args ...any) verdict {
	return verdict{waiting: []Waiting{{Gate: gate, By: by, Reason: fmt.Sprintf(format, args...)}}}
}

// add adds the verdict of another gate.
func (v *verdict) add(of verdict) {
	v.proof.Gates = append(v.proof.Gates, of.proof.Gates...)
	v.waiting, v.unread = append(v.waiting, of.waiting...), append(v.unread, of.unread...)
}

// The gates that are neither an environment nor a status.
const (
	gateHold    = "hold"
	gateDwell   = "dwell"
	gateRollout = "rollout"
	// gateRollback waits for people: the branch lost the commit that was rolled back, and may still contain older
	// commits that were rolled back with it.
	gateRollback = "rollback"
	// gateWindow waits until the windows open.
	gateWindow = "window"
	// gateSignature waits for a commit with a valid signature of a known signer.
	gateSignature = "signature"
)

// gates judges whether the rules allow to promote a commit, by the statuses of commits. They also show when
// environments ran commits, as far as they were read.
type gates struct {
	world    *World
	statuses *statuses
	events   map[string][]*event // caches [gates.eventsOf] by context
}

// judge returns the proof that a commit may be chosen, or the closed gates.
func (g *gates) judge(commit string) (v verdict) {
	if g.world.Signatures != nil {
		v.add(g.judgeSignature(commit))
	}
	for _, gate := range g.world.Statuses {
		v.add(g.judgeStatus(gate, commit))
	}
	// Reading the history of a status takes a request, so a soak is judged only if all other gates are open.
	var soaks []Gate
	for _, gate := range g.world.Gates {
		if of := g.judgeEnvironment(gate, commit); len(of.waiting) > 0 || gate.Soak == 0 {
			v.add(of)
		} else {
			soaks = append(soaks, gate)
		}
	}
	if len(v.waiting) > 0 {
		return v
	}
	for _, gate := range soaks {
		v.add(g.judgeSoak(gate, commit))
	}
	return v
}

// judgeStatus judges a status or a check run of a commit.
func (g *gates) judgeStatus(gate StatusGate, commit string) verdict {
	if reason := g.statuses.unreadable(commit); reason != "" {
		return closed(gate.Name, "", "%s", reason)
	}
	found := g.statuses.of(commit, gate.Name) // a status and a check run, or several check runs, may share the name
	if len(found) == 0 {
		return closed(gate.Name, "", "no status and no check run%s", g.statuses.noteUnknownName(gate.Name))
	}
	others := found[0]
	found = slices.DeleteFunc(slices.Clone(found), func(s githost.Status) bool { return !mayBeBy(s, gate.By) })
	if len(found) == 0 {
		return closed(gate.Name, others.Creator, "%s, but only a status by %q counts%s", describeStatus(others), gate.By,
			g.statuses.noteUnknownCreator(gate.Name, gate.By))
	}
	for _, s := range found {
		switch {
		case g.statuses.isFuture(s):
			return closed(gate.Name, s.Creator, "%s, which is in the future", describeStatus(s))
		case s.State != githost.Success:
			return closed(gate.Name, s.Creator, "%s", describeStatus(s))
		}
	}
	return open(factsOf(found[0]))
}

// judgeEnvironment judges an environment that must run the commit first, without its soak.
func (g *gates) judgeEnvironment(gate Gate, commit string) verdict {
	if d := gate.Deployed; d != nil {
		switch {
		case d.Commit == "":
			return closed(gate.Name, "", "environment %q has no promoted commit", gate.Name)
		case d.Commit != commit:
			return closed(gate.Name, "", "environment %q is at %s, not at %s: %s", gate.Name, short(d.Commit),
				short(commit), printable.Line(d.Verdict))
		case d.Verdict != string(githost.Success):
			why := printable.Line(d.Verdict)
			if d.Summary != "" {
				why += ": " + strings.TrimSuffix(printable.Line(d.Summary), ".")
			}
			return closed(gate.Name, "", "the verdict on environment %q is %s", gate.Name, why)
		}
		return open(fmt.Sprintf("environment %q runs it: %s", gate.Name, printable.Line(d.Verdict)))
	}
	if reason := g.statuses.unreadable(commit); reason != "" {
		return closed(gate.Name, "", "%s", reason)
	}
	s, ok := g.statuses.latest(commit, gate.Context)
	switch {
	case !ok:
		return closed(gate.Name, "", "no status %q%s", gate.Context, g.statuses.noteUnknownName(gate.Context))
	case g.statuses.isFuture(s):
		return closed(gate.Name, s.Creator, "%s, which is in the future", describeStatus(s))
	case !isGood(s):
		return closed(gate.Name, s.Creator, "%s", describeStatus(s))
	case !mayBeBy(s, gate.By):
		return closed(gate.Name, s.Creator, "%s, but only a status by %q counts%s", describeStatus(s), gate.By,
			g.statuses.noteUnknownCreator(gate.Context, gate.By))
	}
	return open(factsOf(s))
}
