package artifacts

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// The reactions to artifacts that are not published any more.
const (
	keep   = "keep"
	remove = "remove"
)

var endings = schemas.Enumeration{keep, remove}

func artifactsSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Publishes what a GitOps branch contains of a rendering to an OCI registry, for clusters that " +
			"can't reach Git: one artifact for the folder of each cluster type, as `flux push artifact` builds it. Git " +
			"remains the source of truth: only what was delivered is published.\n\n" +
			"An artifact has the hash of the folder's Git tree as its tag, and is uploaded only if the registry does not " +
			"contain it. So an apply without a changed folder uploads nothing, and a folder that is changed back gets its " +
			"earlier artifact. A tag that was moved outside Terraform, or a removed manifest, is drift: the next apply puts " +
			"it back. Tags of earlier trees stay, so that a cluster can go back.\n\nThe digest depends on the folder alone: " +
			"its annotations name the repo, and the commit that last changed the folder. So two machines publish the same " +
			"digest. A manifest that other people gave this tag is replaced, unless it is byte for byte what the provider " +
			"writes, now or for an earlier commit with the same folder: nothing else is signed.\n\n" +
			"With `signing`, each artifact gets a signature that `cosign verify --key` and Flux' OCIRepository " +
			"accept, and a statement of its provenance (in-toto, SLSA 1.0) for `cosign verify-attestation --type " +
			"slsaprovenance1`: the commits of the GitOps repo and of the control plane, and the provider's version. Both come " +
			"before the tags. No transparency log is written, so cosign needs `--insecure-ignore-tlog`. Signatures by other " +
			"keys stay, as do all signatures when artifacts are removed. Without `signing` there is no statement: an " +
			"unsigned one proves nothing.\n\n" +
			"Registries use https; only one on this machine may use plain http. The credential needs permission to " +
			"pull and to push, and to delete with `on_destroy = \"remove\"`: see `oci_credentials` of the provider.",
		Attributes: map[string]schema.Attribute{
			"gitops_repo": schemas.DestinationArgument("Destination of the rendering: its `gitops_repo`."),
			"commit": schemas.OptionalString(
				"The commit of the branch to publish: `commit_sha` of the rendering. While it is null, as "+
					"before the first pull request is merged, what was published stays.",
				schemas.Valid("commit", githost.CheckCommit),
			),
			"repository": schemas.RequiredString(
				"The parent of the artifacts' repositories: with `oci://registry.acme.io/fleet/dev`, the "+
					"artifact of cluster type `large` is in `registry.acme.io/fleet/dev/large`. A change publishes all artifacts "+
					"there; `on_destroy` says what happens to the former ones.",
				schemas.Valid("repository", func(url string) error {
					_, err := registry.ParseRepository(url)
					return err
				}),
			),
			"tags": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Tags of each artifact beside the tree's hash, such as `latest`. They move once the " +
					"artifact is uploaded; a tag that leaves the set stays in the registry.",
				Validators: []validator.Set{setvalidator.ValueStringsAre(schemas.Valid("tag", registry.CheckTag))},
			},
			"on_destroy": endings.Attribute("Whether artifacts stay in the registry or lose their tags: those of a destroyed " +
				"resource, of a cluster type that the rendering no longer has, and in a former `repository`. If the registry " +
				"can't remove tags, their manifests are removed."),
			"signing": schemas.OptionalObject(
				"The key that signs each artifact and a statement of its provenance, for `cosign verify` "+
					"and Flux' `verify`. It needs Terraform 1.11 or OpenTofu 1.11, which keep it in neither the plan nor the state.",
				map[string]schema.Attribute{
					"key": schema.StringAttribute{
						Required: true, WriteOnly: true, Sensitive: true,
						MarkdownDescription: "The private key in PEM: `cosign.key` of `cosign generate-key-pair`, or an unencrypted " +
							"key (ECDSA P-256, Ed25519, or RSA with 2048 to 4096 bits).",
					},
					"password": schema.StringAttribute{
						Optional: true, WriteOnly: true, Sensitive: true,
						MarkdownDescription: "The password of the key, if it is encrypted.",
					},
				},
			),
			"public_key": schemas.ComputedText("The public key of `signing` in PEM, for `cosign verify --key` and the " +
				"secret of `verify`. Another key, or an artifact that lost its signature, is a change: the next apply signs."),
			"artifacts": schemas.ComputedObjectMap("The artifacts by cluster type.", map[string]schema.Attribute{
				"ref": schemas.ComputedText("The repository with the tree's hash as the tag, such as " +
					"`registry.acme.io/fleet/dev/large:4b825dc642cb6eb9a060e54bf8d69288fbee4904`."),
				"digest":    schemas.ComputedText("The digest of the manifest, such as `sha256:…`."),
				"tree_hash": schemas.ComputedText("The hash of the folder's Git tree."),
			}),
		},
	}
}
