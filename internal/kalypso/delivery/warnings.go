package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// Problems returns why the apply can't be made, and what a reviewer of the plan has to know besides what changes.
func (decision *Decision) Problems() (ps problem.Problems) {
	t, before := decision.Applied, decision.Before
	for _, err := range decision.Errors {
		ps = append(ps, NewProblem(t.Destination, err))
	}
	for _, s := range decision.Drift {
		reaction := t.OnDrift
		if decision.Rests != "" || reaction == DriftOverwrite && len(decision.Errors) > 0 {
			reaction = driftNamed // the apply overwrites nothing
		}
		ps = append(ps, s.driftProblem(reaction))
	}
	ps = append(ps, decision.restProblems()...)
	if decision.Rests != "" {
		return ps
	}
	ps = append(ps, decision.failureProblems()...)
	ps = append(ps, decision.Adoption.problems(t.Destination, "")...)
	ps = append(ps, checkMoves(decision.Moves, t.Guardrails.Moved, t.Rollout != nil, decision.Renamed)...)
	if decision.Replaced != "" && t.Delivers() {
		folders := problem.Count(before.Ours().Count(), "deployment target folder")
		ps = append(ps, warning("The environment is replaced", fmt.Sprintf(
			"The rendering of environment %q at %s is removed, with %s. The rendering of environment %q replaces it. "+
				"Clusters that sync from its folders get the objects of the new environment, in namespaces with other names. To "+
				"keep both, give each environment its own rendering.",
			decision.Replaced, before.Destination, folders, t.Environment),
			"environment"))
	}
	if decision.ClosedPullRequest != 0 && decision.Action == Keep {
		ps = append(ps, before.closedProblem())
	}
	return slices.Concat(ps, decision.oldLocationProblems(), decision.computeOnlyProblems())
}

// restProblems warns that the apply writes nothing, with what waits, and that a pull request must not be merged.
func (decision *Decision) restProblems() (ps problem.Problems) {
	at := ""
	if decision.Withheld != "" {
		at = fmt.Sprintf("Pull request %d is a draft, if the host has drafts, and our auto-merge is off: it must not be "+
			"merged now. It comes back by itself.", decision.Before.Proposal.Number)
	}
	switch {
	case decision.Rests == "" && at != "":
		return problem.Problems{warning("Pull request must not be merged yet", decision.Withheld+" "+at, "delivery")}
	case decision.Rests == "":
		return nil
	case decision.Applied.NoCommit:
		return problem.Problems{warning("Nothing is promoted yet", "The promotion has no commit, so nothing is written, and "+
			"nothing of the rendering is planned. What was delivered or proposed stays.\n\n"+strings.TrimSpace(
			printable.Text(decision.Applied.Promotion.Summary)), "promotion")}
	case decision.Step != nil:
		return problem.Problems{warning("The rollout is paused", fmt.Sprintf("rollout.pause says: %s\nNothing was delivered "+
			"yet, so nothing is written until it is removed.", printable.Line(decision.Step.Paused)), "rollout")}
	}
	lines := make([]string, 0, len(decision.Waiting))
	for _, name := range slices.Sorted(maps.Keys(decision.Waiting)) {
		lines = append(lines, printable.Line(name)+": "+decision.Waiting[name])
	}
	text := decision.Rests + " This rendering writes nothing, neither a promotion nor a change of the environment's own."
	if len(lines) > 0 {
		text += fmt.Sprintf("\n%s to change, with deployment targets added (+), removed (-) and changed (~):\n%s",
			waits(len(lines)), problem.IndentedList(lines, maxListed))
	}
	if at != "" {
		text += "\n" + at
	}
	return problem.Problems{warning("The environment is frozen", text, "promotion")}
}

func waits(n int) string {
	if n == 1 {
		return "1 cluster type waits"
	}
	return fmt.Sprintf("%d cluster types wait", n)
}

