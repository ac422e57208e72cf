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

var _ list.ListResourceWithConfigure = (*baseRepoList)(nil)

// baseRepoList lists the BaseRepos on the branches of a control plane.
type baseRepoList struct{ *baseRepo }

// NewBaseRepoList returns the list of the BaseRepos on the branches of a control plane.
func NewBaseRepoList() list.ListResource { return &baseRepoList{newBaseRepo()} }

// ListResourceConfigSchema implements list.ListResource.
func (*baseRepoList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schemas.BranchListSchema(
		"Lists the branches of a control plane that have a `"+document.File+"`, as resources "+
			"that an import by identity takes over. A file that can't be read causes a warning; the other BaseRepos are "+
			"listed. Replace `promotion` of a generated configuration by a `kalypso_promotion`.",
		"URL of the control plane's repo.",
		"",
	)
}

// List implements list.ListResource.
func (l *baseRepoList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	stream.Results = schemas.ListBranches(ctx, req, l.Data, func(
		ctx context.Context, repo string, globs []string, results *schemas.ListResults,
	) error {
		return l.remote().Each(ctx, repo, globs, func(at baserepo.EnvironmentBranch, found *baserepo.State, err error) bool {
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
	})
}
