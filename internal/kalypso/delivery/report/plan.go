// Package report turns plans and results of deliveries into problems: the reasons why an apply cannot be made, and
// warnings for the reader of a plan or an apply.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Plan returns the reasons why the apply cannot be made, and warnings for a reviewer of the plan.
func Plan(plan delivery.Plan) (ps problem.Problems) {
	p, effects := plan.All(), delivery.EffectsOf(plan)
	t, before := p.Next, p.State
	for _, err := range p.Errors {
		ps = append(ps, Error(t.Args.Destination, err))
	}
	for _, s := range p.Drift {
		reaction := t.Args.ReactionTo(s)
		if p.Stop != nil || reaction == drift.Overwrite && len(p.Errors) > 0 {
			reaction = driftNamed // the apply overwrites nothing
		}
		ps = append(ps, driftProblem(s, reaction))
	}
	if p.Unproven != "" {
		ps = append(ps, problem.WarningAt("The promoted commit is unproven", fmt.Sprintf(
			"The promotion took commit %s from the branch at %s, and nothing else says that it was promoted. Its gates are "+
				"closed now: %s.\nIf it must not run there, reject it, or pin another commit.",
			printable.Line(t.Args.Promotion.Commit), t.Args.Destination, printable.Line(p.Unproven)), "promotion"))
	}
	ps = append(ps, stopProblems(plan)...)
	if p.Stop != nil {
		return ps
	}
	ps = append(ps, failureProblems(t)...)
	ps = append(ps, adoption(t.Args.Destination, effects.Adoption, "")...)
	ps = append(ps, warnings(effects.Warnings)...)
	switch plan := plan.(type) {
	case *delivery.Write:
		ps = append(ps, renamedTargets(t, before)...)
		if effects.Replaced == "" {
			ps = append(ps, targetsElsewhere(t, before)...)
		}
		if plan.Described == inventory.Whole { // else the apply warns
			ps = append(ps, tooManyReviewers(t, before)...)
		}
	case *delivery.Keep:
		if why := t.Args.Promotion.Waits(); why != "" && p.Withheld == "" {
			ps = append(ps, problem.WarningAt("Nothing is promoted now", why, "promotion"))
		}
		if t.Args.Strategy == destination.PullRequest && before != nil && before.Proposal.Closed() != 0 {
			ps = append(ps, closed(before))
		}
	}
	if effects.Replaced != "" && t.Args.Delivers() {
		folders := problem.Count(before.OwnFolders().Count(), "deployment target folder")
		ps = append(ps, problem.WarningAt("The environment is replaced", fmt.Sprintf(
			"The rendering of environment %q at %s is removed, with %s. The rendering of environment %q replaces it. "+
				"Clusters that sync from its folders get the objects of the new environment, in namespaces with other names. To "+
				"keep both, give each environment its own rendering.",
			effects.Replaced, before.Destination, folders, t.Args.Environment),
			"environment"))
	}
	_, undecided := plan.(*delivery.Undecided)
	readsBranch := delivery.Writes(plan) && p.ReadsBranch() || p.Recovers() // then the branch decides which are used
	if !undecided && !readsBranch && len(p.Errors) == 0 {
		ps = append(ps, spent(t, p.Accepted)...)
	}
	return append(ps, leftProblems(plan)...)
}

// spent notes the IDs in accepted_changes that allow nothing of what the apply does. used are the others.
func spent(t *delivery.NextTree, used []delivery.ChangeID) problem.Problems {
	ids := t.Args.AcceptedChanges.Spent(used)
	if len(ids) == 0 || t.Rendered.Tree == nil || t.Args.Known < inventory.Whole {
		return nil
	}
	return problem.Problems{problem.WarningAt("Accepted changes are no longer needed", fmt.Sprintf(
		"No change of this plan has these IDs. They were applied, or the plan now changes something else. Remove them from "+
			"accepted_changes:\n%s", problem.IndentedList(ids, problem.MaxListed)), "accepted_changes")}
}

