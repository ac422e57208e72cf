package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
)

// importForm is how an import names a rendering.
const importForm = "<environment>@<repo>//<path>?ref=<branch>"

// parseImportID reads an ID of the [importForm]; the path may be left out.
func parseImportID(id string) (environment string, place delivery.Place, err error) {
	environment, rest, ok := strings.Cut(id, "@")
	repo, query, hasQuery := strings.Cut(rest, "?")
	if !ok || environment == "" || repo == "" || !hasQuery {
		return "", place, fmt.Errorf("%q is not of the form %s", id, importForm)
	}
	values, err := url.ParseQuery(strings.ReplaceAll(query, "+", "%2B")) // a plus is a plus, not a form's blank
	if err != nil || values.Get("ref") == "" || len(values) != 1 {
		return "", place, fmt.Errorf("%q names no branch; the form is %s", id, importForm)
	}
	from := 0
	if i := strings.Index(repo, "://"); i >= 0 {
		from = i + len("://")
	}
	place = delivery.Place{Repo: repo, Branch: values.Get("ref"), Path: "."}
	if i := strings.LastIndex(repo[from:], "//"); i >= 0 {
		place.Repo = repo[:from+i]
		if place.Path, err = delivery.CleanPath(repo[from+i+len("//"):]); err != nil {
			return "", place, err
		}
	}
	return environment, place, nil
}

// ImportState reads a rendering's record from its branch.
func (r *environmentRendering) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	environment, place, err := parseImportID(req.ID)
	if err != nil {
		resp.Diagnostics.AddError("Invalid import ID", err.Error()+".")
		return
	}
	if !r.data.known {
		resp.Diagnostics.AddError("Provider configuration not known yet", "An import reads the GitOps repo, and the provider's credentials are known after apply.")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	state, record, err := delivery.Import(ctx, r.data.Client, place, environment)
	if errors.Is(err, gitops.ErrBranchNotFound) {
		resp.Diagnostics.AddError("Branch not found",
			fmt.Sprintf("The repo %s has no branch %q. Check ref in the ID: an import reads a rendering that is there.", place.Repo, place.Branch))
		return
	}
	if err != nil {
		appendDeliveryError(&resp.Diagnostics, place, err)
		return
	}
	assignments, folders, count := map[string]attr.Value{}, map[string]string{}, 0
	for name, folder := range state.Delivered {
		assignments[name] = stringListOf(folder.Targets.Names)
		folders[name] = place.Join(name)
		count += folder.Targets.Len()
	}
	repo := map[string]attr.Value{
		"repo": types.StringValue(place.Repo), "branch": types.StringValue(place.Branch), "path": types.StringValue(place.Path),
	}
	if place.Path == "." {
		repo["path"] = types.StringNull()
	}
	values := map[string]attr.Value{} // the others are null: there is no state to begin with
	values["environment"] = types.StringValue(environment)
	values["gitops_repo"] = types.ObjectValueMust(map[string]attr.Type{"repo": types.StringType, "branch": types.StringType, "path": types.StringType}, repo)
	if record.PromotedCommit != "" {
		values["promoted_commit"] = types.StringValue(record.PromotedCommit)
	}
	values["assignments"] = types.MapValueMust(listOfStrings, assignments)
	values["assignment_count"] = types.Int64Value(int64(count))
	values["folders"] = stringMapOf(folders)
	values["tree_hash"] = types.StringValue(state.Delivered.TreeHash().String())
	values["commit_sha"] = types.StringValue(state.Base)
	values["delivered"] = types.BoolValue(true)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), values[name])...)
	}
	writeDelivery(ctx, resp.Private, state, &resp.Diagnostics)
}
