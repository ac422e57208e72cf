// Package delivery decides how a GitOps tree gets to its branch: which folders belong to the rendering, which changes
// other people made, and what the one commit of an apply changes and removes. Package remote reads and writes the
// branch.
package delivery

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish/accepted"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Action is the kind of an apply.
type Action int

// The actions.
const (
	// Keep writes nothing. The delivered or proposed tree is the desired one.
	Keep Action = iota
	// Undecided depends on unknown values.
	Undecided
	// Write delivers the tree to its branch, or proposes it in a pull request. With [strategy.None], it changes the state
	// only.
	Write
	// RemoveOld writes nothing to the destination. It opens pull requests that remove the folders at old locations. If
	// on_move keeps them, it closes those pull requests.
	RemoveOld
	// Withhold writes nothing to any branch. It makes the open pull request a draft that must not be merged now.
	Withhold
	// Nothing delivers nothing: a create before anything is promoted, or while the environment is frozen.
	Nothing
)

// Decision describes an apply, and the report of its plan. It depends on the rendered fleet, the state, and the branch
// as the last run read it. [remote.Check] and the deliveries apply the same rules to the branch that they read: see
// [check.Comparison].
type Decision struct {
	// Applied is the tree that the apply leaves at the destination. Before is the state that the decision was made
	// from, or nil. If the fleet now renders the tree to which people reverted the branch, Before treats that tree as
	// delivered. Prior is nil for a create.
	Applied *next.Next
	Before  *past.State
	Prior   *past.Prior

	Action Action
	// Description says how much package describe can describe. Partial means that only the trees before and after the apply
	// are known.
	Description inventory.Known
	// KeptArguments lists the arguments that are planned as the last apply had them, because the apply does nothing
	// that depends on them. "a.b" is a part of an argument. DecidingArgument is one more, or "". It is kept only if
	// none of KeptArguments changes. Otherwise the apply uses its new value and decides again.
	KeptArguments    []string
	DecidingArgument string
	// Adoption lists the foreign folders that the rendering adopts.
	Adoption check.Adoption
	// Drift lists the branches on which the apply overwrites foreign changes: the destination, and the branch of the
	// pull request.
	Drift []*past.State
	// ClosedPullRequest is the number of the pull request that people closed without merging it. It is 0 if there is
	// none, or if the apply opens a new one.
	ClosedPullRequest int
	// RemainingTrees are the destinations that keep a delivered tree once the rendering is only computed, and
	// RemainingPullRequest is the pull request that stays open, or 0.
	RemainingTrees       []destination.Destination
	RemainingPullRequest int
	// Warnings are changes that a guardrail allows: moves between cluster types, and cluster types that lose all their
	// deployment targets.
	Warnings []*check.Refusal
	// Accepted lists the changes that a check would refuse, but accepted_changes allows.
	Accepted []accepted.ID
	// Replaced is the environment whose rendering this one replaces. It is empty if there is none.
	Replaced string
	// RemovedLocations are the old locations that a pull request of this apply removes. KeptLocations are the old
	// locations whose pull request this apply closes. PendingLocations are the old locations that a later apply removes,
	// once the destination contains the tree.
	RemovedLocations, KeptLocations, PendingLocations []destination.Destination
	// RemainingPaths lists the paths that a move leaves at the old location, see on_move. It is "" if no path remains.
	RemainingPaths string
	// Unreadable says that a tree was delivered, but that the private state can't be read. [remote.Recover] reads the
	// branch instead.
	Unreadable bool
	// NeedsBranch says that the state has not seen this destination, so the plan reads the branch to find errors.
	NeedsBranch bool
	// IdleReason says why the apply writes nothing, whatever the fleet renders to. It is "" if the apply may write.
	// Waiting maps each cluster type to the change that waits, as far as it is known.
	IdleReason string
	Waiting    map[string]string
	// Withheld is the reason why the open pull request must not be merged now; "": it may be.
	Withheld string
	// Unproven says why a gate of the promoted commit is closed. It is set only if the rendering never promoted before
	// and takes the commit from the record on the branch.
	Unproven string
	// Step is the step of the rollout that the apply takes, or nil.
	Step *rollout.Step
	// Errors are the reasons why the apply would fail, as far as the state shows.
	Errors []error
}

