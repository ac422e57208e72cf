package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Result returns warnings about work that the apply left undone, and about what people did during the apply.
func Result(plan delivery.Plan, r *remote.Result) (ps problem.Problems) {
	switch plan.(type) {
	case *delivery.Keep, *delivery.Rest:
		return nil
	}
	if r.Recovered != nil {
		ps = append(ps, driftProblem(r.Recovered, r.Applied.Args.ReactionTo(r.Recovered)))
	}
	if r.Kept != nil {
		ps = append(ps, problem.WarningAt("Previous location was not cleaned up", fmt.Sprintf(
			"%s contains the commit %s too: it is the same branch under another URL, or a copy of it. Nothing was "+
				"removed there.",
			r.Kept,
			r.Commit,
		), "gitops_repo"))
	}
	if r.NoDraft != "" {
		ps = append(ps, problem.WarningAt("The pull request is not a draft", r.NoDraft, "delivery"))
	}
	if r.PullRequest != nil && r.PullRequest.State == githost.Open {
		ps = append(ps, tooManyReviewers(r.Applied, r.Before)...)
	}
	ps = append(ps, removals(r.Removals)...)
	if r.State.Proposal.Closed() != 0 && r.Applied.Args.Strategy == destination.PullRequest {
		ps = append(ps, closed(r.State))
	}
	if r.PullRequest != nil && r.PullRequest.State == githost.Merged && r.State.Drifted() {
		ps = append(ps, problem.WarningAt("The pull request was merged with changes made outside Terraform", fmt.Sprintf(
			"Pull request %d was merged, but %s differs from the rendered tree: people pushed to the pull request, or later "+
				"to the branch. The next plan names their commits.", r.PullRequest.Number, r.State.Destination), "delivery"))
	}
	return ps
}

// closed warns that people closed the pull request.
func closed(s *delivery.State) problem.Problem {
	return problem.WarningAt("The pull request was closed", fmt.Sprintf(
		"Pull request %d to %s was closed without being merged, or was changed to merge into another branch. The branch "+
			"does not contain the tree. An apply opens a new pull request once the rendered tree changes. To open one for this "+
			"tree, set delivery.reopen = true.",
		s.Proposal.Closed(), s.Destination), "delivery")
}

// removals warns about pull requests that remove a delivered tree and are not merged yet.
func removals(all []remote.Removal) (ps problem.Problems) {
	for _, removal := range all {
		if pr := removal.PullRequest; pr.State != githost.Merged {
			ps = append(ps, problem.WarningAt("A pull request removes the rendering", fmt.Sprintf(
				"What was delivered to %s stays there until pull request %d is merged: %s",
				removal.From, pr.Number, pr.URL), "delivery"))
		}
	}
	return ps
}

// driftNamed is the reaction of an apply that overwrites nothing: a warning names the changes.
const driftNamed drift.Reaction = "named"

// driftProblem returns the drift of s with its commits and paths.
func driftProblem(s *delivery.State, reaction drift.Reaction) problem.Problem {
	if s.Proposal == nil && drift.ByApplies(s.Drift) { // else people merged an older pull request of this state
		return otherStateProblem(s, reaction)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "At %s, the rendered folders were changed outside Terraform:\n", s.Destination)
	writeDrift(&b, s)
	const summary = "Drift: rendered folders changed outside Terraform"
	switch {
	case reaction == drift.Overwrite:
		return problem.WarningAt("Changes made outside Terraform are overwritten",
			b.String()+"\nThe apply puts the rendered tree back.", "on_drift")
	case reaction == driftNamed:
		return problem.WarningAt(summary, b.String(), "on_drift")
	case unknown.Is(string(reaction)):
		return problem.WarningAt(summary, b.String()+"\non_drift, or accepted_changes, is known after apply. It decides "+
			"whether the apply stops, or puts the rendered tree back.", "on_drift")
	}
	if s.Reverted() {
		return problem.At(summary, b.String()+"\nThe branch contains exactly what an earlier apply left there: this is a "+
			"revert. Revert the change at its source, too. If a promotion brought it, add its commit to rejected of "+
			"kalypso_promotion. Then the plan is empty. Apply that plan before the next change. If the next change is there "+
			"already, and the fleet no longer renders what was reverted, the apply may put the rendered tree back."+
			acceptAdvice(delivery.DriftID(s)), "on_drift")
	}
	return problem.At(summary, b.String()+"\nThis may be a hotfix or a revert. Bring it into the fleet's objects, or let "+
		"the apply put the rendered tree back. With on_drift = \"overwrite\", it would overwrite every later change, too."+
		acceptAdvice(delivery.DriftID(s)), "on_drift")
}

// writeDrift lists the commits of the drift with their paths.
func writeDrift(b *strings.Builder, s *delivery.State) {
	for _, d := range s.Drift {
		if d.Commit != "" {
			author, subject := printable.Line(d.Author), printable.Line(d.Subject)
			fmt.Fprintf(b, "\ncommit %s\n  by %s at %s\n  %s\n", d.Commit, author, d.Time, subject)
		} else {
			fmt.Fprintf(b, "\n%s:\n", d.Subject)
		}
		for _, path := range d.Paths {
			fmt.Fprintf(b, "  - %s\n", printable.Line(path))
		}
		if d.More > 0 {
			fmt.Fprintf(b, "  - and %d more\n", d.More)
		}
	}
}

