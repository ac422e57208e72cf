package artifacts

import (
	"context"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
	kjson "sigs.k8s.io/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
)

// The bounds of what other people may have attached to an artifact.
const (
	maxAttached = 100     // documents of a kind that are read
	maxDocument = 4 << 20 // bytes
)

// attached are the documents of a kind that are attached to an artifact. Their manifest has a tag, as cosign looks for
// it, and refers to the artifact. People without the key may have written it.
type attached struct {
	kind   sign.Kind
	layers []ocispec.Descriptor // of the documents that the registry contains
	// complete means that one of the documents is valid, and signed by the key that was asked for.
	complete bool
}

// readAttached reads which documents of a kind are attached to an artifact. A manifest that other programs may read in
// another way is never complete.
func readAttached(
	ctx context.Context, r *remote.Repository, artifact digest.Digest, kind sign.Kind, key sign.PublicKey,
) (a attached, err error) {
	a.kind = kind
	at, err := resolve(ctx, r, kind.Tag(artifact))
	if err != nil || at.Digest == "" {
		return a, err
	}
	text, ok, err := registry.FetchManifest(ctx, r.Manifests(), at)
	if !ok || err != nil {
		return a, err
	}
	manifest, plain := parseAttached(at.MediaType, text)
	for _, layer := range manifest.Layers[:min(len(manifest.Layers), maxAttached)] {
		if layer.MediaType != kind.MediaType || len(layer.URLs) > 0 {
			continue
		}
		document, ok, err := registry.Fetch(ctx, r.Blobs(), layer, maxDocument)
		if err != nil {
			return a, err
		}
		if !ok {
			continue
		}
		a.layers = append(a.layers, ocispec.Descriptor{
			MediaType: layer.MediaType, Digest: layer.Digest, Size: layer.Size, Annotations: layer.Annotations,
		})
		if plain && kind.Says(key, artifact, sign.Document{Content: document, Annotations: layer.Annotations}) {
			a.complete = true
			break
		}
	}
	return a, nil
}

// mediaTypeDocker is the media type of the manifests that cosign writes with COSIGN_DOCKER_MEDIA_TYPES.
const mediaTypeDocker = "application/vnd.docker.distribution.manifest.v2+json"

// parseAttached parses a manifest. plain means that all programs read the same in it: it has neither unknown fields nor
// a field twice, and its media type is that of an image, in the registry and in the text.
func parseAttached(mediaType string, text []byte) (manifest ocispec.Manifest, plain bool) {
	if mediaType != ocispec.MediaTypeImageManifest && mediaType != mediaTypeDocker {
		return ocispec.Manifest{}, false
	}
	strict, err := kjson.UnmarshalStrict(text, &manifest)
	if err != nil {
		return ocispec.Manifest{}, false
	}
	return manifest, len(strict) == 0 && manifest.MediaType == mediaType
}

// attach adds a document to those that are attached to an artifact. Documents of other people stay.
func (p Publication) attach(ctx context.Context, w *publishing, to attached, d sign.Document) error {
	if err := w.readManifest(ctx); err != nil {
		return err
	}
	layer := describe(to.kind.MediaType, d.Content)
	layer.Annotations = d.Annotations
	layers := []ocispec.Descriptor{layer.Descriptor} // the first ones are read
	for _, l := range to.layers {
		if l.Digest != layer.Digest || !maps.Equal(l.Annotations, layer.Annotations) {
			layers = append(layers, l)
		}
	}
	image := ocispec.Image{RootFS: ocispec.RootFS{Type: "layers"}}
	for _, l := range layers {
		image.RootFS.DiffIDs = append(image.RootFS.DiffIDs, l.Digest) // they are not compressed
	}
	config, err := marshal(ocispec.MediaTypeImageConfig, image)
	if err != nil {
		return err
	}
	manifest, err := marshal(ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		ArtifactType: to.kind.ArtifactType, Config: config.Descriptor, Layers: layers, Subject: &w.manifest.Descriptor,
	})
	if err != nil {
		return err
	}
	return p.push(ctx, w.repository, to.kind.Tag(w.manifest.Digest), manifest, config, layer)
}

// sign signs the artifacts that have no signature of the key, and states the provenance of those that have none signed
// with the key.
func (p Publication) sign(ctx context.Context, d *Delivery, all []*publishing) error {
	if p.Key == nil {
		return nil
	}
	err := p.each(len(all), func(i int) error {
		w := all[i]
		signatures, err := readAttached(ctx, w.repository, w.manifest.Digest, sign.Signatures, p.Key.PublicKey)
		if err == nil {
			w.provenance, err = readAttached(ctx, w.repository, w.manifest.Digest, sign.Provenances, p.Key.PublicKey)
		}
		if err != nil {
			return p.Client.Error(w.name, "read the signatures in", err)
		}
		if signatures.complete {
			return nil
		}
		signature, err := p.Key.Signature(w.name.String(), w.manifest.Digest)
		if err != nil {
			return err
		}
		return p.Client.Error(w.name, "push a signature to", p.attach(ctx, w, signatures, signature))
	})
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(all), func(w *publishing) bool { return w.provenance.complete })
	if len(missing) == 0 {
		return nil
	}
	origins, err := d.origins(clusterTypes(missing))
	if err != nil {
		return err
	}
	return p.each(len(missing), func(i int) error {
		w, o := missing[i], origins[missing[i].clusterType]
		o.Repository, o.Artifact, o.Version = w.name.String(), w.manifest.Digest, p.Version
		provenance, err := p.Key.Provenance(sign.NewStatement(o))
		if err != nil {
			return err
		}
		return p.Client.Error(w.name, "push a provenance to", p.attach(ctx, w, w.provenance, provenance))
	})
}

// origins returns the origin of each cluster type's folder: the commit that last changed it, and the sources and the
// promoted commit in the record of that commit. If the record can't be read, the origin has neither.
func (d *Delivery) origins(clusterTypes []string) (map[string]sign.Origin, error) {
	if err := d.readChanges(clusterTypes); err != nil {
		return nil, err
	}
	commits := map[plumbing.Hash]bool{}
	for _, clusterType := range clusterTypes {
		commits[d.changed[clusterType].Hash] = true
	}
	files, err := d.snapshot.History().FileAt(d.at.RecordPath(), slices.Collect(maps.Keys(commits)))
	if err != nil {
		return nil, err
	}
	all := map[string]sign.Origin{}
	for _, clusterType := range clusterTypes {
		commit := d.changed[clusterType].Hash
		o := sign.Origin{
			GitOps: sign.Commit{Repo: d.repo, Branch: d.at.Branch, Hash: commit.String()},
			Path:   d.at.Path, ClusterType: clusterType,
		}
		if r, err := record.Parse(files[commit]); err == nil {
			o.Sources, o.PromotedCommit = r.Sources, r.PromotedCommit
		}
		all[clusterType] = o
	}
	return all, nil
}
