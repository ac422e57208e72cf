package source

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// NewBaseRepoList returns the list of the BaseRepos on the branches of a control plane.
func NewBaseRepoList() list.ListResource {
	r := newBaseRepo()
	return &schemas.BranchList{
		Resource: &r.Resource,
		Description: "Lists the branches of a control plane that have a `" + document.File + "`, as resources " +
			"that an import by identity takes over. A file that can't be read causes a warning; the other BaseRepos are " +
			"listed. Replace `promotion` of a generated configuration by a `kalypso_promotion`.",
		Repo: "URL of the control plane's repo.",
		Find: r.list,
	}
}

// list adds the BaseRepos on the branches of a repo to the results.
func (r *baseRepo) list(ctx context.Context, repo string, globs []string, results *schemas.ListResults) error {
	return r.remote().Each(ctx, repo, globs, func(at baserepo.EnvironmentBranch, found *baserepo.State, err error) bool {
		if err != nil {
			return results.WarnOfBranch(at.Repo, at.Branch, err, func(diags *diag.Diagnostics) {
				appendBaseRepoError(diags, at, err)
			})
		}
		identity := map[string]string{"repo": at.Repo, "branch": at.Branch}
		return results.Add(ctx, at.Branch, identity, func(resource *tfsdk.Resource, diags *diag.Diagnostics) {
			setImportedBaseRepo(ctx, resource, found, diags)
		})
	})
}