// oldLocationProblems warns about what other branches keep for now, or lose.
func (decision *Decision) oldLocationProblems() (ps problem.Problems) {
	destination := decision.Applied.Destination
	for _, at := range decision.OldRemoved {
		ps = append(ps, warning("Previous location will be removed", fmt.Sprintf(
			"%s now holds the tree. The apply opens a pull request that removes what was delivered to %s. Merge it once no "+
				"cluster syncs from there.", destination, at), "gitops_repo"))
	}
	for _, at := range decision.OldKept {
		ps = append(ps, warning("Previous location is kept", fmt.Sprintf(
			"What was delivered to %s stays there. The apply closes the pull request that removes it.", at), "on_move"))
	}
	for _, at := range decision.OldKeptForNow {
		ps = append(ps, warning("Previous location is kept for now", fmt.Sprintf(
			"What was delivered to %s stays until %s holds the tree. Then an apply opens a pull request that removes it.",
			at, destination), "gitops_repo"))
	}
	return ps
}

// computeOnlyProblems warns about what stays behind once a delivered tree is only computed.
func (decision *Decision) computeOnlyProblems() (ps problem.Problems) {
	before := decision.Before
	if n := decision.LeftPullRequest; n != 0 {
		ps = append(ps, warning("The pull request stays open", fmt.Sprintf(
			"With the strategy none, the provider ignores pull request %d to %s from now on. Close it, or merge it.",
			n, before.Destination), "delivery"))
	}
	if decision.LeftTree == nil {
		return ps
	}
	for _, at := range append([]record.Destination{*decision.LeftTree}, destinations(before.OldLocations)...) {
		ps = append(ps, warning("The delivered tree stays on the branch", fmt.Sprintf(
			"With the strategy none, neither an apply nor a destroy nor a later move changes or removes what was delivered "+
				"to %s. Delivering another tree to the same location again needs adopt = true.", at), "delivery"))
	}
	return ps
}

// OnDrift is the reaction to changes of others in the rendering's folders.
type OnDrift string

// The reactions. [unknown.Text] says that the reaction is not known yet.
const (
	DriftFail      OnDrift = "fail"      // the plan fails
	DriftOverwrite OnDrift = "overwrite" // the apply overwrites the changes

	driftNamed OnDrift = "named" // a warning names the changes; not configurable
)

// DriftError says that others changed the folders of a rendering, and that on_drift does not allow to overwrite that.
type DriftError struct{ State *State }

// Error implements error.
func (e *DriftError) Error() string {
	return "others changed the rendered folders at " + e.State.Destination.String()
}

// driftProblem returns the drift of s with its commits and paths.
func (s *State) driftProblem(reaction OnDrift) problem.Problem {
	var b strings.Builder
	fmt.Fprintf(&b, "At %s, others changed what this rendering delivered:\n", s.Destination)
	for _, d := range s.Drift {
		if d.Commit != "" {
			author, subject := printable.Line(d.Author), printable.Line(d.Subject)
			fmt.Fprintf(&b, "\ncommit %s\n  by %s at %s\n  %s\n", d.Commit, author, d.Time, subject)
		} else {
			fmt.Fprintf(&b, "\n%s:\n", d.Subject)
		}
		for _, path := range d.Paths {
			fmt.Fprintf(&b, "  - %s\n", printable.Line(path))
		}
		if d.More > 0 {
			fmt.Fprintf(&b, "  - and %d more\n", d.More)
		}
	}
	const summary = "Drift: rendered folders changed outside Terraform"
	switch {
	case reaction == DriftOverwrite:
		return warning("Changes made outside Terraform are overwritten",
			b.String()+"\nThe apply puts the rendered tree back.", "on_drift")
	case reaction == driftNamed:
		return warning(summary, b.String(), "on_drift")
	case unknown.Is(string(reaction)):
		return warning(summary, b.String()+
			"\non_drift is known after apply. It decides whether the apply stops, or puts the rendered tree back.", "on_drift")
	}
	if s.Reverted() {
		return problem.At(summary, b.String()+"\nThe branch holds exactly what an earlier apply left there: this is a "+
			"revert. Take the change back where it came from, too. If a promotion brought it, name its commit in rejected of "+
			"kalypso_promotion. Then the plan is empty. Apply that plan before the next change. If the next change is there "+
			"already, and the fleet no longer renders what was reverted, set on_drift = \"overwrite\" for one apply.",
			"on_drift")
	}
	return problem.At(summary, b.String()+"\nThis may be a hotfix or a revert. Bring it into the fleet's objects, "+
		"or set on_drift = \"overwrite\" to put the rendered tree back.", "on_drift")
}