// otherStateProblem reports drift that only applies made, which this state does not know: two states own one rendering,
// or an apply ended before it saved its state.
func otherStateProblem(s *delivery.State, reaction drift.Reaction) problem.Problem {
	var b strings.Builder
	fmt.Fprintf(&b, "At %s, an apply with another state changed the rendered folders, as the messages of its "+
		"commits say:\n", s.Destination)
	writeDrift(&b, s)
	const (
		summary = "Drift: another state applied this rendering"
		advice  = "\nOne rendering belongs to one state; else each apply undoes the other one. People may have applied a " +
			"copy of the state, another workspace, or another root module with the same gitops_repo; or an apply ended before " +
			"it saved its state. Keep one state, in a backend that locks it, and give any other rendering its own branch or " +
			"path."
	)
	if reaction != drift.Fail {
		text := b.String() + advice
		if reaction == drift.Overwrite {
			text += " The apply puts the rendered tree of this state back."
		}
		return problem.WarningAt(summary, text, "on_drift")
	}
	return problem.At(summary, b.String()+advice+"\nIf this state is the one to keep, compare both first, and let the "+
		"apply put its tree back."+acceptAdvice(delivery.DriftID(s)), "on_drift")
}

// adoption warns about the foreign folders that the rendering adopts. rest continues the text.
func adoption(at destination.Destination, a delivery.Adoption, rest string) problem.Problems {
	if len(a.Adopted) == 0 {
		return nil
	}
	detail := fmt.Sprintf(
		"At %s, this rendering adopts these folders. The apply removes everything in them that is not rendered:\n%s",
		at, problem.IndentedList(a.Adopted, problem.MaxListed))
	if len(a.Removed) > 0 {
		detail += "\nThese belong to no cluster type and are removed:\n" + problem.IndentedList(
			a.Removed,
			problem.MaxListed,
		)
	}
	return problem.Problems{problem.WarningAt("Existing folders will be adopted", detail+rest, "adopt")}
}

// effects warns about a change of a branch of which the state knows nothing.
func effects(at destination.Destination, adopted delivery.Adoption, lines []string) problem.Problems {
	if len(lines) == 0 {
		return adoption(at, adopted, "")
	}
	told := "What the apply changes there, by cluster type, in deployment targets:\n" +
		problem.IndentedList(lines, len(lines))
	if len(adopted.Adopted) > 0 {
		return adoption(at, adopted, "\n"+told)
	}
	return problem.Problems{problem.WarningAt("The branch contains folders of this rendering", fmt.Sprintf(
		"At %s, the branch contains folders that belong to this rendering by their record. The state does not know them. %s",
		at,
		told,
	), "gitops_repo")}
}

// Checked returns warnings about a branch that a plan read because the state does not know it.
func Checked(plan delivery.Plan, checked remote.Checked) (ps problem.Problems) {
	t := plan.All().Next
	if checked.Recovered != nil {
		ps = append(ps, driftProblem(checked.Recovered, t.Args.ReactionTo(checked.Recovered)))
	}
	if checked.Open != nil {
		ps = append(ps, problem.WarningAt("A pull request is already open", fmt.Sprintf(
			"Pull request %d (%s) proposes this rendering for %s. An unfinished apply opened it. This apply continues with it.",
			checked.Open.Number, checked.Open.URL, t.Args.Destination), "delivery"))
	}
	if change := checked.Change; change != nil {
		if r := change.Branch.Record; r != nil && plan.All().Prior == nil && r.Environment == t.Args.Environment {
			ps = append(ps, problem.WarningAt("The state takes a rendering over", fmt.Sprintf(
				"At %s, the branch contains this rendering already, and the state does not know it. After the apply, it "+
					"belongs to this state. If another state contains it too, each apply undoes the other one: remove it there with "+
					"terraform state rm.", t.Args.Destination), "gitops_repo"))
		}
		ps = append(ps, effects(t.Args.Destination, change.Adoption, checked.Effects)...)
		ps = append(ps, warnings(newWarnings(plan, change))...)
		ps = append(ps, spent(t, slices.Concat(plan.All().Accepted, change.Accepted))...)
	}
	return ps
}

// newWarnings returns the warnings of a change that the plan does not have.
func newWarnings(plan delivery.Plan, change *delivery.Change) []*delivery.Refusal {
	return slices.DeleteFunc(slices.Clone(change.Warnings), func(found *delivery.Refusal) bool {
		return slices.ContainsFunc(delivery.EffectsOf(plan).Warnings, func(known *delivery.Refusal) bool {
			return known.Kind == found.Kind && known.Reason == found.Reason
		})
	})
}

// Refreshed returns warnings about files and branches that a refresh did not find.
func Refreshed(p *delivery.Prior, found *remote.Refreshed) problem.Problems {
	if !found.BranchGone {
		return nil
	}
	return problem.Problems{problem.WarningAt("The branch of a rendering no longer exists", fmt.Sprintf(
		"Environment %q was rendered to %s. That branch no longer exists. The plan creates the rendering again.",
		p.Environment, p.Destination))}
}

// Destroyed returns warnings about trees and pull requests that a destroy left.
func Destroyed(left remote.Destroyed) problem.Problems {
	if left.OccupiedDestination == nil {
		return removals(left.Removals)
	}
	return problem.Problems{problem.WarningAt("Files kept: another rendering now owns them", fmt.Sprintf(
		"Another rendering of this configuration writes to %s. Nothing was removed there.",
		left.OccupiedDestination,
	), "gitops_repo")}
}