// Decide decides on an apply. For a create, p is nil. If the private state can't be read, s is nil. Decide contacts no
// server, and returns the same for a plan and for its apply.
func Decide(r *next.Rendered, p *past.Prior, s *past.State) *Decision {
	t := next.New(r, p, s)
	if reverted := accept(t, p, s); reverted != s {
		s, t = reverted, next.New(r, p, reverted)
	}
	decision := &Decision{Action: Write, Applied: t, Before: s, Prior: p, Description: inventory.Unread}
	if (p == nil || !p.Promotes) && t.Wish.Promotion.KeepsCommit() {
		decision.Unproven = t.Wish.Promotion.Unproven
	}
	defer decision.keepArguments()
	if t.Wish.WritesNothing(p) {
		decision.idle()
		return decision
	}
	if t.Rendered.Tree != nil {
		decision.Step = t.Step
		decision.Errors = check.Kept(t)
	}
	decision.refuse(check.ProvenByAttributes(t.Wish, p, s))
	if p == nil {
		decision.NeedsBranch = t.Wish.Delivers() && t.Wish.Known == inventory.Whole
		return decision
	}
	decision.Action = decision.action()
	if t.Wish.Strategy == strategy.PullRequest {
		if s != nil {
			decision.ClosedPullRequest = s.Proposal.Closed()
		}
		if s.Current() && s.Proposal.Open() {
			decision.Withheld = t.Withheld
		}
	}
	switch decision.Action {
	case Keep, Withhold:
	case RemoveOld:
		open, closing := Removals(t.Wish, s, true)
		decision.RemovedLocations, decision.KeptLocations = destinations(open), destinations(closing)
	default:
		decision.write()
	}
	return decision
}

// Refused returns the IDs of the errors that accepted_changes can allow: refusals, and foreign changes that on_drift
// does not allow to overwrite.
func (decision *Decision) Refused() (ids []accepted.ID) {
	for _, err := range decision.Errors {
		if id := check.Acceptable(err); id != "" {
			ids = append(ids, id)
		}
	}
	for _, s := range decision.Drift {
		if decision.IdleReason == "" && decision.Applied.Wish.ReactionTo(s) == drift.Fail {
			ids = append(ids, wish.DriftID(s))
		}
	}
	return ids
}

// Acceptable reports whether accepted_changes can allow all of Errors.
func (decision *Decision) Acceptable() bool {
	return !slices.ContainsFunc(decision.Errors, func(err error) bool { return check.Acceptable(err) == "" })
}

func (decision *Decision) refuse(err error) {
	if err != nil {
		decision.Errors = append(decision.Errors, err)
	}
}

// write decides on the report of an apply that writes, or that may write.
func (decision *Decision) write() {
	t, p, s := decision.Applied, decision.Prior, decision.Before
	var err error
	decision.Warnings, err = check.Moved(t, s, &decision.Accepted)
	decision.refuse(err)
	if t.Wish.Strategy == strategy.PullRequest && t.Wish.Located() {
		decision.PendingLocations = destinations(OldLocations(t.Wish, s))
	}
	decision.RemainingPaths = check.LeftByMove(t.Wish, s)
	if s.Current() && !unknown.Is(t.Wish.Environment) && s.Desired().Environment != t.Wish.Environment {
		decision.Replaced = s.Desired().Environment
	}
	// The state contains the tree from before the apply.
	compares := s != nil && s.Delivered != nil && (!t.Wish.Delivers() || s.Current())
	if decision.Action == Write && t.Known == inventory.Whole && compares {
		if decision.Description = inventory.Partial; decision.describable() {
			decision.Description = inventory.Whole
		}
	}
	switch {
	case t.Wish.Strategy == strategy.None:
		decision.RemainingTrees, decision.RemainingPullRequest = remaining(p, s)
	case t.Wish.Delivers():
		decision.Drift = decision.overwrittenDrift()
		for _, drifted := range decision.Drift {
			if id := wish.DriftID(drifted); t.Wish.AcceptedChanges.Accepts(id) {
				decision.Accepted = append(decision.Accepted, id)
			}
		}
		decision.Unreadable = p.Commit != "" && !s.Current()
		decision.NeedsBranch = t.Wish.Known == inventory.Whole && !t.Wish.Updates(s)
		if t.Wish.Updates(s) && t.Wish.Known == inventory.Whole && t.Rendered.Tree != nil {
			change, errs := newChange(&check.Comparison{Next: t, Before: s, Branch: &s.LastRead}, nil)
			decision.Adoption, decision.Warnings = change.Adoption, append(decision.Warnings, change.Warnings...)
			decision.Errors = append(decision.Errors, errs...)
			decision.Accepted = append(decision.Accepted, change.Accepted...)
		}
	}
}