// problems warns about the folders of others that the rendering adopts. rest continues the text.
func (a Adoption) problems(at record.Destination, rest string) problem.Problems {
	if len(a.Adopted) == 0 {
		return nil
	}
	detail := fmt.Sprintf(
		"At %s, this rendering adopts these folders. The apply removes what is in them and not rendered:\n%s",
		at, problem.IndentedList(a.Adopted, maxListed))
	if len(a.Removed) > 0 {
		detail += "\nThese belong to no cluster type and are removed:\n" + problem.IndentedList(a.Removed, maxListed)
	}
	return problem.Problems{warning("Folders are adopted", detail+rest, "adopt")}
}

// Problems warns about a change of a branch of which the state knows nothing.
func (c *BranchChange) Problems(at record.Destination) problem.Problems {
	told := ""
	if lines := c.Lines(maxListed); len(lines) > 0 {
		told = "What the apply changes there, by cluster type, in deployment targets:\n" +
			problem.IndentedList(lines, len(lines))
	}
	switch {
	case told == "":
		return c.Adoption.problems(at, "")
	case len(c.Adoption.Adopted) > 0:
		return c.Adoption.problems(at, "\n"+told)
	}
	return problem.Problems{warning("The branch holds folders of this rendering", fmt.Sprintf(
		"At %s, the branch holds folders that belong to this rendering by their record. The state does not know them. %s",
		at, told), "gitops_repo")}
}

// warnings returns what the apply left undone, and what people did meanwhile.
func (r *Result) warnings() (ps problem.Problems) {
	if r.Kept != nil {
		ps = append(ps, warning("Previous location was not cleaned up", fmt.Sprintf(
			"%s holds the commit %s too: it is the same branch under another URL, or a copy of it. Nothing was removed there.",
			r.Kept, r.Commit), "gitops_repo"))
	}
	if r.NoDraft != "" {
		ps = append(ps, warning("The pull request is no draft", r.NoDraft, "delivery"))
	}
	ps = append(ps, removalProblems(r.Removals)...)
	if r.State.ClosedPullRequest() != 0 && r.Applied.Strategy == PullRequest {
		ps = append(ps, r.State.closedProblem())
	}
	if r.PullRequest != nil && r.PullRequest.State == hosting.Merged && r.State.Drifted() {
		ps = append(ps, warning("The pull request was merged with changes of others", fmt.Sprintf(
			"Pull request %d was merged, but %s differs from the rendered tree: others pushed to the pull request, or later "+
				"to the branch. The next plan names their commits.", r.PullRequest.Number, r.State.Destination), "delivery"))
	}
	return ps
}

// closedProblem warns that people closed the pull request.
func (s *State) closedProblem() problem.Problem {
	return warning("The pull request was closed", fmt.Sprintf(
		"Pull request %d to %s was closed without being merged, or was changed to merge into another branch. The branch "+
			"does not hold the tree. The next different tree opens a new pull request; "+
			"delivery.reopen = true opens one for this tree.",
		s.ClosedPullRequest(), s.Destination), "delivery")
}

// removalProblems warns about pull requests that remove what was delivered and that are not merged yet.
func removalProblems(removals []Removal) (ps problem.Problems) {
	for _, removal := range removals {
		if pr := removal.PullRequest; pr.State != hosting.Merged {
			ps = append(ps, warning("A pull request removes the rendering", fmt.Sprintf(
				"What was delivered to %s stays there until pull request %d is merged: %s",
				removal.From, pr.Number, pr.URL), "delivery"))
		}
	}
	return ps
}

// openProblem warns that the apply of a create continues with a pull request that the state does not know.
func openProblem(at record.Destination, pr *hosting.PullRequest) problem.Problem {
	return warning("A pull request is already open", fmt.Sprintf(
		"Pull request %d (%s) proposes this rendering for %s. An unfinished apply opened it. This apply continues with it.",
		pr.Number, pr.URL, at), "delivery")
}