// warnings warns of changes that a guardrail allows.
func warnings(allowed []*delivery.Refusal) problem.Problems {
	return problem.Problems(lists.Map(allowed, func(e *delivery.Refusal) problem.Problem {
		return refusalProblem(destination.Destination{}, e, e)
	})).AsWarnings()
}

// renamedTargets warns of deployment targets that have other names: clusters delete the old namespaces.
func renamedTargets(t *delivery.NextTree, before *delivery.State) problem.Problems {
	if !before.Current() || !t.Args.Delivers() {
		return nil
	}
	renames := describe.TargetRenames(t, before.ExistingFolders())
	if len(renames) == 0 {
		return nil
	}
	const listed = 3 // namespaces of a target
	lines := lists.Map(renames, func(r describe.TargetRename) string {
		return fmt.Sprintf("%s → %s: without %s %s", r.Old, r.New,
			problem.OneOrMany(len(r.Namespaces), "namespace", "%d namespaces:"), problem.First(r.Namespaces, listed))
	})
	return problem.Problems{problem.WarningAt(
		problem.OneOrMany(len(renames), "A deployment target has another name", "%d deployment targets have other names"),
		"Their files are the same but for names. Clusters see no rename: they delete the old namespaces with all data in "+
			"them, and create new ones. Move the data first, or keep the old names.\n"+
			problem.IndentedList(lines, problem.MaxListed), "workloads")}
}

// targetsElsewhere warns of deployment targets that were placed here, and that their Workloads now have in other
// environments alone. It may be a typing error.
func targetsElsewhere(t *delivery.NextTree, before *delivery.State) problem.Problems {
	here, elsewhere := map[string]bool{}, map[string][]string{}
	for _, w := range t.Args.Fleet.Workloads {
		for _, target := range w.Targets {
			name := w.Name + "-" + target.Name
			if target.Environment == t.Args.Environment || unknown.Is(target.Environment) || unknown.Is(t.Args.Environment) {
				here[name] = true
			} else {
				elsewhere[name] = append(elsewhere[name], target.Environment)
			}
		}
	}
	gone := map[string]bool{}
	for name := range elsewhere {
		gone[name] = !here[name]
	}
	placed := before.LastFolders().PlacedOf(gone)
	lines := lists.Map(slices.Sorted(maps.Keys(placed)), func(name string) string {
		return fmt.Sprintf("%s: on %s, and now for environment %s", name, problem.First(placed[name], 3),
			printable.Line(problem.First(elsewhere[name], 3)))
	})
	if len(lines) == 0 {
		return nil
	}
	return problem.Problems{problem.WarningAt("Deployment targets leave the environment",
		"Their Workloads have them in other environments alone now. The clusters delete their namespaces with all data in "+
			"them. If the environment is misspelled, its team corrects it first.\n"+
			problem.IndentedList(lines, problem.MaxListed), "workloads")}
}

// stopProblems warns that a stop lets nothing go, with the changes that wait, and that a pull request must not be
// merged.
func stopProblems(plan delivery.Plan) (ps problem.Problems) {
	p, at := plan.All(), ""
	if p.Withheld != "" {
		at = fmt.Sprintf("Pull request %d is a draft, if the host has drafts, and our auto-merge is off: it must not be "+
			"merged now. An apply makes it ready again once the reason is gone.", p.State.Proposal.Number)
	}
	if p.Stop == nil {
		if at != "" {
			ps = append(ps, problem.WarningAt("Pull request must not be merged yet", p.Withheld+" "+at, "delivery"))
		}
		return ps
	}
	switch {
	case p.Args.NoCommit:
		text := strings.TrimSpace("The promotion has no commit, so nothing is written, and nothing of the rendering is " +
			"planned. What was delivered or proposed stays. " + at)
		return problem.Problems{problem.WarningAt("Nothing is promoted yet",
			text+"\n\n"+strings.TrimSpace(printable.Text(p.Args.Promotion.Summary)), "promotion")}
	case p.Stop.Cause == delivery.RolloutPaused:
		why, until := Pause(p.Args.Rollout)
		return problem.Problems{problem.WarningAt("The rollout is paused",
			fmt.Sprintf("%s\nNothing was delivered yet, so nothing is written until %s.", why, until), "rollout")}
	}
	waiting := delivery.Waiting(plan)
	lines := lists.Map(slices.Sorted(maps.Keys(waiting)), func(name string) string {
		return printable.Line(name) + ": " + waiting[name]
	})
	text := p.Stop.Text + " This rendering writes nothing, neither a promotion nor a change of the environment's own."
	if len(lines) > 0 {
		text += fmt.Sprintf("\n%s to change, with deployment targets added (+), removed (-) and changed (~):\n%s",
			problem.OneOrMany(len(lines), "1 cluster type waits", "%d cluster types wait"),
			problem.IndentedList(lines, problem.MaxListed))
	}
	if at != "" {
		text += "\n" + at
	}
	return problem.Problems{problem.WarningAt("The environment is frozen", text, "promotion")}
}

