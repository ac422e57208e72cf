package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Orphan is a deployment target that the fleet still has, and that leaves its last cluster types.
type Orphan struct {
	Target *fleet.DeploymentTarget
	From   []string // the cluster types that it leaves, sorted
}

// Orphans returns the deployment targets of the fleet that are in the folders before, and that the fleet's tree places
// nowhere, in the order of the schedule. With a rollout, a target may leave cluster type by cluster type, so Orphans
// looks beyond this apply. It skips targets whose placement is not known yet.
func Orphans(t *NextTree, before inventory.Folders) (all []Orphan) {
	if t.Rendered.Tree == nil || t.Rendered.Tree.Schedule == nil || len(t.Rendered.Tree.Schedule.Unscheduled) == 0 {
		return nil
	}
	unscheduled := map[string]bool{}
	for _, target := range t.Rendered.Tree.Schedule.Unscheduled {
		unscheduled[target.Name] = true
	}
	was, is := before.PlacedOf(unscheduled), t.Target().PlacedOf(unscheduled)
	for _, target := range t.Rendered.Tree.Schedule.Unscheduled {
		if from := was[target.Name]; len(from) > 0 && len(is[target.Name]) == 0 {
			all = append(all, Orphan{Target: target, From: from})
		}
	}
	return all
}

// WhyOrphaned explains each orphan in a line, as far as the state s shows the policies of the last apply.
func WhyOrphaned(t *NextTree, s *State, orphans []Orphan) []string {
	if len(orphans) == 0 {
		return nil
	}
	targets := lists.Map(orphans, func(o Orphan) *fleet.DeploymentTarget { return o.Target })
	return explain.Lost(
		context.Background(), t.Args.Fleet, t.Rendered.Tree.Schedule, targets, policyChanges(s, t.Args))
}

// policyChanges compares the policies with those of the last apply.
func policyChanges(s *State, a *Arguments) (c explain.PolicyChanges) {
	if s == nil || s.Inputs == nil || s.Inputs.Objects == nil {
		return c
	}
	const policy = "policy "
	is := a.Inputs().Objects
	for object, before := range s.Inputs.Objects {
		name, isPolicy := strings.CutPrefix(object, policy)
		switch after, stays := is[object]; {
		case !isPolicy || after == before:
		case stays:
			c.Changed = append(c.Changed, name)
		default:
			c.Removed = append(c.Removed, name)
		}
	}
	slices.Sort(c.Changed)
	slices.Sort(c.Removed)
	return c
}

// orphaned refuses that deployment targets of the fleet leave their last cluster types, or returns nil. before are the
// folders that the change starts from.
func (c *Comparison) orphaned(before inventory.Folders) *Refusal {
	if !c.Next.Args.Guardrails.Orphaned.Reports() {
		return nil
	}
	orphans := Orphans(c.Next, before)
	if len(orphans) > 0 {
		orphans = slices.DeleteFunc(orphans, leftByTeam(c.Before, c.Next.Args))
	}
	if len(orphans) == 0 {
		return nil
	}
	e := &Refusal{
		Kind: Orphaned, Names: lists.Map(orphans, func(o Orphan) string { return o.Target.Name }),
		Advice: "\nThe clusters delete what leaves them, and it runs nowhere then. Correct the policy, or the labels that " +
			"it selects by. If a target is no longer needed, its team removes it from the workload.",
	}
	for _, o := range orphans {
		e.stake = append(e.stake, fmt.Sprint(o.Target.Name, o.From))
	}
	listed := orphans[:min(len(orphans), problem.MaxListed)]
	reasons := WhyOrphaned(c.Next, c.Before, listed)
	lines := lists.Map(orphans, func(o Orphan) string { return o.Target.Name })
	for i, o := range listed {
		lines[i] += ": leaves " + leaves(o.From)
		if reasons[i] != "" {
			lines[i] += "; " + strings.TrimSuffix(reasons[i], ".")
		}
	}
	e.Reason = fmt.Sprintf("%s of environment %q, and no policy places %s any more:\n%s",
		problem.OneOrMany(len(orphans), "1 deployment target leaves its last cluster type",
			"%d deployment targets leave their last cluster types"),
		c.Next.Args.Environment, problem.OneOrMany(len(orphans), "it", "them"),
		problem.IndentedList(lines, problem.MaxListed))
	return e
}

// leftByTeam returns a function that reports whether a team took its target off all cluster types: its workload
// changed, and nothing of the platform that may have placed the target changed or went away: no policy, no
// registration, and none of the cluster types that it leaves. What is new takes no target away. No team may stop the
// plan of the others.
func leftByTeam(s *State, a *Arguments) func(Orphan) bool {
	if s == nil || s.Inputs == nil || s.Inputs.Objects == nil {
		return func(Orphan) bool { return false }
	}
	was, is := s.Inputs.Objects, a.Inputs().Objects
	changed := func(object string) bool {
		before, there := was[object]
		return there && is[object] != before
	}
	platform := false
	for object := range was {
		places := strings.HasPrefix(object, "policy ") || strings.HasPrefix(object, "registration ")
		platform = platform || places && changed(object)
	}
	return func(o Orphan) bool {
		return !platform && changed("workload "+o.Target.Workload.Name) &&
			!slices.ContainsFunc(o.From, func(clusterType string) bool { return changed("cluster type " + clusterType) })
	}
}

func leaves(clusterTypes []string) string {
	text := clusterTypes[0]
	if more := len(clusterTypes) - 1; more > 0 {
		text += " and " + problem.Count(more, "more cluster type")
	}
	return text
}

// continuesRollout reports whether the apply continues a rollout to the same tree: its first apply was checked.
func (c *Comparison) continuesRollout() bool {
	under := c.Case.delivered() && c.Before.Rollout.UnderWay()
	return under && c.Before.Rollout.TargetTreeHash == c.Next.TargetTreeHash()
}
