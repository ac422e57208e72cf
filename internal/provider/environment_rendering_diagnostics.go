package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// appendDeliveryError turns an error of reading or writing a place into a diagnostic on the attribute that mends it, as far
// as Terraform can show that: not one that is not set, nor one in an object.
func appendDeliveryError(diags *diag.Diagnostics, at delivery.Destination, err error) {
	repo, text := path.Root("gitops_repo"), printable.Text(err.Error())
	var (
		exists    *delivery.ExistsError
		decisions *delivery.DecisionsError
		ownership *delivery.OwnershipError
		moved     *delivery.MovedError
		guardrail *delivery.GuardrailError
		rejected  *gitremote.RejectedError
		remote    *gitremote.Error
		review    *delivery.ReviewError
		host      *hosting.Error
	)
	var moves *delivery.RolloutMoveError
	switch {
	case errors.As(err, &moves):
		diags.AddAttributeError(repo, "A rollout is under way", fleet.Sentence(err))
	case errors.As(err, &exists):
		diags.AddAttributeError(repo, "The branch holds a rendering of this environment: import it, or adopt", fmt.Sprintf(
			"%s\nIt may be of another configuration, whose changes this one would undo. If it is of this one, and its state was lost, import it with the ID\n"+
				"  %s\nIf the resource was renamed, add a moved block. Or set adopt = true to take the rendering over.", text, renderingImportID(exists.Environment, exists.Destination)))
	case errors.As(err, &decisions):
		diags.AddAttributeError(repo, "The branch holds other decisions of placement: import it", fmt.Sprintf(
			"%s\nImport the rendering: that takes the decisions from the record. Adoption can't. The import's ID is\n  %s", text,
			renderingImportID(decisions.Environment, decisions.Destination)))
	case errors.As(err, &ownership) && len(ownership.Folders) > 0:
		diags.AddAttributeError(repo, "Folders are not this rendering's", fleet.Sentence(err))
	case errors.As(err, &ownership):
		diags.AddAttributeError(repo, "Place is not this rendering's", fleet.Sentence(err))
	case errors.Is(err, delivery.ErrNoRendering):
		diags.AddAttributeError(repo, "No rendering there", fmt.Sprintf("At %s: %s.", at, strings.TrimRight(text, ".")))
	case errors.As(err, &review) && review.Closed:
		diags.AddAttributeError(path.Root("delivery"), "The pull request was closed", fmt.Sprintf(
			"At %s: %s. The next different tree opens a new one; delivery.reopen = true opens one for the same tree.", at, text))
	case errors.As(err, &review):
		diags.AddAttributeError(path.Root("delivery"), "The pull request is not merged yet", fmt.Sprintf(
			"At %s: %s. It stays open, and the next apply goes on waiting. Have it merged, or raise timeouts.%s", at, text, untracked(review)))
	case errors.As(err, &host):
		appendHostError(diags, repo, err)
	case errors.As(err, &moved):
		diags.AddError("The branch moved after the plan was made", fleet.Sentence(err))
	case errors.As(err, &guardrail):
		diags.AddAttributeError(path.Root("guardrails"), "Guardrails stop the change", fmt.Sprintf("At %s: %s", at, text))
	case errors.Is(err, gitops.ErrBranchNotFound):
		diags.AddAttributeError(repo, "Branch not found",
			fmt.Sprintf("The repo %s has no branch %q. Check the name, or push the branch. With the strategy push, create_branch = true creates it; a pull request goes to a branch that is there.", at.Repo, at.Branch))
	case errors.As(err, &rejected):
		diags.AddAttributeError(repo, "The server refused the push", fmt.Sprintf("At %s. %s\n\nNothing was written. Check the branch's protection rules and the repo's hooks.", at, fleet.Sentence(err)))
	case errors.Is(err, gitops.ErrPushLost):
		diags.AddAttributeError(repo, "The branch doesn't hold the push",
			fleet.Sentence(err)+" Look at the server's hooks and replicas, and at who else pushes to the branch, then apply again.")
	case errors.Is(err, gitremote.ErrEmptyAnswer): // before what led to it
		diags.AddAttributeError(repo, gitremote.Summary(err), fleet.Sentence(err))
	case errors.Is(err, gitremote.ErrUnauthorized):
		diags.AddAttributeError(repo, "Credentials refused",
			fleet.Sentence(err)+" The entry whose url is the longest prefix of the repo's is used; it needs the right to read and to push.")
	case errors.Is(err, gitremote.ErrUnreachable):
		diags.AddAttributeError(repo, "GitOps repo can't be reached",
			fleet.Sentence(err)+" Check the URL, the network and the server, and plan again.")
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddError("Out of time", fmt.Sprintf("At %s: %s. Raise timeouts, or look at why the server is slow.", at, text))
	case gitremote.Summary(err) != "":
		diags.AddAttributeError(repo, gitremote.Summary(err), fleet.Sentence(err))
	case errors.As(err, &remote):
		diags.AddAttributeError(repo, "GitOps repo can't be used", fleet.Sentence(err))
	default:
		diags.AddAttributeError(repo, "GitOps repo can't be used", fmt.Sprintf("At %s: %s.", at, strings.TrimRight(text, ".")))
	}
}