// idle decides for an apply that writes nothing.
func (decision *Decision) idle() {
	t, s := decision.Applied, decision.Before
	decision.Action, decision.IdleReason = Keep, t.Wish.Promotion.Frozen()
	switch {
	case decision.IdleReason != "":
	case t.Wish.NoCommit:
		decision.IdleReason = "Nothing is promoted to the environment yet."
	default:
		decision.IdleReason = "The rollout is paused, and nothing was delivered yet."
		decision.Step = &rollout.Step{Paused: t.Wish.Rollout.Paused()}
	}
	if decision.Prior == nil {
		decision.Action = Nothing
	}
	if !s.Current() {
		return
	}
	if s.Drifted() {
		decision.Drift = []*past.State{s}
	}
	if t.Rendered.Tree != nil && !t.Wish.NoCommit {
		decision.Waiting = inventory.Changes(t.Baseline(s), t.Target())
	}
	if !s.Proposal.Open() {
		return
	}
	decision.Withheld = decision.IdleReason
	if t.Wish.NoCommit && t.Wish.Promotion.Frozen() == "" { // in open windows, the pull request stays as it is
		decision.Withheld = cmp.Or(t.Wish.Promotion.Withheld(), s.Proposal.Withheld)
	}
	if decision.Withheld != "" {
		decision.Waiting = nil
		if t.Rendered.Tree != nil {
			decision.Waiting = inventory.Changes(t.Baseline(s), s.Proposal.Head.Delivered)
		}
		if s.Proposal.Withheld != decision.Withheld {
			decision.Action = Withhold
		}
	}
}

// resting lists the arguments that decide what is delivered. An apply with an IdleReason keeps them.
var resting = []string{
	"environment", "cluster_types", "templates", "configs", "config_schemas", "secrets", "scheduling_policies",
	"workloads", "manifests", "sources", "verified", "gitops_repo", "promoted_commit", "delivery", "preview",
}

// keepArguments decides which arguments are planned as the last apply had them. If the apply has an IdleReason, all
// arguments that decide what is delivered keep their values. Otherwise, if it does not write the tree, only the
// arguments that explain the tree do: where the objects were read, why the commit was chosen, and what clusters run.
func (decision *Decision) keepArguments() {
	t, p := decision.Applied, decision.Prior
	switch {
	case p == nil:
	case decision.IdleReason != "":
		decision.KeptArguments = resting
		if decision.Step == nil || p.Paused { // else the pause is a new reason to decide again
			decision.KeptArguments = append(slices.Clone(resting), "rollout")
		}
		if decision.Action == Keep { // else the promotion is a new reason to decide again
			decision.DecidingArgument = "promotion"
		}
	case t.Wish.Shown < inventory.Whole || p.Described && unknown.Is(string(t.Wish.Review.Detail)):
	case decision.Action == Keep:
		decision.KeptArguments = []string{
			"sources",
			"verified",
			"manifests",
			"promotion",
			"rollout.observed",
			"rollout.pause",
		}
	case decision.Action == RemoveOld, decision.Action == Withhold:
		decision.KeptArguments = []string{"sources", "verified", "manifests", "promotion"}
	}
}

func destinations(places []*past.OldLocation) []destination.Destination {
	return lists.Map(places, func(old *past.OldLocation) destination.Destination { return old.State.Destination })
}

