package rendering

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

var _ list.ListResourceWithConfigure = (*renderingList)(nil)

// renderingList lists the renderings that the branches of a GitOps repo contain.
type renderingList struct{ *environmentRendering }

// NewList returns the list of the renderings on the branches of a repo.
func NewList() list.ListResource { return &renderingList{newEnvironmentRendering()} }

// ListResourceConfigSchema implements list.ListResource.
func (*renderingList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schemas.BranchListSchema(
		"Lists the renderings whose record `"+record.File+"` is on a branch of a GitOps repo, "+
			"in any folder, as resources that an import by identity takes over. A record that can't be read causes a warning; "+
			"the other renderings are listed. A record has no objects, so a generated configuration needs its `manifests` or "+
			"its resources before it is applied.",
		"URL of the GitOps repo.",
		"A branch from which a pull request proposes a rendering has a record too: choose globs that leave it out.",
	)
}

// List implements list.ListResource.
func (l *renderingList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	stream.Results = schemas.ListBranches(ctx, req, l.Data, func(
		ctx context.Context, repo string, globs []string, results *schemas.ListResults,
	) error {
		return remote.EachRendering(ctx, l.Data.Client, repo, globs,
			func(at record.Destination, found *remote.Rendering, err error) bool {
				var unusable *record.Error
				switch {
				case errors.As(err, &unusable):
					return results.Warn(diag.Diagnostics{diag.NewWarningDiagnostic("Record can't be used",
						printable.Text(fmt.Sprintf("At %s: %s", at, problem.Sentence(err))))})
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
				return results.Add(
					ctx,
					printable.Text(name),
					identity,
					func(resource *tfsdk.Resource, diags *diag.Diagnostics) {
						state, err := found.State()
						if err != nil {
							configuration.AppendDeliveryError(diags, at, err)
							return
						}
						setImported(ctx, resource, state, "", diags)
					},
				)
			})
	})
}
