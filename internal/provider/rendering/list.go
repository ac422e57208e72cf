package rendering

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
)

// NewList returns the list of the renderings on the branches of a repo.
func NewList() list.ListResource {
	return resources.NewBranchList(resources.BranchList{
		Name: resourceName,
		Description: "Lists the renderings whose record `" + record.File + "` is on a branch of a GitOps repo, " +
			"in any folder, as resources that an import by identity takes over. A record that can't be read causes a warning; " +
			"the other renderings are listed. A record has no objects, so a generated configuration needs its `manifests` or " +
			"its resources before it is applied.",
		Repo:   "URL of the GitOps repo.",
		Advice: "A branch from which a pull request proposes a rendering has a record too: choose globs that leave it out.",
		Find:   listRenderings,
	})
}

// listRenderings adds the renderings on the branches of a repo to the results.
func listRenderings(
	ctx context.Context, data *configuration.Data, repo string, globs []string, results *resources.ListResults,
) error {
	return remote.EachRendering(ctx, data.Client, repo, globs,
		func(at destination.Destination, found *remote.Rendering, err error) bool {
			var unusable *record.Error
			switch {
			case errors.As(err, &unusable):
				return results.Warn(diag.Diagnostics{diag.NewWarningDiagnostic("Record can't be used", problem.Sentence(err))})
			case err != nil:
				return results.WarnOfBranch(at.Repo, at.Branch, err, func(diags *diag.Diagnostics) {
					configuration.AppendDeliveryError(diags, at, err)
				})
			}
			name, identity := found.Environment, map[string]string{
				"environment": found.Environment, "repo": at.Repo, "branch": at.Branch, "path": "",
			}
			if at.Path != "." {
				identity["path"] = at.Path
				name += " in " + at.Path
			}
			return results.Add(ctx, printable.Text(name), identity, func(to *tfsdk.Resource, diags *diag.Diagnostics) {
				state, err := found.State()
				if err != nil {
					configuration.AppendDeliveryError(diags, at, err)
					return
				}
				m := imported(resources.NullModel(to.Schema.GetAttributes()), state, "")
				diags.Append(to.Set(ctx, m.Object())...)
			})
		})
}