// tooManyReviewers warns that no owner is asked to review the change of a tree.
func tooManyReviewers(t *delivery.NextTree, before *delivery.State) problem.Problems {
	_, all := owners.Asked(t.Args.PullRequest.Reviewers, describe.ReachedOwners(t, before))
	if all == 0 {
		return nil
	}
	return problem.Problems{problem.WarningAt("Owners are not asked", fmt.Sprintf("The change needs %d reviewers, and a "+
		"pull request has at most %d. Only delivery.reviewers are asked; description lists the owners with their folders. "+
		"Let a team review in place of its members, or change fewer folders at once.", all, owners.MaxReviewers),
		"delivery", "owners")}
}

// Pause says why a rollout is paused, and until when.
func Pause(r *rollout.Rollout) (why, until string) {
	if r.Pause != "" {
		return "rollout.pause says: " + printable.Line(r.Pause), "it is removed"
	}
	return fmt.Sprintf("rollout.windows are %s: %s", r.Window.Closed, printable.Line(r.Window.Reason)), "they open"
}

// leftProblems warns about what stays, or stays for now, at locations that the rendering leaves, and about what they
// lose.
func leftProblems(plan delivery.Plan) (ps problem.Problems) {
	p, left := plan.All(), delivery.EffectsOf(plan).Left
	var removed, kept []destination.Destination
	if old, ok := plan.(*delivery.RemoveOld); ok {
		removed, kept = old.Removed, old.Kept
	}
	if left.Paths != "" {
		ps = append(ps, problem.WarningAt("Previous location is kept", fmt.Sprintf(
			"on_move = \"keep\" leaves these paths at %s:\n%s\nThe rendering no longer reads or removes them. Once "+
				"no cluster syncs from there, remove them with Git, as the guide \"The branch\" shows under Remove the old "+
				"folders.",
			p.State.Destination, left.Paths), "on_move"))
	}
	if n := left.PullRequest; n != 0 {
		ps = append(ps, problem.WarningAt("The pull request stays open", fmt.Sprintf(
			"With the strategy none, the provider ignores pull request %d to %s from now on. Close it, or merge it.",
			n, p.State.Destination), "delivery"))
	}
	for _, old := range []struct {
		places                  []destination.Destination
		argument, summary, text string
	}{
		{removed, "gitops_repo", "Previous location will be removed",
			"%[2]s now contains the tree. The apply opens a pull request that removes what was delivered to %[1]s. Merge it " +
				"once no cluster syncs from there."},
		{kept, "on_move", "Previous location is kept",
			"What was delivered to %[1]s stays there. The apply closes the pull request that removes it."},
		{left.Pending, "gitops_repo", "Previous location is kept for now",
			"What was delivered to %[1]s stays until %[2]s contains the tree. Then an apply opens a pull request that removes " +
				"it."},
		{left.Trees, "delivery", "The delivered tree stays on the branch",
			"With the strategy none, neither an apply nor a destroy nor a later move changes or removes what was delivered to " +
				"%[1]s. Delivering another tree to the same location again needs adopt = true."},
	} {
		for _, at := range old.places {
			ps = append(ps, problem.WarningAt(old.summary, fmt.Sprintf(old.text, at, p.Args.Destination), old.argument))
		}
	}
	return ps
}

