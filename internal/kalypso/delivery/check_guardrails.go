package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// checkUnscheduled reports the deployment targets that no policy assigns, each with the policy that matches best, and
// the policies that assign nothing.
func checkUnscheduled(
	ctx context.Context, reaction problem.Reaction, f *fleet.Fleet, s *schedule.Schedule) (ps problem.Problems) {
	if reaction == problem.Ignore || unknown.Is(string(reaction)) {
		return nil
	}
	why, idle := explain.Unplaced(ctx, f, s)
	if why != "" {
		p := problem.WarningAt(unscheduledSummary, why, "unscheduled")
		p.Severity = reaction.Severity()
		ps = append(ps, p)
	}
	if idle != "" {
		ps = append(ps, problem.WarningAt("Policies that place nothing", idle, "unscheduled"))
	}
	return ps
}

const unscheduledSummary = "Deployment targets that no policy places"

// IsUnscheduled reports whether a problem lists the deployment targets that no policy places.
func IsUnscheduled(p problem.Problem) bool { return p.Summary == unscheduledSummary }

// whyEmpty explains why no cluster type gets a deployment target, or returns "".
func whyEmpty(r *Rendered) string {
	s := r.Tree.Schedule
	if s == nil || s.AssignmentCount > 0 {
		return ""
	}
	targets, policies := explain.Unplaced(context.Background(), r.Args.Fleet, s)
	return strings.Trim(targets+"\n"+policies, "\n")
}

// checkEmpty returns an error if the first delivery of a tree would contain no file with content, or nil. r is
// the rendered fleet, which explains it.
func checkEmpty(g Guardrails, wanted inventory.Folders, r *Rendered) *Refusal {
	if g.AllowEmpty || wanted.MayHaveContent() {
		return nil
	}
	reason := "The tree would be empty: no deployment target has a file with content. Check the environment's name, the " +
		"workloads and the scheduling policies: the branch contains folders already. If the rendering may be empty at any " +
		"time, set guardrails.allow_empty = true."
	if text := whyEmpty(r); text != "" {
		reason += "\n" + text
	}
	return &Refusal{Kind: Guardrail, Reason: reason, stake: wanted.Stake()}
}

// checkRemoved returns an error if the change from before to after removes too much, or nil. A target whose files all
// become empty counts as removed. If replaced, for example by another environment, all targets of before count as
// removed.
func checkRemoved(g Guardrails, before, after inventory.Folders, replaced bool) *Refusal {
	removed, total := before.RemovedBy(after, replaced)
	var reason string
	switch {
	case len(removed) == 0:
		return nil
	case len(removed) == total && !g.AllowEmpty:
		reason = fmt.Sprintf("The change removes %s, and guardrails.allow_empty is false.", allFolders(total))
	case !g.RemovedLimit().Allows(len(removed), total):
		reason = fmt.Sprintf("The change removes %d of %s, and guardrails.max_removed is %q.",
			len(removed), problem.Count(total, "deployment target folder"), g.RemovedLimit())
	default:
		return nil
	}
	return tooManyRemoved(reason, removed)
}

// tooManyRemoved refuses a change that removes targets, which [inventory.Folders.RemovedBy] found.
func tooManyRemoved(reason string, removed map[string]inventory.ShortHash) *Refusal {
	e := &Refusal{Kind: Guardrail, Names: slices.Sorted(maps.Keys(removed))}
	e.Reason = reason + " It would remove:\n" + problem.IndentedList(e.Names, problem.MaxListed)
	for _, target := range e.Names {
		e.stake = append(e.stake, target, removed[target].String())
	}
	return e
}

// checkMove returns an error if a move must not remove all folders from the old location, or nil.
func checkMove(g Guardrails, from destination.Destination, existing inventory.Folders) *Refusal {
	removed, total := existing.RemovedBy(nil, true)
	if total == 0 || g.AllowEmpty && g.RemovedLimit().Allows(total, total) {
		return nil
	}
	e := tooManyRemoved(fmt.Sprintf(
		"The rendering moves away from %s. Everything that this location loses counts as removed: %s. Clusters that still "+
			"sync from there would delete the objects of these folders. Set on_move = \"keep\" to keep folders and record "+
			"there. Accept the move only if no cluster syncs from there.", from, allFolders(total)), removed)
	e.stake = append(e.stake, from.String())
	return e
}

func allFolders(total int) string {
	return problem.OneOrMany(total, "the only deployment target folder", "all %d deployment target folders")
}
