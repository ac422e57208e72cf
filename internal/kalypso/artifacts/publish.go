package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Publication says where folders are published.
type Publication struct {
	Client *registry.Client
	Base   registry.Repository // the repository of a cluster type is below it
	Tags   []string            // of each artifact, beside the tree's hash
	// Published are the artifacts of the last publication, by cluster type.
	Published map[string]Artifact
	// Key signs the artifacts, and the statements of their provenance, which name the provider's version. Nil: no
	// signatures.
	Key     *sign.Key
	Version string
	// Signer is the public key of the last publication, for [Publication.Observe]. Nil: it had no signatures.
	Signer *sign.PublicKey
}

const (
	// concurrent is the number of artifacts for which requests are sent at the same time.
	concurrent = 16
	// foldersInMemory is the number of folders whose files are in memory at the same time.
	foldersInMemory = 16
)

// Publish publishes the folders of a delivery, and returns the artifacts and how many it uploaded. It reads and uploads
// only what the registry does not contain. It changes a tag once its artifact is complete and signed. The error has all
// errors of all folders; if the registry can't be read, nothing was uploaded.
func (p Publication) Publish(ctx context.Context, d *Delivery) (all map[string]Artifact, uploads int, err error) {
	plan, err := Plan(p.Base, d.TreeHashes(), nil)
	if err != nil {
		return nil, 0, err
	}
	names := slices.Sorted(maps.Keys(plan))
	work := make([]*publishing, len(names))
	err = p.each(len(names), func(i int) (err error) {
		work[i], err = p.find(ctx, names[i], plan[names[i]])
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	uploads, err = p.upload(ctx, d, work)
	if err != nil {
		return nil, uploads, err
	}
	if err = p.sign(ctx, d, work); err != nil {
		return nil, uploads, err
	}
	err = p.each(len(work), func(i int) error { return p.tag(ctx, work[i]) })
	all = map[string]Artifact{}
	for _, w := range work {
		w.artifact.Digest = w.manifest.Digest.String()
		all[w.clusterType] = w.artifact
	}
	return all, uploads, err
}

// each calls work for 0 to n-1, several at a time, and returns all errors in this order. Once a registry is not
// available after all attempts, no other call begins: it would fail after as many.
func (p Publication) each(n int, work func(i int) error) error {
	errs := make([]error, n)
	var unavailable atomic.Bool
	parallel.Limited(n, concurrent, func(i int) {
		if unavailable.Load() {
			return
		}
		errs[i] = work(i)
		if errors.Is(errs[i], githost.ErrUnavailable) {
			unavailable.Store(true)
		}
	})
	return problem.Join(errs...)
}

// publishing is an artifact that is being published.
type publishing struct {
	clusterType string
	artifact    Artifact
	name        registry.Repository
	repository  *remote.Repository
	manifest    blob               // without a digest: the registry does not contain it; without bytes: it was not read
	candidate   ocispec.Descriptor // the manifest with the tree's hash as the tag, if it must be compared with Git first
	earlier     *source            // of the candidate, if that can be the artifact of an earlier commit
	provenance  attached
}

func clusterTypes(all []*publishing) []string {
	return lists.Map(all, func(w *publishing) string { return w.clusterType })
}

// find looks for an artifact in the registry. After a publication it is the published manifest, whatever the tag names
// now: other people may have moved it. Otherwise, the manifest with the tag is a candidate: whatever may write to the
// registry could have put it there.
func (p Publication) find(ctx context.Context, clusterType string, want Artifact) (w *publishing, err error) {
	w = &publishing{clusterType: clusterType, artifact: want}
	w.name, w.repository, err = p.open(ctx, clusterType)
	if err != nil {
		return nil, err
	}
	found, err := resolve(ctx, w.repository, want.TreeHash)
	if err != nil {
		return nil, p.Client.Error(w.name, "look for an artifact in", err)
	}
	if last := p.Published[clusterType]; last.Ref == want.Ref {
		if found.Digest.String() != last.Digest {
			found, err = resolve(ctx, w.repository, last.Digest)
		}
	} else {
		w.candidate, found = found, ocispec.Descriptor{}
	}
	w.manifest.Descriptor = found
	return w, p.Client.Error(w.name, "read an artifact in", err)
}

// open returns the repository of a cluster type.
func (p Publication) open(ctx context.Context, clusterType string) (
	name registry.Repository, opened *remote.Repository, err error,
) {
	name, err = p.Base.Join(clusterType)
	if err == nil {
		opened, err = p.Client.Open(ctx, name)
	}
	return name, opened, err
}

// resolve returns the manifest with a tag or digest; it has no digest if there is none.
func resolve(ctx context.Context, r *remote.Repository, reference string) (ocispec.Descriptor, error) {
	found, err := r.Resolve(ctx, reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return ocispec.Descriptor{}, nil
	}
	return found, err
}

// accept takes the candidate if it is the artifact that a publication writes, byte for byte: now, or for an earlier
// commit that gave the folder the same files. All else that the registry contains may come from people who can't sign.
func (w *publishing) accept(b *built) (accepted bool, err error) {
	if w.candidate.MediaType != ocispec.MediaTypeImageManifest {
		return false, nil
	}
	if w.candidate.Digest != b.manifest.Digest && w.earlier != nil {
		b, err = b.with(*w.earlier)
		if err != nil {
			return false, err
		}
	}
	if w.candidate.Digest != b.manifest.Digest {
		return false, nil
	}
	w.manifest = b.manifest
	return true, nil
}

// readEarlier reads from which commits the candidates claim to be, and sets the sources of those that can be.
func (p Publication) readEarlier(ctx context.Context, d *Delivery, all []*publishing) error {
	commits := make([]plumbing.Hash, len(all))
	err := p.each(len(all), func(i int) (err error) {
		commits[i], err = all[i].claimedCommit(ctx)
		return p.Client.Error(all[i].name, "read an artifact in", err)
	})
	if err != nil {
		return err
	}
	claimed := map[string]plumbing.Hash{}
	for i, w := range all {
		claimed[w.clusterType] = commits[i]
	}
	sources, err := d.earlierSources(claimed)
	for _, w := range all {
		if source, ok := sources[w.clusterType]; ok {
			w.earlier = &source
		}
	}
	return err
}

// claimedCommit returns the commit that the candidate names, or zero.
func (w *publishing) claimedCommit(ctx context.Context) (plumbing.Hash, error) {
	if w.candidate.MediaType != ocispec.MediaTypeImageManifest {
		return plumbing.ZeroHash, nil
	}
	text, ok, err := registry.FetchManifest(ctx, w.repository.Manifests(), w.candidate)
	if !ok || err != nil {
		return plumbing.ZeroHash, err
	}
	return commitIn(text), nil
}

// commitIn returns the commit that a manifest names, or zero.
func commitIn(manifest []byte) plumbing.Hash {
	var m struct{ Annotations map[string]string }
	_ = json.Unmarshal(manifest, &m) // not JSON: it is no artifact of ours
	_, commit, _ := strings.Cut(m.Annotations[ocispec.AnnotationRevision], hashPrefix)
	if !plumbing.IsHash(commit) {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(commit)
}

// upload builds the artifacts that the publication did not find, and uploads those that the registry does not contain.
func (p Publication) upload(ctx context.Context, d *Delivery, all []*publishing) (uploads int, err error) {
	missing := slices.DeleteFunc(slices.Clone(all), func(w *publishing) bool { return w.manifest.Digest != "" })
	if len(missing) == 0 {
		return 0, nil
	}
	if err := d.readChanges(clusterTypes(missing)); err != nil {
		return 0, err
	}
	if err := p.readEarlier(ctx, d, missing); err != nil {
		return 0, err
	}
	var errs []error
	var pushed atomic.Int32
	for part := range slices.Chunk(missing, foldersInMemory) {
		files, err := d.files(clusterTypes(part))
		if err != nil {
			return int(pushed.Load()), problem.Join(append(errs, err)...)
		}
		err = p.each(len(part), func(i int) error {
			w := part[i]
			b, err := build(files[w.clusterType], d.source(w.clusterType))
			if err != nil {
				return fmt.Errorf("cluster type %q: %w", w.clusterType, err)
			}
			if accepted, err := w.accept(b); accepted || err != nil {
				return err
			}
			pushed.Add(1)
			w.manifest = b.manifest
			return p.Client.Error(w.name, "push an artifact to",
				p.push(ctx, w.repository, b.manifest.Digest.String(), b.manifest, b.config, b.content))
		})
		errs = append(errs, err)
		if errors.Is(err, githost.ErrUnavailable) {
			break
		}
	}
	return int(pushed.Load()), problem.Join(errs...)
}

// push uploads blobs and then their manifest, with a tag or its digest.
func (p Publication) push(ctx context.Context, to *remote.Repository, as string, manifest blob, blobs ...blob) error {
	return p.Client.Repeat(ctx, func(ctx context.Context) error {
		for _, b := range blobs {
			if err := to.Blobs().Push(ctx, b.Descriptor, bytes.NewReader(b.bytes)); err != nil {
				return err
			}
		}
		return to.Manifests().PushReference(ctx, manifest.Descriptor, bytes.NewReader(manifest.bytes), as)
	})
}

// tag sets the tags that do not name the artifact.
func (p Publication) tag(ctx context.Context, w *publishing) error {
	var errs []error
	for _, tag := range append([]string{w.artifact.TreeHash}, p.Tags...) {
		errs = append(errs, p.Client.Error(w.name, fmt.Sprintf("set the tag %q in", tag), p.setTag(ctx, w, tag)))
	}
	return problem.Join(errs...)
}

func (p Publication) setTag(ctx context.Context, w *publishing, tag string) error {
	if found, err := resolve(ctx, w.repository, tag); err != nil || found.Digest == w.manifest.Digest {
		return err
	}
	if err := w.readManifest(ctx); err != nil {
		return err
	}
	return p.push(ctx, w.repository, tag, w.manifest)
}

// readManifest reads the manifest of an earlier publication, unless it was read or built.
func (w *publishing) readManifest(ctx context.Context) error {
	if w.manifest.bytes != nil {
		return nil
	}
	at := w.manifest.Descriptor
	at.MediaType = ocispec.MediaTypeImageManifest
	text, ok, err := registry.FetchManifest(ctx, w.repository.Manifests(), at)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("manifest %s: %w", at.Digest, errdef.ErrNotFound)
	}
	w.manifest = describe(at.MediaType, text)
	return nil
}

// Observed describes published artifacts as a registry contains them.
type Observed struct {
	// Artifacts are those with the tree's tag, by cluster type, with the digest that it names now.
	Artifacts map[string]Artifact
	// Missing are the cluster types whose published manifest the registry does not contain.
	Missing map[string]bool
	// Tags are those tags that name the published manifest in each repository.
	Tags []string
	// Unsigned means that an artifact lacks a signature of the signer.
	Unsigned bool
}

// Observe reads what a registry contains of the published artifacts.
func (p Publication) Observe(ctx context.Context) (Observed, error) {
	names := slices.Sorted(maps.Keys(p.Published))
	o := Observed{Artifacts: map[string]Artifact{}, Missing: map[string]bool{}, Tags: slices.Clone(p.Tags)}
	var mu sync.Mutex // guards o
	err := p.each(len(names), func(i int) error {
		a := p.Published[names[i]]
		name, r, err := p.open(ctx, names[i])
		if err != nil {
			return err
		}
		found, err := resolve(ctx, r, a.TreeHash)
		tree, gone := found.Digest, false
		if err == nil && tree.String() != a.Digest {
			found, err = resolve(ctx, r, a.Digest)
			gone = found.Digest == ""
		}
		var moved []string
		for _, tag := range p.Tags {
			if err == nil {
				found, err = resolve(ctx, r, tag)
			}
			if found.Digest.String() != a.Digest {
				moved = append(moved, tag)
			}
		}
		signed := p.Signer == nil || gone
		if err == nil && !signed {
			var signatures attached
			signatures, err = readAttached(ctx, r, digest.Digest(a.Digest), sign.Signatures, *p.Signer)
			signed = signatures.complete
		}
		mu.Lock()
		defer mu.Unlock()
		o.Tags, o.Unsigned = sets.Without(o.Tags, moved), o.Unsigned || !signed
		if gone {
			o.Missing[names[i]] = true
		}
		a.Digest, a.Missing = tree.String(), false
		if tree != "" {
			o.Artifacts[names[i]] = a
		}
		return p.Client.Error(name, "read the artifact in", err)
	})
	if err != nil {
		return Observed{}, err
	}
	return o, nil
}
