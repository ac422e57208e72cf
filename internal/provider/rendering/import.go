package rendering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// renderingIdentity identifies a rendering by its environment and destination.
var renderingIdentity = append(resources.Identity{
	{Name: "environment", State: path.Root("environment"), Required: true, Description: "The environment."},
}, resources.GitOpsIdentity...)

// importRendering reads a rendering's record from its branch.
func importRendering(ctx context.Context, c *resources.Call, id string, identity map[string]string) resources.Model {
	of, preview, named := strings.Cut(id, destination.PreviewOfID)
	if named && !slices.Contains(previews, preview) {
		c.Diags.AddError("Invalid import ID", fmt.Sprintf("%q sets the preview to %q, which is not one of %s.",
			id, preview, strings.Join(previews, ", ")))
		return nil
	}
	environment, at, err := destination.ParseImportID(of)
	if identity != nil {
		environment, at = identity["environment"], destination.Destination{Repo: identity["repo"], Branch: identity["branch"]}
		at.Path, err = destination.CleanPath(identity["path"])
	}
	if err != nil {
		c.Diags.AddError("Invalid import ID", problem.Sentence(err))
		return nil
	}
	if !c.Data.CheckKnown(
		"An import reads the GitOps repo, and the provider's credentials are known after apply.", c.Diags) {
		return nil
	}
	state, err := remote.Import(ctx, c.Data.Client, at, environment)
	if errors.Is(err, gitbranch.ErrBranchNotFound) {
		c.Diags.AddError("Branch not found",
			fmt.Sprintf(
				"The repo %s has no branch %q. Check ref in the ID: an import needs a branch that contains the rendering.",
				at.Repo, at.Branch))
		return nil
	}
	if err != nil {
		configuration.AppendDeliveryError(c.Diags, at, err)
		return nil
	}
	writeDelivery(c, state)
	return imported(c.State, state, preview)
}

// imported sets the arguments that a record contains, and the preview. The other arguments stay null.
func imported(m resources.Model, state *delivery.State, preview string) resources.Model {
	at := state.Destination
	repo := tfvalue.Values{"repo": at.Repo, "branch": at.Branch}
	if at.Path != "." {
		repo["path"] = at.Path
	}
	m.Set(tfvalue.Values{
		"environment": state.Environment, "gitops_repo": repo, "promoted_commit": tfvalue.OrNil(state.PromotedCommit),
		"preview": tfvalue.OrNil(preview),
	})
	importedView(m, state).into(m, nil)
	return m
}