// describable reports whether everything is known that [describe.Rendering] describes.
func (decision *Decision) describable() bool {
	t := decision.Applied
	if t.Known < inventory.Whole || t.Wish.Strategy != strategy.None && !t.Wish.Located() ||
		t.Wish.Review.Known < inventory.Whole || unknown.Any(t.Wish.Sources) || t.Wish.Owners.HasUnknown() {
		return false
	}
	if _, known := t.Wish.Workspaces(); !known {
		return false
	}
	for _, text := range []string{string(t.Wish.Strategy), t.Wish.Environment, t.Wish.Promotion.Commit,
		string(t.Wish.Review.Detail)} {
		if unknown.Is(text) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Wish.Fleet.Configs, func(c *fleet.Config) bool {
		return unknown.Is(c.Name) || unknown.Any(c.Labels) || unknown.Any(c.Data)
	}) && !slices.ContainsFunc(t.Wish.Fleet.Secrets, func(s *fleet.Secret) bool { return fleet.HasUnknown(s) }) &&
		!slices.ContainsFunc(t.Wish.Fleet.Policies, func(p *fleet.SchedulingPolicy) bool { return unknown.Is(p.Name) })
}

// remaining returns the trees and the pull request that stay on the server once the rendering is only computed.
func remaining(p *past.Prior, s *past.State) (at []destination.Destination, pullRequest int) {
	if !s.Current() {
		return nil, 0
	}
	if s.Proposal.Open() {
		pullRequest = s.Proposal.Number
	}
	if p.Commit != "" {
		at = append([]destination.Destination{s.Destination}, destinations(s.OldLocations)...)
	}
	return at, pullRequest
}

// ClearSecrets is [check.ClearSecrets] for the tree that the apply delivers.
func (decision *Decision) ClearSecrets(s *past.State) problem.Problems {
	if decision.Action == Keep {
		return nil
	}
	return check.ClearSecrets(decision.Applied.Rendered, s)
}

// NamesUnscheduled reports whether the decision names all deployment targets that no policy places, since they leave
// their last cluster types.
func (decision *Decision) NamesUnscheduled() bool {
	names := func(e *check.Refusal) bool {
		return e.Kind == check.Orphaned && len(e.Names) == len(decision.Applied.Rendered.Unscheduled())
	}
	return slices.ContainsFunc(decision.Warnings, names) || slices.ContainsFunc(decision.Errors, func(err error) bool {
		e, refused := errors.AsType[*check.Refusal](err)
		return refused && names(e)
	})
}

// Stopped reports whether the apply writes nothing because a pause or closed windows stop the change.
func (decision *Decision) Stopped() bool {
	paused := decision.Step != nil && decision.Step.Paused != ""
	return (decision.Action == Keep || decision.Action == Withhold) && (paused || decision.Applied.Withheld != "")
}

// CheckWindow returns a *[windows.ClosedError] if the apply would promote another commit or write a wave, but the
// window of its plan has closed.
func (decision *Decision) CheckWindow(now time.Time) error {
	a := decision.Applied.Wish
	if decision.Action != Write || !a.Delivers() {
		return nil
	}
	if err := a.Promotion.CheckWindow(now); err != nil || decision.Step == nil {
		return err
	}
	return windows.CheckOpen(decision.Step.OpenUntil, now, "rollout")
}

// Render renders the fleet. It reports the problems of the fleet, and what the guardrails forbid.
//
// p and s say what was delivered before, so that placement keeps its decisions. For a create, both are nil.
func Render(
	ctx context.Context, a *wish.Arguments, p *past.Prior, s *past.State, progress next.Progress,
) (*next.Rendered, problem.Problems) {
	r, ps := next.Render(ctx, a, p, s, progress)
	return r, append(ps, check.Tree(ctx, r)...)
}

// Summary returns a line for each cluster type of the tree that the apply leaves, such as "+1 -0 ~3, 16 targets, tree
// 8042707eec4d": the changes of the folder when it last changed, the number of its deployment targets, and its hash.
// last contains the lines after the last apply. The line of an unchanged folder stays, so a plan shows exactly the
// cluster types that change. A line has no changes if the state does not contain the last tree, as for a create: the
// branch may contain the folder already. A line is [unknown.Text] if the folder is not known yet.
func (decision *Decision) Summary(t *next.Next, last map[string]string) map[string]string {
	var changes map[string]string
	if before := decision.Before.Last(); before != nil && decision.Before.Known() != inventory.Partial {
		changes = inventory.Changes(before, t.Folders)
	}
	return t.Folders.Summary(changes, last)
}