// appendBranchChange says what the apply changes on a branch of which the state knows nothing.
func appendBranchChange(diags *diag.Diagnostics, at delivery.Destination, change *delivery.BranchChange) {
	var told string
	if lines := change.Lines(shown); len(lines) > 0 {
		told = "What the apply changes there, by cluster type, in deployment targets:\n" + fleet.IndentedList(lines, len(lines))
	}
	switch {
	case len(change.Adoption.Adopted) > 0:
		if told != "" {
			told = "\n" + told
		}
		diags.AddAttributeWarning(path.Root("adopt"), takenOver, adoptionText(at, change.Adoption)+told)
	case told != "":
		diags.AddAttributeWarning(path.Root("gitops_repo"), "The branch holds folders of this rendering",
			fmt.Sprintf("At %s, the branch holds folders that the state does not know and that are this rendering's by their record. %s", at, told))
	}
}

const takenOver = "Folders are taken over"

// untracked says of a pull request that no state knows how it is found again, and what ends it.
func untracked(review *delivery.ReviewError) string {
	if !review.Untracked {
		return ""
	}
	return fmt.Sprintf(" The state does not know pull request %d, as the rendering is not created yet: the next apply finds it by its branch and its description. "+
		"If you give the rendering up, close it.", review.PullRequest.Number)
}

// appendAdoption says what of others becomes ours.
func appendAdoption(diags *diag.Diagnostics, at delivery.Destination, adoption delivery.Adoption) {
	if len(adoption.Adopted) > 0 {
		diags.AddAttributeWarning(path.Root("adopt"), takenOver, adoptionText(at, adoption))
	}
}

func adoptionText(at delivery.Destination, adoption delivery.Adoption) string {
	detail := fmt.Sprintf("At %s, these folders become this rendering's, and what is in them and not rendered is removed:\n%s", at, fleet.IndentedList(adoption.Adopted, shown))
	if len(adoption.Removed) > 0 {
		detail += "\nThese of them are no cluster type's and go:\n" + fleet.IndentedList(adoption.Removed, shown)
	}
	return detail
}

// appendDrift reports what others did to our folders.
func appendDrift(diags *diag.Diagnostics, onDrift string, s *delivery.State) {
	var b strings.Builder
	fmt.Fprintf(&b, "At %s, others changed what this rendering delivered:\n", s.Destination)
	for _, d := range s.Drift {
		if d.Commit != "" {
			author, subject := printable.Line(d.Author), printable.Line(d.Subject)
			fmt.Fprintf(&b, "\ncommit %s\n  by %s at %s\n  %s\n", d.Commit, author, d.Time, subject)
		} else {
			fmt.Fprintf(&b, "\n%s:\n", d.Subject)
		}
		paths := slices.Clone(d.Paths)
		if d.More > 0 {
			paths = append(paths, fmt.Sprintf("and %d more", d.More))
		}
		for _, p := range paths {
			fmt.Fprintf(&b, "  - %s\n", printable.Line(p))
		}
	}
	switch {
	case onDrift == driftOverwrite:
		diags.AddAttributeWarning(path.Root("on_drift"), "Changes of others are overwritten", b.String()+"\nThe apply puts the rendered tree back.")
	case onDrift == driftNamed:
		diags.AddAttributeWarning(path.Root("on_drift"), "Others changed the rendered folders", b.String())
	case fleet.IsUnknown(onDrift):
		diags.AddAttributeWarning(path.Root("on_drift"), "Others changed the rendered folders", b.String()+
			"\non_drift is known after apply; then it decides whether the apply stops, or puts the rendered tree back.")
	default:
		diags.AddAttributeError(path.Root("on_drift"), "Others changed the rendered folders", b.String()+
			"\nThis may be a hotfix or a revert. Bring it into the fleet's objects, or set on_drift = \"overwrite\" to put the rendered tree back.")
	}
}

// appendReplaced says that the rendering of another environment goes.
func appendReplaced(diags *diag.Diagnostics, d *delivery.Desired, decision *delivery.Decision, before *delivery.State) {
	if decision.Replaced == "" || !d.Delivers() {
		return
	}
	diags.AddAttributeWarning(path.Root("environment"), "The environment is replaced", fmt.Sprintf(
		"The rendering of environment %q at %s goes, with %s, and that of environment %q comes. Clusters that follow its folders get what "+
			"is rendered for the new environment, in namespaces of other names. To keep both, give each environment a rendering of its own.",
		decision.Replaced, before.Destination, fleet.Count(before.Ours().Count(), "deployment target folder"), d.Environment))
}

