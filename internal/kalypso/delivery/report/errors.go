package report

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Error returns an error of a check, a delivery, a refresh or a removal as a problem of the argument that fixes
// it. at is the destination. Errors of a host of pull requests are not its concern.
func Error(at destination.Destination, err error) problem.Problem {
	p := deliveryProblem(at, err)
	if p.Summary == "" {
		p = repoProblem(at, err)
	}
	p.Err = err
	return p
}

// acceptAdvice shows how to allow a change.
func acceptAdvice(id delivery.ChangeID) string {
	return fmt.Sprintf(
		"\nTo allow exactly this change, and no other, add its ID:\n  accepted_changes = [%q]", string(id))
}

// deliveryProblem returns an error of package delivery as a problem. For another error, its Summary is empty.
func deliveryProblem(at destination.Destination, err error) problem.Problem {
	var (
		refusal *delivery.Refusal
		drifted *delivery.DriftError
		foreign *pullrequest.ForeignError
		review  *pullrequest.ReviewError
		merging *pullrequest.MergingError
	)
	switch {
	case errors.Is(err, record.ErrNewer):
		return problem.At("The rendering's record is newer than the provider", problem.Sentence(err)+
			" Nothing was written.", "gitops_repo")
	case errors.As(err, &refusal):
		return refusalProblem(at, refusal, err)
	case errors.As(err, &drifted):
		return driftProblem(drifted.State, drift.Fail)
	case errors.As(err, &foreign):
		return problem.At(string(delivery.Occupied), problem.Sentence(err), "gitops_repo")
	case errors.As(err, &review):
		return reviewProblem(at, review)
	case errors.As(err, &merging):
		return problem.At("The pull request is being merged", fmt.Sprintf("At %s: %s", at, problem.Sentence(err)), "delivery")
	case errors.Is(err, delivery.ErrNoRendering):
		return problem.At("No rendering at the destination",
			fmt.Sprintf("At %s: %s.", at, strings.TrimRight(printable.Text(err.Error()), ".")), "gitops_repo")
	}
	return problem.Problem{}
}

// refusedArguments are the arguments that refusals are about, if not gitops_repo.
var refusedArguments = map[delivery.RefusalKind][]string{
	delivery.BranchMoved: nil, delivery.Replaced: nil, delivery.CannotKeep: {"on_assignment_error"},
	delivery.Guardrail: {"guardrails"}, delivery.Emptied: {"guardrails", "emptied"},
	delivery.Orphaned: {"guardrails", "orphaned"}, delivery.TargetsMove: {"guardrails", "moved"},
}

// refusalProblem returns a refusal as a problem. err is or wraps it.
func refusalProblem(at destination.Destination, e *delivery.Refusal, err error) problem.Problem {
	detail := problem.Sentence(err)
	if !strings.HasSuffix(err.Error(), ".") { // it ends with a list
		detail = strings.TrimSuffix(detail, ".")
	}
	if e.Kind == delivery.Guardrail {
		detail = fmt.Sprintf("At %s: %s", at, detail)
	}
	detail += e.Advice
	if e.ID != "" {
		detail += acceptAdvice(e.ID)
	}
	arguments, ok := refusedArguments[e.Kind]
	if !ok {
		arguments = []string{"gitops_repo"}
	}
	return problem.At(string(e.Kind), detail, arguments...)
}

func reviewProblem(at destination.Destination, e *pullrequest.ReviewError) problem.Problem {
	if e.Closed {
		return problem.At("The pull request was closed", fmt.Sprintf(
			"At %s: %s. An apply opens a new one once the rendered tree changes, or with delivery.reopen = true.", at, e),
			"delivery")
	}
	detail := fmt.Sprintf(
		"At %s: %s. It stays open, and the next apply continues to wait. Merge it, or raise timeouts.", at, e)
	if e.Untracked {
		detail += fmt.Sprintf(
			" The state does not know pull request %d, because the rendering is not created yet. The next apply finds it by "+
				"its branch and its description. If you abandon the rendering, close it.",
			e.PullRequest.Number)
	}
	return problem.At("The pull request is not merged yet", detail, "delivery")
}

// repoProblem returns an error of a Git server as a problem of the argument gitops_repo.
func repoProblem(at destination.Destination, err error) problem.Problem {
	var rejected *gitremote.RejectedError
	var interrupted *gitbranch.InterruptedError
	sentence := problem.Sentence(err)
	summary, detail := gitremote.Summary(err), sentence
	switch {
	case errors.As(err, &interrupted):
		return problem.At("The apply was interrupted", problem.Sentence(interrupted)+" Plan again.", "gitops_repo")
	case errors.Is(err, context.Canceled):
		return problem.At("The run was interrupted", fmt.Sprintf(
			"At %s: %s. Plan again: the plan shows what is left to do.", at, printable.Text(err.Error())), "gitops_repo")
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		summary = "Branch not found"
		detail = fmt.Sprintf(
			"The repo %s has no branch %q. Check the name, or push the branch. With the strategy push, create_branch = true "+
				"creates it. A pull request needs a branch that exists.", at.Repo, at.Branch)
	case errors.As(err, &rejected):
		summary = "The server refused the push"
		detail = fmt.Sprintf(
			"At %s. %s\n\nNothing was written. %s", at, sentence, rejected.Advice())
	case errors.Is(err, gitbranch.ErrPushLost):
		summary = "Pushed commit not found on the branch"
		detail = sentence + " Check the server's hooks and replicas, and who else pushes to the branch. Then apply again."
	case errors.Is(err, gitremote.ErrEmptyAnswer): // before the error that caused it
	case errors.Is(err, gitremote.ErrUnauthorized):
		summary = "Credentials refused"
		detail = sentence + " The provider uses the credential whose url is the longest prefix of the repo's URL. It " +
			"needs permission to read and to push."
	case errors.Is(err, gitremote.ErrUnreachable):
		summary = "GitOps repo can't be reached"
		detail = sentence + " Check the URL, the network and the server, and plan again."
	case errors.Is(err, context.DeadlineExceeded):
		return problem.At("Timeout exceeded", fmt.Sprintf(
			"At %s: %s. Raise timeouts, or find out why the server is slow.", at, printable.Text(err.Error())))
	case summary == "":
		summary = "GitOps repo can't be used"
		_, ofRepo := errors.AsType[*gitremote.Error](err)
		_, ofRecord := errors.AsType[*record.Error](err)
		if !ofRepo && !ofRecord { // these name the destination themselves
			detail = fmt.Sprintf("At %s: %s.", at, strings.TrimRight(printable.Text(err.Error()), "."))
		}
	}
	return problem.At(summary, detail, "gitops_repo")
}
