// Package delivery decides how a GitOps tree gets to its branch.
//
// [Render] renders the fleet with its [Arguments]. [Decide] compares the rendered fleet with the [Situation], which
// contains what the last run left, and returns a [Plan] with its reasons: which folders belong to the rendering, what
// other people changed, what the guardrails refuse, and which [NextTree] the one commit of an apply leaves.
// [CompareWithBranch] applies the same rules to the branch that an apply reads. The package contacts no server: package
// remote reads and writes the branch.
package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Decide decides on an apply. For a create, p is nil. If the private state can't be read, s is nil. Decide contacts no
// server, and returns the same for the same inputs.
//
// Terraform shows no change for a [Rest] after a create, and for a [Keep], if only arguments change that keptArguments
// of package rendering keeps. A Keep also shows a new description, feedback_status and unscheduled. If the last apply
// stored that nothing is to do, and its inputs are the same, package rendering does not call Decide.
func Decide(r *Rendered, p *Prior, state *State) Plan {
	s := situate(r.Args, p, state)
	t := nextTree(r, s)
	if start := s.stateToStartFrom(t); start != state {
		s = s.with(start)
		t = nextTree(r, s)
	}
	base := Basis{Situation: s, Next: t}
	if (p == nil || !p.Promotes) && s.Args.Promotion.KeepsCommit() {
		base.Unproven = s.Args.Promotion.Unproven
	}
	if s.Stop != nil {
		return rest(base)
	}
	if t.Rendered.Tree != nil {
		base.Errors = CheckKept(t)
	}
	base.addError(checkProvenByAttributes(s.Args, p, s.State))
	base.Reasons = s.reasonsToWrite(t)
	switch {
	case p == nil:
		return create(base)
	case unknown.Is(string(s.Args.Strategy)):
		return undecided(base.because("the strategy is known after apply"))
	case s.withholds(t):
		return keepProposal(base)
	case len(base.Reasons) > 0:
		return write(base)
	case s.dependsOnUnknown(t):
		return undecided(base.because("it depends on " + unknownInputs(s.Args) + " known after apply"))
	}
	open, closing := s.oldToRemove()
	switch {
	case len(open)+len(closing) == 0:
		return &Keep{base.because(s.treeIsAt(t))}
	case s.Args.Known < inventory.Whole:
		return undecided(base.because(
			"it depends on arguments that are known after apply whether old locations are removed"))
	}
	base = base.because("the destination contains the tree, and old locations remain")
	return &RemoveOld{base, destinations(open), destinations(closing)}
}

// unknownInputs names the unknown values that decide which assignments there are. Other values decide on their files.
func unknownInputs(a *Arguments) string {
	if inputs := schedule.UnknownInputs(a.Fleet); len(inputs) > 0 {
		return problem.First(inputs, problem.MaxListed) + ", which will be"
	}
	return "values that are"
}

// NothingToDo returns the plan after an apply if it has nothing to do and nothing to report, because the branch, or
// that of the pull request, already contains the tree that the next apply would leave. Otherwise it returns nil. p and
// s are what the apply left.
func NothingToDo(r *Rendered, p *Prior, s *State) *Keep {
	keep, ok := Decide(r, p, s).(*Keep)
	if !ok || !s.Readable() || keep.Next.Known < inventory.Whole || len(keep.Errors) > 0 || keep.Next.Withheld != "" ||
		s.Proposal.Closed() != 0 || len(s.OldLocations) > 0 {
		return nil
	}
	return keep
}

// create plans the first apply. Nothing was delivered before, so nothing is compared.
func create(base Basis) Plan {
	return &Write{Basis: base, Described: inventory.Unread}
}

// write plans an apply that writes.
func write(base Basis) Plan {
	base, effects := withEffects(base)
	s, t := base.Situation, base.Next
	described := inventory.Unread
	// The state contains the tree from before the apply.
	compares := s.State != nil && s.State.Delivered != nil && (!s.Args.Delivers() || s.lastState() != nil)
	if t.Known == inventory.Whole && compares {
		described = inventory.Partial
		if describable(t) {
			described = inventory.Whole
		}
	}
	return &Write{base, effects, described}
}

func undecided(base Basis) Plan {
	base, effects := withEffects(base)
	return &Undecided{base, effects}
}

