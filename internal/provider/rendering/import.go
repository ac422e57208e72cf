package rendering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	gitbranch "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/branch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// renderingIdentity identifies a rendering by its environment and destination.
var renderingIdentity = append(schemas.Identity{
	{Name: "environment", State: path.Root("environment"), Required: true, Description: "The environment."},
}, schemas.GitOpsIdentity...)

// previewOfID separates the preview in an import ID. An import does not see the configuration. Without the preview in
// the ID, it would set all attributes, and if the configuration has preview = "none", the next plan would show them as
// removed.
const previewOfID = "&preview="

// ImportState reads a rendering's record from its branch.
func (r *environmentRendering) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	defer schemas.CleanImport(&resp.Diagnostics)
	id, preview, named := strings.Cut(req.ID, previewOfID)
	if named && !slices.Contains(previews, preview) {
		resp.Diagnostics.AddError("Invalid import ID", fmt.Sprintf("%q sets the preview to %q, which is not one of %s.",
			req.ID, preview, strings.Join(previews, ", ")))
		return
	}
	environment, at, err := record.ParseImportID(id)
	if given := renderingIdentity.Imported(ctx, req, &resp.Diagnostics); given != nil {
		environment, at = given["environment"], record.Destination{Repo: given["repo"], Branch: given["branch"]}
		at.Path, err = record.CleanPath(given["path"])
	}
	if err != nil {
		resp.Diagnostics.AddError("Invalid import ID", problem.Sentence(err))
		return
	}
	if !r.Data.CheckKnown(
		"An import reads the GitOps repo, and the provider's credentials are known after apply.", &resp.Diagnostics) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, schemas.ReadTimeout)
	defer cancel()
	state, err := remote.Import(ctx, r.Data.Client, at, environment)
	if errors.Is(err, gitbranch.ErrBranchNotFound) {
		resp.Diagnostics.AddError("Branch not found",
			fmt.Sprintf(
				"The repo %s has no branch %q. Check ref in the ID: an import needs a branch that contains the rendering.",
				at.Repo, at.Branch))
		return
	}
	if err != nil {
		configuration.AppendDeliveryError(&resp.Diagnostics, at, err)
		return
	}
	setImported(ctx, &resp.State, state, preview, &resp.Diagnostics)
	writeDelivery(ctx, state, &resp.Diagnostics)
}

// setImported sets the arguments that a record contains, and the preview. The other arguments stay null.
func setImported(
	ctx context.Context, to schemas.ImportedResource, state *past.State, preview string, diags *diag.Diagnostics,
) {
	at := state.Destination
	repo := map[string]attr.Value{
		"repo": types.StringValue(at.Repo), "branch": types.StringValue(at.Branch), "path": types.StringValue(at.Path),
	}
	if at.Path == "." {
		repo["path"] = types.StringNull()
	}
	diags.Append(to.SetAttribute(ctx, path.Root("environment"), state.Environment)...)
	imported := schemas.Get[environmentRenderingModel](ctx, to, diags)
	if imported == nil {
		return
	}
	imported.GitOpsRepo = types.ObjectValueMust(imported.GitOpsRepo.AttributeTypes(ctx), repo)
	imported.PromotedCommit = tfvalue.Nullable(state.PromotedCommit)
	switch imported.Preview = tfvalue.Nullable(preview); preview {
	case previewSummary:
		imported.Summary = summaryOf(state.Delivered.Summary(nil, nil))
	case previewNone:
	default:
		imported.Assignments, imported.Folders = assignmentsOf(state.Delivered), foldersOf(at, state.Delivered)
	}
	imported.AssignmentCount = types.Int64Value(int64(state.Delivered.Count()))
	imported.TreeHash = types.StringValue(state.Delivered.TreeHash().String())
	if r := state.Rollout; r != nil {
		imported.TargetTreeHash, imported.RolloutStatus = tfvalue.Nullable(r.TargetTreeHash), tfvalue.Nullable(r.Status())
	}
	imported.setDelivery(state.Base, types.BoolValue(state.Rollout == nil || state.Rollout.Complete), nil)
	diags.Append(to.Set(ctx, imported)...)
}
