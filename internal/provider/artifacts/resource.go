package artifacts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var (
	_ resource.ResourceWithConfigure  = (*ociArtifacts)(nil)
	_ resource.ResourceWithModifyPlan = (*ociArtifacts)(nil)
	_ resource.ResourceWithIdentity   = (*ociArtifacts)(nil)
)

// ociArtifacts publishes the folders of a rendering.
type ociArtifacts struct{ schemas.Resource }

// NewResource returns the resource kalypso_oci_artifacts.
func NewResource() resource.Resource {
	return &ociArtifacts{schemas.NewResource("oci_artifacts", artifactsSchema, identity)}
}

// identity identifies the artifacts by their repository. They are not imported: a create takes over those that the
// registry contains.
var identity = schemas.Identity{{
	Name: "repository", State: path.Root("repository"), Required: true,
	Description: "The parent of the artifacts' repositories.",
}}

// ModifyPlan plans the artifacts. What a branch contains at a commit never changes, so the plan may read it: Terraform
// plans again during apply, and gets the same. Only the registry decides on the digest of a changed folder.
func (r *ociArtifacts) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		return
	}
	diags := &resp.Diagnostics
	plan := schemas.Get[model](ctx, req.Plan, diags)
	state, last := readState(ctx, req.State, req.Private, diags)
	key, known := readKey(ctx, req.Config, diags)
	if diags.HasError() {
		return
	}
	plan.planPublicKey(key, known, state)
	plan.Artifacts = types.MapUnknown(artifactType)
	if plan.known() {
		r.plan(ctx, plan, state, last, diags)
	}
	if !diags.HasError() {
		diags.Append(resp.Plan.Set(ctx, plan)...)
	}
}

// readState reads the state and the last publication, which are nil before the first apply.
func readState(
	ctx context.Context, from tfsdk.State, private schemas.PrivateState, diags *diag.Diagnostics,
) (state *model, last published) {
	if state = schemas.GetState[model](ctx, from, diags); state != nil {
		last = schemas.GetPrivate[published](ctx, private, publishedKey, diags)
	}
	return state, last
}

// plan plans the artifacts, as far as they can be known.
func (r *ociArtifacts) plan(ctx context.Context, plan, state *model, last published, diags *diag.Diagnostics) {
	at := plan.destination(diags)
	if diags.HasError() {
		return
	}
	hashes := map[string]string{}
	switch {
	case plan.Commit.IsNull():
		plan.keepArtifacts(state, diags)
		return
	case last != nil && plan.samePublication(state):
		for clusterType, a := range last {
			hashes[clusterType] = a.TreeHash
		}
	case r.Data == nil || !r.Data.Known:
		return // unknown
	default:
		ctx, cancel := schemas.Within(ctx, plan.Timeouts, timeouts.Value.Read, schemas.ReadTimeout, diags)
		defer cancel()
		delivery, err := artifacts.Open(ctx, r.Data.Client, at, plan.Commit.ValueString())
		if err != nil {
			tfvalue.AppendProblems(diags, artifacts.Problems(at, err))
			return
		}
		defer delivery.Close()
		hashes = delivery.TreeHashes()
	}
	planned, err := artifacts.Plan(plan.base(diags), hashes, last)
	if err != nil {
		tfvalue.AppendProblems(diags, artifacts.Problems(at, err))
		return
	}
	plan.setArtifacts(planned)
}

// Create publishes the artifacts, and takes over those that the registry contains.
func (r *ociArtifacts) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer identity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	diags := &resp.Diagnostics
	plan := schemas.Get[model](ctx, req.Plan, diags)
	key, _ := readKey(ctx, req.Config, diags)
	if diags.HasError() {
		return
	}
	ctx, cancel := schemas.Within(ctx, plan.Timeouts, timeouts.Value.Create, schemas.WriteTimeout, diags)
	defer cancel()
	if now := r.publish(ctx, plan, key, nil, diags); !diags.HasError() {
		diags.Append(resp.State.Set(ctx, plan)...)
		schemas.SetPrivate(ctx, resp.Private, publishedKey, now, diags)
	}
}

