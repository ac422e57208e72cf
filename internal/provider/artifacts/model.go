package artifacts

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// model contains the attributes of the resource.
type model struct {
	GitOpsRepo types.Object   `tfsdk:"gitops_repo"`
	Commit     types.String   `tfsdk:"commit"`
	Repository types.String   `tfsdk:"repository"`
	Tags       types.Set      `tfsdk:"tags"`
	OnDestroy  types.String   `tfsdk:"on_destroy"`
	Signing    types.Object   `tfsdk:"signing"` // its attributes are write-only: see readKey
	PublicKey  types.String   `tfsdk:"public_key"`
	Artifacts  types.Map      `tfsdk:"artifacts"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
}

// published are the artifacts of the last publication, by cluster type. Private state contains them: the state has the
// digests that a refresh read.
type published map[string]artifacts.Artifact

// publishedKey is the key of [published] in private state.
const publishedKey = "published"

// known reports whether everything is known that decides which artifacts there are.
func (m *model) known() bool {
	return tfvalue.WhollyKnown(m.GitOpsRepo) && !m.Commit.IsUnknown() && !m.Repository.IsUnknown()
}

// destination returns the location of the rendering, and reports its errors.
func (m *model) destination(diags *diag.Diagnostics) record.Destination {
	var ps problem.Problems
	at := schemas.ReadDestination(tfvalue.NewModelDecoder(m, &ps))
	tfvalue.AppendProblems(diags, ps)
	return at
}

// samePublication reports whether the same folders are published as in the state.
func (m *model) samePublication(state *model) bool {
	return state != nil && m.GitOpsRepo.Equal(state.GitOpsRepo) && m.Commit.Equal(state.Commit) &&
		m.Repository.Equal(state.Repository)
}

// base returns the repository above those of the artifacts. The schema has checked it.
func (m *model) base(diags *diag.Diagnostics) registry.Repository {
	base, err := registry.ParseRepository(m.Repository.ValueString())
	if err != nil {
		diags.AddAttributeError(path.Root("repository"), "Invalid repository", problem.Sentence(err))
	}
	return base
}

// publication returns where and how the folders are published.
func (m *model) publication(data *configuration.Data, last published, diags *diag.Diagnostics) artifacts.Publication {
	tags := tfvalue.NewModelDecoder(m, new(problem.Problems)).Strings("tags") // the schema has checked the types
	slices.Sort(tags)
	return artifacts.Publication{
		Client: data.Registries, Base: m.base(diags), Tags: tags, Published: last, Version: data.Version, Signer: m.signer(),
	}
}

// setArtifacts sets the attribute artifacts. A digest that is not known yet is unknown.
func (m *model) setArtifacts(all map[string]artifacts.Artifact) {
	values := make(map[string]attr.Value, len(all))
	for clusterType, a := range all {
		digest := types.StringValue(a.Digest)
		if a.Digest == "" {
			digest = types.StringUnknown()
		}
		values[clusterType] = types.ObjectValueMust(artifactType.AttrTypes, map[string]attr.Value{
			"ref": types.StringValue(a.Ref), "digest": digest, "tree_hash": types.StringValue(a.TreeHash),
		})
	}
	m.Artifacts = types.MapValueMust(artifactType, values)
}

// keepArtifacts plans those of the state, while there is no commit.
func (m *model) keepArtifacts(state *model, diags *diag.Diagnostics) {
	m.setArtifacts(nil)
	if state == nil || len(state.Artifacts.Elements()) == 0 {
		return
	}
	m.Artifacts = state.Artifacts
	if !m.Repository.Equal(state.Repository) {
		diags.AddAttributeError(path.Root("repository"), "Another repository needs a commit", "commit is null, so nothing "+
			"can be published to another repository. Set commit, or change repository once the rendering has a commit.")
	}
}

// setTags sets the tags to those that the registry has. A set that was not given stays so.
func (m *model) setTags(tags []string) {
	if m.Tags.IsNull() {
		return
	}
	values := lists.Map(tags, func(tag string) attr.Value { return types.StringValue(tag) })
	m.Tags = types.SetValueMust(types.StringType, values)
}

// changedDigests returns the cluster types whose planned digest is known, and another than the published one.
func changedDigests(planned, published types.Map) (names []string) {
	digest := func(of attr.Value) types.String {
		o, _ := of.(types.Object)
		text, _ := o.Attributes()["digest"].(types.String)
		return text
	}
	for clusterType, a := range planned.Elements() {
		if was := digest(a); !was.IsUnknown() && !was.Equal(digest(published.Elements()[clusterType])) {
			names = append(names, clusterType)
		}
	}
	slices.Sort(names)
	return names
}