// withEffects returns the effects of an apply that writes, or that may write, and base with the drift, the errors and
// the accepted changes of these effects.
func withEffects(base Basis) (Basis, Effects) {
	s, t := base.Situation, base.Next
	e := Effects{Replaced: s.replaced()}
	if s.Args.Strategy == destination.PullRequest && s.Args.Located() {
		e.Left.Pending = destinations(OldLocations(s.Args, s.State))
	}
	e.Left.Paths = leftByMove(s.Args, s.State)
	if s.Case == Computed {
		e.Left.Trees, e.Left.PullRequest = s.remaining()
	}
	if s.Case == Update && s.Args.Known == inventory.Whole && t.Rendered.Tree != nil {
		change, errs := newChange(NewComparison(t, s.State, &s.State.LastRead), nil)
		e.Adoption, e.Warnings = change.Adoption, change.Warnings
		base.Errors = append(base.Errors, errs...)
		base.Accepted = append(base.Accepted, change.Accepted...)
	} else {
		var err error
		e.Warnings, err = CheckMoves(t, s.State, &base.Accepted)
		base.addError(err)
	}
	if !s.Args.Delivers() {
		return base, e
	}
	base.Drift = s.overwrittenDrift(t)
	for _, drifted := range base.Drift {
		if id := DriftID(drifted); s.Args.AcceptedChanges.accepts(id) {
			base.Accepted = append(base.Accepted, id)
		}
	}
	return base, e
}

// rest plans an apply that a [Stop] keeps from writing. An open pull request that must not be merged meanwhile is
// withheld.
func rest(base Basis) Plan {
	s, t := base.Situation, base.Next
	base = base.because(strings.TrimSuffix(s.Stop.Text, "."))
	if s.lastState() == nil {
		return &Rest{Basis: base}
	}
	if s.State.Drifted() {
		base.Drift = []*State{s.State}
	}
	var waiting map[string]string
	if t.Rendered.Tree != nil && !s.Args.NoCommit {
		waiting = inventory.Changes(t.baseline(s.State), t.Target())
	}
	proposal := s.State.Proposal
	if !proposal.Open() {
		return &Rest{base, waiting}
	}
	base.Withheld = s.Stop.Text
	if s.Stop.Cause == NothingPromoted { // in open windows, the pull request stays as it is
		base.Withheld = cmp.Or(s.Args.Promotion.Withheld(), proposal.Withheld)
	}
	if base.Withheld == "" {
		return &Rest{base, waiting}
	}
	waiting = nil
	if t.Rendered.Tree != nil {
		waiting = inventory.Changes(t.baseline(s.State), proposal.Head.Delivered)
	}
	if proposal.Withheld == base.Withheld {
		return &Rest{base, waiting}
	}
	return &Withhold{base, waiting}
}

// keepProposal plans an apply that leaves a pull request as it is, or makes it a draft, because it must not be merged
// now. A closed one is not opened again.
func keepProposal(base Basis) Plan {
	proposal := base.State.Proposal
	if !proposal.Open() {
		return &Keep{base.because(fmt.Sprintf("pull request %d was closed", proposal.Number))}
	}
	base.Withheld = base.Next.Withheld
	base = base.because(fmt.Sprintf("pull request %d must not be merged now: %s", proposal.Number,
		strings.TrimSuffix(base.Withheld, ".")))
	if proposal.Withheld != base.Withheld {
		return &Withhold{Basis: base}
	}
	return &Keep{base}
}

func destinations(places []*OldLocation) []destination.Destination {
	return lists.Map(places, func(old *OldLocation) destination.Destination { return old.State.Destination })
}

// describable reports whether everything is known that package describe shows.
func describable(t *NextTree) bool {
	if t.Known < inventory.Whole || t.Args.Strategy != destination.None && !t.Args.Located() ||
		t.Args.Review.Known < inventory.Whole || unknown.Any(t.Args.Sources) || t.Args.Owners.HasUnknown() {
		return false
	}
	if _, known := t.Args.Workspaces(); !known {
		return false
	}
	for _, text := range []string{string(t.Args.Strategy), t.Args.Environment, t.Args.Promotion.Commit,
		string(t.Args.Review.Detail)} {
		if unknown.Is(text) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Args.Fleet.Configs, func(c *fleet.Config) bool {
		return unknown.Is(c.Name) || unknown.Any(c.Labels) || unknown.Any(c.Data)
	}) && !slices.ContainsFunc(t.Args.Fleet.Secrets, func(s *fleet.Secret) bool { return fleet.HasUnknown(s) }) &&
		!slices.ContainsFunc(t.Args.Fleet.Policies, func(p *fleet.SchedulingPolicy) bool { return unknown.Is(p.Name) })
}
