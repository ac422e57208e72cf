package promotion

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/promotionlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewDataSource returns the data source kalypso_promotion.
func NewDataSource() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[promotionlookup.Request]{
		Name: "promotion", Description: promotionDescription, Arguments: schemas.PromotionArguments,
		Computed: schemas.PromotionComputed, Timeout: schemas.TimeoutText("How long reading may take"),
		Credentials: "The provider reads the promoted commit from Git, and its credentials are known after apply.",
		Request:     func(r resources.Reading) promotionlookup.Request { return schemas.ReadPromotionRequest(r.Decoder) },
		Read:        decide,
	})
}

func decide(ctx context.Context, r resources.Reading, request promotionlookup.Request) tfvalue.Values {
	request.Client, request.Host = r.Data.Client, r.Data.HostFor(r.Diags)
	request.Now = r.Data.Now()
	request.Credential = r.Data.HasCredential(request.ControlPlane.Repo, request.GitOps.Repo)
	if r.Diags.HasError() {
		return nil
	}
	found, err := promotionlookup.Decide(ctx, request)
	if err != nil {
		appendPromotionError(r.Diags, request, err)
		return nil
	}
	for _, w := range found.Warnings {
		r.Diags.AddWarning(w.Summary, printable.Text(w.Detail))
	}
	tflog.Info(ctx, "decided on a promotion", map[string]any{
		"environment": request.Rules.Environment, "decision": string(found.Decision), "commit": found.Commit,
		"current": found.Current,
	})
	return schemas.PromotionValues(found)
}

// appendPromotionError turns an error of a decision into a diagnostic.
func appendPromotionError(diags *diag.Diagnostics, request promotionlookup.Request, err error) {
	var remote *gitremote.Error
	controlPlane := path.Root("control_plane")
	switch {
	case errors.Is(err, promotion.ErrNotOnBranch):
		diags.AddAttributeError(path.Root("pinned_commit"), "Pinned commit not on the branch",
			problem.Sentence(err)+" Set the full hash of a commit that was merged to the branch. Commits of pull requests "+
				"and forks are not on it.")
	case errors.Is(err, promotionlookup.ErrNoHost) && errors.Is(err, githost.ErrOtherHost):
		diags.AddAttributeError(controlPlane, "No statuses in this repo", fmt.Sprintf(
			"after, statuses, soak and dwell read commit statuses, and %s is on no configured host. Pass the state of the "+
				"previous environment as deployed, or set base_url of its host in the provider.",
			request.ControlPlane.Repo))
	case errors.Is(err, promotionlookup.ErrCurrent) && errors.As(err, &remote):
		configuration.AppendDeliveryError(diags, request.GitOps, remote)
	case errors.Is(err, promotionlookup.ErrCurrent) && errors.Is(err, record.ErrNewer):
		configuration.AppendDeliveryError(diags, request.GitOps, err)
	case errors.Is(err, promotionlookup.ErrCurrent):
		diags.AddAttributeError(path.Root("gitops_repo"), "The promoted commit can't be read", problem.Sentence(err)+
			" Restore the file from the branch's history.")
	case errors.As(err, &remote):
		diags.AddAttributeError(controlPlane, "The control plane can't be read", problem.Sentence(err))
	default:
		diags.AddAttributeError(controlPlane, "Cannot choose a commit to promote", problem.Sentence(err))
	}
}

const promotionDescription = "Chooses the commit of a control plane that an environment renders: the newest commit " +
	"after the current one whose gates are open. A closed gate is not an error: the environment keeps its commit, and " +
	"its own changes are still delivered. A run checks the gates once and does not wait.\n\nThe gates are commit " +
	"statuses on the commits of the control plane, as Kalypso's workflows and `kalypso_commit_status` set them, or " +
	"states of environments that you pass. An unclear state never promotes a commit; `waiting` and `summary` contain " +
	"the reason. The guide *From dev to prod* shows a chain of environments.\n\nAnyone who may write commit statuses " +
	"in the control plane's repo can open a gate. Set `by` to accept only one app or user."