// Update publishes changed folders, and puts tags back. Then it removes the artifacts of cluster types that are gone,
// or all in the old repository, as on_destroy says.
func (r *ociArtifacts) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer identity.Set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
	diags := &resp.Diagnostics
	plan := schemas.Get[model](ctx, req.Plan, diags)
	state, last := readState(ctx, req.State, req.Private, diags)
	key, _ := readKey(ctx, req.Config, diags)
	if diags.HasError() {
		return
	}
	ctx, cancel := schemas.Within(ctx, plan.Timeouts, timeouts.Value.Update, schemas.WriteTimeout, diags)
	defer cancel()
	now := r.publish(ctx, plan, key, last, diags)
	if !diags.HasError() && !plan.Commit.IsNull() {
		gone := slices.DeleteFunc(slices.Collect(maps.Keys(last)), func(clusterType string) bool {
			_, there := now[clusterType]
			return there && plan.Repository.Equal(state.Repository)
		})
		state.OnDestroy = plan.OnDestroy
		r.remove(ctx, state, last, gone, diags)
	}
	if !diags.HasError() {
		diags.Append(resp.State.Set(ctx, plan)...)
		schemas.SetPrivate(ctx, resp.Private, publishedKey, now, diags)
	}
}

// publish publishes the planned artifacts, sets their digests, and returns them. Without a commit, those of the last
// publication stay.
func (r *ociArtifacts) publish(
	ctx context.Context, plan *model, key *sign.Key, last published, diags *diag.Diagnostics,
) published {
	planned := *plan
	if plan.PublicKey.IsUnknown() || !plan.Commit.IsNull() {
		plan.setPublicKey(key)
	}
	if plan.Commit.IsNull() {
		return last
	}
	if !planned.PublicKey.IsUnknown() && !planned.PublicKey.Equal(plan.PublicKey) {
		diags.AddAttributeError(path.Root("signing").AtName("key"), "The signing key changed after the plan",
			"The apply got a key other than the plan. Nothing was published. Plan and apply again.")
	}
	at := plan.destination(diags)
	to := plan.publication(r.Data, last, diags)
	to.Key = key
	if diags.HasError() {
		return nil
	}
	delivery, err := artifacts.Open(ctx, r.Data.Client, at, plan.Commit.ValueString())
	if err != nil {
		tfvalue.AppendProblems(diags, artifacts.Problems(at, err))
		return nil
	}
	defer delivery.Close()
	now, uploads, err := to.Publish(ctx, delivery)
	if err != nil {
		tfvalue.AppendProblems(diags, artifacts.Problems(at, err))
		return nil
	}
	tflog.Info(ctx, "published the artifacts", map[string]any{"artifacts": len(now), "uploads": uploads})
	plan.setArtifacts(now)
	if changed := changedDigests(planned.Artifacts, plan.Artifacts); len(changed) > 0 {
		diags.AddAttributeError(path.Root("repository"), "The registry lost artifacts during the apply", fmt.Sprintf(
			"The plan found the manifests of %s, but the apply did not find them and uploaded new ones. Apply again.",
			strings.Join(changed, ", ")))
	}
	return now
}

// remove removes the tags of cluster types that are not published any more, if on_destroy says so.
func (r *ociArtifacts) remove(
	ctx context.Context, m *model, last published, clusterTypes []string, diags *diag.Diagnostics,
) {
	if m.OnDestroy.ValueString() != remove || len(clusterTypes) == 0 {
		return
	}
	if err := m.publication(r.Data, last, diags).Remove(ctx, clusterTypes); err != nil {
		tfvalue.AppendProblems(diags, artifacts.Problems(m.destination(diags), err))
	}
}

// Read reads which digests the tags in the registry name. It contacts no Git server.
func (r *ociArtifacts) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	identity.Set(ctx, &req.State, resp.Identity, &resp.Diagnostics)
	state, last := readState(ctx, req.State, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || r.Data.Registries == nil || len(last) == 0 {
		return
	}
	ctx, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Read, schemas.ReadTimeout, &resp.Diagnostics)
	defer cancel()
	found, err := state.publication(r.Data, last, &resp.Diagnostics).Observe(ctx)
	if err != nil {
		tfvalue.AppendProblems(&resp.Diagnostics, artifacts.Problems(state.destination(&resp.Diagnostics), err))
		return
	}
	for clusterType, a := range last {
		a.Missing = found.Missing[clusterType]
		last[clusterType] = a
	}
	state.setArtifacts(found.Artifacts)
	state.setTags(found.Tags)
	if found.Unsigned {
		state.PublicKey = types.StringNull() // the next apply signs
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
	schemas.SetPrivate(ctx, resp.Private, publishedKey, last, &resp.Diagnostics)
}

// Delete removes the tags, if on_destroy says so.
func (r *ociArtifacts) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	state, last := readState(ctx, req.State, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := schemas.Within(ctx, state.Timeouts, timeouts.Value.Delete, schemas.WriteTimeout, &resp.Diagnostics)
	defer cancel()
	r.remove(ctx, state, last, slices.Collect(maps.Keys(last)), &resp.Diagnostics)
}