// appendLeft says what becomes of a delivered tree that is only computed from now on.
func appendLeft(diags *diag.Diagnostics, decision *delivery.Decision, before *delivery.State) {
	if n := decision.LeftOpen; n != 0 {
		diags.AddAttributeWarning(path.Root("delivery"), "The pull request stays open",
			fmt.Sprintf("With the strategy none, nobody looks at pull request %d to %s any more. Close it, or merge it.", n, before.Destination))
	}
	for _, at := range leftPlaces(decision, before) {
		diags.AddAttributeWarning(path.Root("delivery"), "The delivered tree stays on the branch",
			fmt.Sprintf("With the strategy none, what was delivered to %s is neither changed nor removed any more, by a destroy or a later move either. "+
				"Delivering another tree to the same place again needs adopt = true.", at))
	}
}

// leftPlaces returns where delivered trees stay.
func leftPlaces(decision *delivery.Decision, before *delivery.State) []delivery.Destination {
	var all []delivery.Destination
	if decision.Left != nil {
		all = append(all, *decision.Left)
		for _, old := range before.OldPlaces {
			all = append(all, old.State.Destination)
		}
	}
	return all
}

// appendResult says what there is to say of a delivery.
func appendResult(diags *diag.Diagnostics, d *delivery.Desired, result *delivery.Result) {
	if result.Kept != nil {
		diags.AddAttributeWarning(path.Root("gitops_repo"), "The old place was not cleaned",
			fmt.Sprintf("%s holds the commit %s too: it is the same branch under another URL, or a copy of it. Nothing was removed there.", result.Kept, result.Commit))
	}
	appendRemovals(diags, result.Removals)
	appendAbandoned(diags, d, result.State)
	if result.PullRequest != nil && result.PullRequest.State == hosting.Merged && result.State.Drifted() {
		diags.AddAttributeWarning(path.Root("delivery"), "The pull request was merged with changes of others",
			fmt.Sprintf("Pull request %d was merged, and %s holds something else than the rendered tree: people pushed to the pull request, or to the branch since. "+
				"The next plan names their commits.", result.PullRequest.Number, result.State.Destination))
	}
}

// appendRemovals says that what was delivered goes with pull requests.
func appendRemovals(diags *diag.Diagnostics, removals []delivery.Removal) {
	for _, removal := range removals {
		if pr := removal.PullRequest; pr.State != hosting.Merged {
			diags.AddAttributeWarning(path.Root("delivery"), "A pull request removes the rendering",
				fmt.Sprintf("What was delivered stays at %s until pull request %d is merged: %s", removal.From, pr.Number, pr.URL))
		}
	}
}

// appendOldPlaces says when what was delivered to other branches before is removed.
func appendOldPlaces(diags *diag.Diagnostics, d *delivery.Desired, decision *delivery.Decision) {
	for _, at := range decision.Removed {
		diags.AddAttributeWarning(path.Root("gitops_repo"), "The old place is due to be removed",
			fmt.Sprintf("%s holds the tree now. The apply opens a pull request that removes what was delivered to %s before. "+
				"Merge it once no cluster syncs from there.", d.Destination, at))
	}
	for _, at := range decision.Spared {
		diags.AddAttributeWarning(path.Root("on_move"), "The old place is kept",
			fmt.Sprintf("What was delivered to %s stays there. The apply closes the pull request that removes it.", at))
	}
	for _, at := range decision.Leaves {
		diags.AddAttributeWarning(path.Root("gitops_repo"), "The old place stays for now",
			fmt.Sprintf("What was delivered to %s stays until %s holds the tree. Then an apply opens a pull request that removes it.",
				at, d.Destination))
	}
}

// appendTakenUp says that the apply of a create goes on with a pull request that no state knows.
func appendTakenUp(diags *diag.Diagnostics, at delivery.Destination, pr *hosting.PullRequest) {
	if pr != nil {
		diags.AddAttributeWarning(path.Root("delivery"), "A pull request is open already",
			fmt.Sprintf("Pull request %d (%s) proposes this rendering for %s, from an apply that did not end. The apply goes on with it.",
				pr.Number, pr.URL, at))
	}
}

// appendAbandoned says that people closed the pull request.
func appendAbandoned(diags *diag.Diagnostics, d *delivery.Desired, before *delivery.State) {
	if n := before.Abandoned(); n != 0 && d.Strategy == delivery.PullRequest {
		diags.AddAttributeWarning(path.Root("delivery"), "The pull request was closed",
			fmt.Sprintf("Pull request %d to %s was closed without being merged, or made one to another branch: the branch does not hold the tree. "+
				"The next different tree opens a new one; delivery.reopen = true opens one for this tree.", n, before.Destination))
	}
}

func appendProtection(diags *diag.Diagnostics, state *environmentRenderingModel) {
	diags.AddAttributeError(path.Root("deletion_protection"), "The rendering is protected",
		fmt.Sprintf("The rendering of environment %q may not be destroyed: clusters follow its folders. If that is meant, set deletion_protection = false, apply, and destroy then.",
			state.Environment.ValueString()))
}

// shown is how many names a diagnostic lists.
const shown = 20
