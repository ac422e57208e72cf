package provider

import (
	"context"
	"errors"
	"fmt"
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
func appendDeliveryError(diags *diag.Diagnostics, place delivery.Place, err error) {
	repo, text := path.Root("gitops_repo"), printable.Text(err.Error())
	var (
		ownership *delivery.OwnershipError
		moved     *delivery.MovedError
		guardrail *delivery.GuardrailError
		rejected  *gitremote.RejectedError
		remote    *gitremote.Error
		review    *delivery.ReviewError
		host      *hosting.Error
	)
	switch {
	case errors.As(err, &ownership) && len(ownership.Folders) > 0:
		diags.AddAttributeError(repo, "Folders are not this rendering's", fleet.Sentence(err))
	case errors.As(err, &ownership):
		diags.AddAttributeError(repo, "Place is not this rendering's", fleet.Sentence(err))
	case errors.Is(err, delivery.ErrNoRendering):
		diags.AddAttributeError(repo, "No rendering there", fmt.Sprintf("At %s: %s.", place, strings.TrimRight(text, ".")))
	case errors.As(err, &review) && review.Closed:
		diags.AddAttributeError(path.Root("delivery"), "The pull request was closed", fmt.Sprintf(
			"At %s: %s. The next different tree opens a new one; delivery.reopen = true opens one for the same tree.", place, text))
	case errors.As(err, &review):
		diags.AddAttributeError(path.Root("delivery"), "The pull request is not merged yet", fmt.Sprintf(
			"At %s: %s. It stays open, and the next apply goes on waiting. Have it merged, or raise timeouts.", place, text))
	case errors.As(err, &host):
		appendHostError(diags, repo, err)
	case errors.As(err, &moved):
		diags.AddError("The branch moved after the plan was made", fleet.Sentence(err))
	case errors.As(err, &guardrail):
		diags.AddAttributeError(path.Root("guardrails"), "Guardrails stop the change", fmt.Sprintf("At %s: %s", place, text))
	case errors.Is(err, gitops.ErrBranchNotFound):
		diags.AddAttributeError(repo, "Branch not found",
			fmt.Sprintf("The repo %s has no branch %q. Check the name, or push the branch. With the strategy push, create_branch = true creates it; a pull request goes to a branch that is there.", place.Repo, place.Branch))
	case errors.As(err, &rejected):
		diags.AddAttributeError(repo, "The server refused the push", fmt.Sprintf("At %s. %s\n\nNothing was written. Check the branch's protection rules and the repo's hooks.", place, fleet.Sentence(err)))
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
		diags.AddError("Out of time", fmt.Sprintf("At %s: %s. Raise timeouts, or look at why the server is slow.", place, text))
	case gitremote.Summary(err) != "":
		diags.AddAttributeError(repo, gitremote.Summary(err), fleet.Sentence(err))
	case errors.As(err, &remote):
		diags.AddAttributeError(repo, "GitOps repo can't be used", fleet.Sentence(err))
	default:
		diags.AddAttributeError(repo, "GitOps repo can't be used", fmt.Sprintf("At %s: %s.", place, strings.TrimRight(text, ".")))
	}
}
