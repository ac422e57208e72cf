package source

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
)

// NewBaseRepoList returns the list of the BaseRepos on the branches of a control plane.
func NewBaseRepoList() list.ListResource {
	return resources.NewBranchList(resources.BranchList{
		Name: baseRepoName,
		Description: "Lists the branches of a control plane that have a `" + document.File + "`, as resources " +
			"that an import by identity takes over. A file that can't be read causes a warning; the other BaseRepos are " +
			"listed. Replace `promotion` of a generated configuration by a `kalypso_promotion`.",
		Repo: "URL of the control plane's repo.",
		Find: listBaseRepos,
	})
}

// listBaseRepos adds the BaseRepos on the branches of a repo to the results.
func listBaseRepos(
	ctx context.Context, data *configuration.Data, repo string, globs []string, results *resources.ListResults,
) error {
	add := func(at baserepo.EnvironmentBranch, found *baserepo.State, err error) bool {
		if err != nil {
			return results.WarnOfBranch(at.Repo, at.Branch, err, func(diags *diag.Diagnostics) {
				appendBaseRepoError(diags, at, err)
			})
		}
		identity := map[string]string{"repo": at.Repo, "branch": at.Branch}
		return results.Add(ctx, at.Branch, identity, func(resource *tfsdk.Resource, diags *diag.Diagnostics) {
			m := importedBaseRepo(resources.NullModel(resource.Schema.GetAttributes()), found)
			diags.Append(resource.Set(ctx, m.Object())...)
		})
	}
	return remote(data).Each(ctx, repo, globs, add)
}
