package baserepo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// ErrorProblem returns an error of a branch as a problem of the argument that fixes it. Errors of a host of pull
// requests are not its concern.
func ErrorProblem(at EnvironmentBranch, err error) problem.Problem {
	p := func(argument, summary, format string, args ...any) problem.Problem {
		found := problem.At(summary, fmt.Sprintf(format, args...), argument)
		found.Err = err
		return found
	}
	var foreign *pullrequest.ForeignError
	var review *pullrequest.ReviewError
	var merging *pullrequest.MergingError
	var rejected *gitremote.RejectedError
	text := problem.Sentence(err)
	switch {
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		return p("branch", "Branch not found", "The repo %s has no branch %q. Check the name, or push the branch.", at.Repo,
			at.Branch)
	case errors.Is(err, ErrNoFile):
		return p("promotion", "No BaseRepo on the branch", "The root of %s contains no %s, and promotion does not name the "+
			"base. Add the file with a BaseRepo, or pass a kalypso_promotion as a whole.", at, document.File)
	case errors.Is(err, ErrOtherBase):
		return p("promotion", "Promotion from another repo", "At %s: %s Make both the same repo.", at, text)
	case errors.Is(err, ErrMoved):
		return p("branch", "The branch moved after the plan was made", "At %s: %s of %s. Nothing was written. Make a new "+
			"plan: it shows what changed.", at, strings.TrimSuffix(text, "."), document.File)
	case errors.Is(err, document.ErrNoBaseRepo), errors.Is(err, document.ErrInPlace):
		return p("branch", "The BaseRepo can't be changed", "In %s at the root of %s: %s", document.File, at, text)
	case errors.As(err, &foreign):
		return p("delivery", "The pull request's branch is not ours", "%s", text)
	case errors.As(err, &merging):
		return p("delivery", "The pull request is being merged", "At %s: %s", at, text)
	case errors.As(err, &review) && review.Closed:
		return p("delivery", "The pull request was closed", "At %s: %s An apply opens a new one for another commit; "+
			"delivery.reopen = true opens one for the same commit.", at, text)
	case errors.As(err, &review):
		return p("delivery", "The pull request is not merged yet", "At %s: %s It stays open, and the next apply continues "+
			"to wait. Merge it, or raise timeouts.", at, text)
	case errors.As(err, &rejected):
		advice := rejected.Advice()
		if !errors.Is(err, gitremote.ErrProtected) { // whose advice says it
			advice += " With delivery.strategy = \"pull_request\", people merge the change."
		}
		return p("branch", "The server refused the push", "At %s. %s\n\nNothing was written. %s", at, text, advice)
	}
	if summary := gitremote.Summary(err); summary != "" {
		return p("repo", summary, "%s", text)
	}
	return p("repo", "The control plane can't be used", "At %s: %s", at, text)
}

// Problems returns the reasons why the apply cannot be made, and warnings for a reviewer of the plan. s is the state
// that the decision was made from; nil for a create.
func (decision Decision) Problems(d *Desired, s *State) (ps problem.Problems) {
	if decision.Err != nil {
		ps = append(ps, ErrorProblem(d.At, decision.Err))
	}
	if decision.Drifted {
		ps = append(ps, driftProblem(d, s))
	}
	if decision.IdleReason != "" {
		text := decision.IdleReason + " The BaseRepo keeps the commit that it pins."
		if d.Withholds(s) {
			text += fmt.Sprintf(" Pull request %d is a draft, if the host has drafts: it must not be merged now. An "+
				"apply makes it ready again once the reason is gone.", s.Proposal.Number)
		}
		ps = append(ps, problem.WarningAt("The BaseRepo is not changed", text, "promotion"))
	}
	if decision.Closed != 0 {
		ps = append(ps, problem.WarningAt("The pull request was closed", fmt.Sprintf(
			"People closed pull request %d, which promotes %s to %s. An apply opens a new one for another commit. "+
				"delivery.reopen = true opens one for the same commit.", decision.Closed, d.Promotion.Commit, d.At), "delivery"))
	}
	return ps
}

// CreateProblems warns that a create sets another commit than the one that the branch pins now.
func CreateProblems(d *Desired, now *State) (ps problem.Problems) {
	if now.Commit == d.Promotion.Commit || d.Promotion.KeepsCommit() {
		return nil
	}
	return problem.Problems{problem.WarningAt("The commit of the BaseRepo will change", fmt.Sprintf(
		"%s on %s pins %s. The apply sets it to %s.", document.File, d.At, commitText(now.Commit), d.Promotion.Commit),
		"promotion")}
}

// driftProblem reports changes from outside Terraform: as an error, or as a warning if the apply overwrites them.
func driftProblem(d *Desired, s *State) problem.Problem {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at the root of %s pinned %s after the last apply, and pins %s now:\n", document.File, s.At,
		commitText(s.Delivered), commitText(s.Commit))
	for _, drift := range s.Drift {
		if drift.Commit == "" {
			fmt.Fprintf(&b, "\n%s\n", drift.Subject)
			continue
		}
		fmt.Fprintf(&b, "\ncommit %s\n  by %s at %s\n  %s\n", drift.Commit, printable.Line(drift.Author), drift.Time,
			printable.Line(drift.Subject))
	}
	if d.OnDrift == drift.Overwrite {
		return problem.WarningAt("Changes made outside Terraform are overwritten",
			b.String()+fmt.Sprintf("\nThe apply sets it to %s.", d.KeepDelivered(s).Promotion.Commit), "on_drift")
	}
	return problem.At("Drift: BaseRepo changed outside Terraform", b.String()+
		"\nThis may be a revert, or Kalypso's workflows still run. Set pinned_commit of the promotion to keep that commit, "+
		"or on_drift = \"overwrite\" to set the promoted one.", "on_drift")
}

func commitText(commit string) string {
	if commit == "" {
		return "no commit"
	}
	return printable.Line(commit)
}
