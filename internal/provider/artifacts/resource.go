package artifacts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewResource returns the resource kalypso_oci_artifacts, which publishes the folders of a rendering.
func NewResource() resource.Resource {
	return resources.NewManaged(resources.Managed{
		Name: "oci_artifacts", Schema: artifactsSchema, Identity: identity,
		ReadTimeout: resources.ReadTimeout, WriteTimeout: resources.WriteTimeout,
		Check: func(c *resources.Call) { destinationOf(c.Plan, c.Diags) },
		Plan:  plan, Apply: apply, Read: observe, Destroy: removeAll,
	})
}

// identity identifies the artifacts by their repository. They are not imported: a create takes over those that the
// registry contains.
var identity = resources.Identity{{
	Name: "repository", State: path.Root("repository"), Required: true,
	Description: "The parent of the artifacts' repositories.",
}}

// plan plans the artifacts. What a branch contains at a commit never changes, so the plan may read it: Terraform
// plans again during apply, and gets the same. Only the registry decides on the digest of a changed folder.
func plan(ctx context.Context, c *resources.Call) resources.Model {
	last := readPublished(ctx, c)
	key, keyKnown := readKey(ctx, c.Config, c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	planPublicKey(c, key, keyKnown)
	c.Plan.SetUnknown("artifacts")
	if known(c.Plan) {
		planArtifacts(ctx, c, last)
	}
	return c.Plan
}

// readPublished reads the last publication, which is nil before the first apply.
func readPublished(ctx context.Context, c *resources.Call) published {
	if c.State == nil {
		return nil
	}
	return resources.GetPrivate[published](ctx, c.Private, publishedKey, c.Diags)
}

// planArtifacts plans the artifacts, as far as they can be known.
func planArtifacts(ctx context.Context, c *resources.Call, last published) {
	at := destinationOf(c.Plan, c.Diags)
	if c.Diags.HasError() {
		return
	}
	hashes := map[string]string{}
	switch {
	case c.Plan.IsNull("commit"):
		keepArtifacts(c)
		return
	case last != nil && samePublication(c):
		for clusterType, a := range last {
			hashes[clusterType] = a.TreeHash
		}
	case !c.Known():
		return // unknown
	default:
		ctx, cancel := c.Within(ctx, timeouts.Value.Read, resources.ReadTimeout)
		defer cancel()
		delivery, err := artifacts.Open(ctx, c.Data.Client, at, c.Plan.Text("commit"))
		if err != nil {
			tfvalue.AppendProblems(c.Diags, artifacts.Problems(at, err))
			return
		}
		defer delivery.Close()
		hashes = delivery.TreeHashes()
	}
	planned, err := artifacts.Plan(base(c.Plan, c.Diags), hashes, last)
	if err != nil {
		tfvalue.AppendProblems(c.Diags, artifacts.Problems(at, err))
		return
	}
	setArtifacts(c.Plan, planned)
}

// apply publishes changed folders, and puts tags back. A create takes over the artifacts that the registry contains. An
// update removes the artifacts of cluster types that are gone, or all in the old repository, as on_destroy says.
func apply(ctx context.Context, c *resources.Call) resources.Model {
	last := readPublished(ctx, c)
	key, _ := readKey(ctx, c.Config, c.Diags)
	if c.Diags.HasError() {
		return nil
	}
	now := publish(ctx, c, key, last)
	if !c.Diags.HasError() && !c.Plan.IsNull("commit") {
		gone := slices.DeleteFunc(slices.Collect(maps.Keys(last)), func(clusterType string) bool {
			_, there := now[clusterType]
			return there && c.Plan["repository"].Equal(c.State["repository"])
		})
		removeTags(ctx, c, c.Plan.Text("on_destroy"), last, gone)
	}
	if c.Diags.HasError() {
		return nil
	}
	resources.SetPrivate(ctx, c.Private, publishedKey, now, c.Diags)
	return c.Plan
}

// publish publishes the planned artifacts, sets their digests, and returns them. Without a commit, those of the last
// publication stay.
func publish(ctx context.Context, c *resources.Call, key *sign.Key, last published) published {
	planned := maps.Clone(c.Plan)
	if planned["public_key"].IsUnknown() || !planned.IsNull("commit") {
		setPublicKey(c.Plan, key)
	}
	if planned.IsNull("commit") {
		return last
	}
	if was := planned["public_key"]; !was.IsUnknown() && !was.Equal(c.Plan["public_key"]) {
		c.Diags.AddAttributeError(path.Root("signing").AtName("key"), "The signing key changed after the plan",
			"The apply got a key other than the plan. Nothing was published. Plan and apply again.")
	}
	at, to := destinationOf(c.Plan, c.Diags), publication(c, c.Plan, last)
	to.Key = key
	if c.Diags.HasError() {
		return nil
	}
	delivery, err := artifacts.Open(ctx, c.Data.Client, at, c.Plan.Text("commit"))
	if err != nil {
		tfvalue.AppendProblems(c.Diags, artifacts.Problems(at, err))
		return nil
	}
	defer delivery.Close()
	now, uploads, err := to.Publish(ctx, delivery)
	if err != nil {
		tfvalue.AppendProblems(c.Diags, artifacts.Problems(at, err))
		return nil
	}
	tflog.Info(ctx, "published the artifacts", map[string]any{"artifacts": len(now), "uploads": uploads})
	setArtifacts(c.Plan, now)
	if changed := changedDigests(planned, now); len(changed) > 0 {
		c.Diags.AddAttributeError(path.Root("repository"), "The registry lost artifacts during the apply", fmt.Sprintf(
			"The plan found the manifests of %s, but the apply did not find them and uploaded new ones. Apply again.",
			strings.Join(changed, ", ")))
	}
	return now
}

// removeTags removes the tags of cluster types that are not published any more, if onDestroy says so.
func removeTags(
	ctx context.Context, c *resources.Call, onDestroy string, last published, clusterTypes []string,
) {
	if onDestroy != remove || len(clusterTypes) == 0 {
		return
	}
	if err := publication(c, c.State, last).Remove(ctx, clusterTypes); err != nil {
		tfvalue.AppendProblems(c.Diags, artifacts.Problems(destinationOf(c.State, c.Diags), err))
	}
}

// observe reads which digests the tags in the registry name. It contacts no Git server.
func observe(ctx context.Context, c *resources.Call) resources.Model {
	last := readPublished(ctx, c)
	if c.Diags.HasError() || c.Data.Registries == nil || len(last) == 0 {
		return nil
	}
	found, err := publication(c, c.State, last).Observe(ctx)
	if err != nil {
		tfvalue.AppendProblems(c.Diags, artifacts.Problems(destinationOf(c.State, c.Diags), err))
		return nil
	}
	for clusterType, a := range last {
		a.Missing = found.Missing[clusterType]
		last[clusterType] = a
	}
	setArtifacts(c.State, found.Artifacts)
	setTags(c.State, found.Tags)
	if found.Unsigned {
		setPublicKey(c.State, nil) // the next apply signs
	}
	resources.SetPrivate(ctx, c.Private, publishedKey, last, c.Diags)
	return c.State
}

// removeAll removes the tags, if on_destroy says so.
func removeAll(ctx context.Context, c *resources.Call) {
	last := readPublished(ctx, c)
	if !c.Diags.HasError() {
		removeTags(ctx, c, c.State.Text("on_destroy"), last, slices.Collect(maps.Keys(last)))
	}
}