// RemovedFolders warns about the folders of cluster types that are gone, for a plan in which no attribute shows them.
// It leaves out those that the warning about moves lists.
func RemovedFolders(plan delivery.Plan) problem.Problems {
	t, s := plan.All().Next, plan.All().State
	if t.Rendered.Tree == nil || t.Known == inventory.Unread {
		return nil
	}
	var listed []string
	moves := func(e *delivery.Refusal) bool { return e.Kind == delivery.TargetsMove }
	if slices.ContainsFunc(delivery.EffectsOf(plan).Warnings, moves) {
		renamed := delivery.RenamedTargets(t, s)
		listed = renamed[:min(len(renamed), problem.MaxListed)]
	}
	var lines []string
	for name, folder := range s.LastFolders() {
		path := s.Destination.Join(name)
		renamed := func(line string) bool { return strings.HasPrefix(line, path+" → ") }
		if _, stays := t.Folders[name]; !stays && !slices.ContainsFunc(listed, renamed) {
			lines = append(lines, fmt.Sprintf("%s (%s)", path, problem.Count(len(folder.Targets), "deployment target")))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return problem.Problems{problem.WarningAt("Folders will be removed", fmt.Sprintf("These cluster types are gone, and "+
		"so are their folders. Clusters that sync from them delete their objects. Point them at another folder first:\n%s",
		problem.IndentedList(lines, problem.MaxListed)))}
}

// maxFailedListed limits the assignments and the reasons that the warning lists.
const maxFailedListed = 100

// failureProblems warns about the deployment targets that fail to render: one warning lists all of them with object,
// reason and time.
func failureProblems(n *delivery.NextTree) problem.Problems {
	if n.Failing == nil {
		return nil
	}
	problems, names := n.Rendered.Failed, map[string]bool{}
	for _, f := range slices.Concat(n.Failing.Kept, n.Failing.LeftOut) {
		names[f.DeploymentTarget] = true
	}
	var b strings.Builder
	b.WriteString("Targets that fail to render keep the files that they have on the branch; new targets are left out. " +
		"The next good render puts it right.\n")
	for i, p := range problems {
		if i == maxFailedListed {
			fmt.Fprintf(&b, "\nAnd %s.\n", problem.Count(len(problems)-i, "more reason"))
			break
		}
		reason := strings.TrimRight(cmp.Or(p.Cause, p.Detail), "\n")
		fmt.Fprintf(&b, "\n%s: %s: %s\n%s\n", p.Subject(), p.Summary, reason,
			problem.IndentedList(failureLines(n, p), maxFailedListed))
	}
	summary := problem.OneOrMany(len(names), "A deployment target fails to render", "%d deployment targets fail to render")
	return problem.Problems{problem.WarningAt(summary, b.String(), "on_assignment_error")}
}

// failureLines describes what happens to the assignments that a problem affects.
func failureLines(n *delivery.NextTree, p problem.Problem) (lines []string) {
	affected := n.Failing.AffectedBy(p)
	add := func(all []record.FailedAssignment, becomes string) {
		for _, f := range all {
			if !affected(f) {
				continue
			}
			line := fmt.Sprintf("%s: %s", f, becomes)
			if f.Since != "" {
				line += ", failing since " + printable.Line(f.Since)
			}
			lines = append(lines, line)
		}
	}
	add(n.Failing.Kept, "kept")
	add(n.Failing.Lost, "it is at the old location, and the new one can't keep it")
	switch {
	case len(n.Failing.Lost) > 0:
	case n.Known == inventory.Unread:
		add(n.Failing.LeftOut, "the apply reads whether the branch contains it")
	default:
		add(n.Failing.LeftOut, "left out")
	}
	return lines
}
