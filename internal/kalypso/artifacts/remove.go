package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
)

// Remove removes the tags of the published artifacts of some cluster types, as far as they still name these artifacts.
// If a registry can't remove a tag, Remove removes the manifest, unless it has other tags.
func (p Publication) Remove(ctx context.Context, clusterTypes []string) error {
	clusterTypes = slices.Sorted(slices.Values(clusterTypes))
	return p.each(len(clusterTypes), func(i int) error {
		name, r, err := p.open(ctx, clusterTypes[i])
		if err != nil {
			return err
		}
		return p.Client.Error(name, "remove the tags in", p.remove(ctx, r, p.Published[clusterTypes[i]]))
	})
}

func (p Publication) remove(ctx context.Context, r *remote.Repository, a Artifact) error {
	ours := map[string]ocispec.Descriptor{}
	for _, tag := range append([]string{a.TreeHash}, p.Tags...) {
		found, err := resolve(ctx, r, tag)
		if err != nil {
			return err
		}
		if found.Digest.String() == a.Digest {
			ours[tag] = found
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(ours)) {
		err := registry.DeleteTag(ctx, r, tag)
		if !errors.Is(err, registry.ErrTagsStay) {
			if err != nil {
				return err
			}
			continue
		}
		return removeManifest(ctx, r, ours[tag], ours)
	}
	return nil
}

// removeManifest removes a manifest that has no tags but ours.
func removeManifest(
	ctx context.Context, r *remote.Repository, manifest ocispec.Descriptor, ours map[string]ocispec.Descriptor,
) error {
	err := r.Tags(ctx, "", func(tags []string) error {
		for _, tag := range tags {
			if _, own := ours[tag]; own {
				continue
			}
			found, err := resolve(ctx, r, tag)
			if err != nil {
				return err
			}
			if found.Digest == manifest.Digest {
				return fmt.Errorf("%w, and the manifest %s also has the tag %q; remove the tags with the registry's tools, or "+
					`set on_destroy = "keep"`, registry.ErrTagsStay, manifest.Digest, tag)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Manifests().Delete(ctx, manifest)
}
