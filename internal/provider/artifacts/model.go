package artifacts

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// published are the artifacts of the last publication, by cluster type. Private state contains them: the state has the
// digests that a refresh read.
type published map[string]artifacts.Artifact

// publishedKey is the key of [published] in private state.
const publishedKey = "published"

// known reports whether everything is known that decides which artifacts there are.
func known(m resources.Model) bool { return m.Decoder().Known("gitops_repo", "commit", "repository") }

// destination returns the location of the rendering, and reports its errors.
func destinationOf(m resources.Model, diags *diag.Diagnostics) destination.Destination {
	var ps problem.Problems
	at := schemas.ReadDestination(m.Reporting(&ps))
	tfvalue.AppendProblems(diags, ps)
	return at
}

// samePublication reports whether the same folders are published as in the state.
func samePublication(c *resources.Call) bool {
	for _, name := range []string{"gitops_repo", "commit", "repository"} {
		if c.State == nil || !c.Plan[name].Equal(c.State[name]) {
			return false
		}
	}
	return true
}

// base returns the repository above those of the artifacts. The schema has checked it.
func base(m resources.Model, diags *diag.Diagnostics) registry.Repository {
	base, err := registry.ParseRepository(m.Text("repository"))
	if err != nil {
		diags.AddAttributeError(path.Root("repository"), "Invalid repository", problem.Sentence(err))
	}
	return base
}

// publication returns where and how the folders of a model are published.
func publication(c *resources.Call, m resources.Model, last published) artifacts.Publication {
	tags := m.Decoder().Strings("tags")
	slices.Sort(tags)
	return artifacts.Publication{
		Client: c.Data.Registries, Base: base(m, c.Diags), Tags: tags, Published: last, Version: c.Data.Version,
		Signer: signer(m),
	}
}

// setArtifacts sets the attribute artifacts. A digest that is not known yet is unknown.
func setArtifacts(m resources.Model, all map[string]artifacts.Artifact) {
	values := make(map[string]tfvalue.Values, len(all))
	for clusterType, a := range all {
		values[clusterType] = tfvalue.ValuesOf(a)
		if a.Digest == "" {
			values[clusterType]["digest"] = types.StringUnknown()
		}
	}
	m.Set(tfvalue.Values{"artifacts": values})
}

// keepArtifacts plans those of the state, while there is no commit.
func keepArtifacts(c *resources.Call) {
	setArtifacts(c.Plan, nil)
	if given, _ := tfvalue.Members(c.State["artifacts"]); len(given) == 0 {
		return
	}
	c.Plan.Keep(c.State, "artifacts")
	if !c.Plan["repository"].Equal(c.State["repository"]) {
		c.Diags.AddAttributeError(path.Root("repository"), "Another repository needs a commit", "commit is null, so nothing "+
			"can be published to another repository. Set commit, or change repository once the rendering has a commit.")
	}
}

// setTags sets the tags to those that the registry has. A set that was not given stays so.
func setTags(m resources.Model, tags []string) {
	if m.IsNull("tags") {
		return
	}
	values := lists.Map(tags, func(tag string) attr.Value { return types.StringValue(tag) })
	m.Set(tfvalue.Values{"tags": types.SetValueMust(types.StringType, values)})
}

// changedDigests returns the cluster types whose planned digest is known, and another than the published one.
func changedDigests(planned resources.Model, now published) (names []string) {
	for clusterType, a := range planned.Decoder().Each("artifacts") {
		if digest := a.String("digest"); !unknown.Is(digest) && digest != now[clusterType].Digest {
			names = append(names, clusterType)
		}
	}
	return names
}
