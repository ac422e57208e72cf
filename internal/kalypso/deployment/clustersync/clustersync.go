// Package clustersync builds the objects with which a cluster syncs the folder of its cluster type.
package clustersync

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// Kinds lists the reconcilers.
var Kinds = []string{Flux, FluxOCI, ArgoCD, Fleet}

// The reconcilers.
const (
	Flux    = "flux"     // a GitRepository and a Kustomization
	FluxOCI = "flux-oci" // an OCIRepository and a Kustomization
	ArgoCD  = "argocd"   // an Application
	Fleet   = "fleet"    // a GitRepo of Rancher Fleet
)

// SyncedFolder is the folder of a cluster type, on a branch or, for [FluxOCI], as an artifact.
type SyncedFolder struct {
	Repo, Branch string
	Repository   string // URL of the repository above the artifact's own
	Path         string // from the Git repo's root; its last element is the cluster type
}

// Options are settings that differ between clusters. Empty values are the defaults.
type Options struct {
	Name       string // of the objects; the default is the last element of the path
	Namespace  string // of the objects; the default is the reconciler's own
	Interval   string // such as "1m": how often Flux reads the branch or the registry
	Secret     string // of the credential for a private repo, in the same namespace; Argo CD finds its own by the URL
	Decryption string // of the keys for SOPS, in the same namespace; only for Flux
	Tag        string // of the artifact that Flux follows; only for FluxOCI
	Verify     string // of the public keys of cosign, in the same namespace; only for FluxOCI
	// ClusterLabels select the clusters that Rancher Fleet deploys to. The default is the label cluster-type with the
	// name of the objects; in the namespace fleet-local, it is the cluster itself.
	ClusterLabels map[string]string
}

// fleetLocal is the namespace whose GitRepos deploy to the cluster that they are in.
const fleetLocal = "fleet-local"

// ErrInvalid means that the arguments give no objects that a cluster accepts.
var ErrInvalid = errors.New("invalid")

var defaults = map[string]struct{ namespace, interval string }{
	Flux: {"flux-system", "1m"}, FluxOCI: {"flux-system", "1m"}, ArgoCD: {"argocd", ""}, Fleet: {"fleet-default", ""},
}

// defaultTag is the tag that Flux follows by default.
const defaultTag = "latest"

// Objects returns the Kubernetes objects with which a cluster syncs a folder.
func Objects(kind string, of SyncedFolder, o Options) ([]map[string]any, error) {
	if !slices.Contains(Kinds, kind) {
		return nil, fmt.Errorf("%w: kind is %q, not one of %s", ErrInvalid, kind, strings.Join(Kinds, ", "))
	}
	folder := path.Clean("/" + of.Path)[1:]
	if folder == "" || strings.Contains(of.Path, "..") {
		return nil, fmt.Errorf("%w: the folder %q is not the folder of a cluster type, such as %q", ErrInvalid, of.Path,
			"large")
	}
	if err := gitbranch.CheckFolder(folder); err != nil {
		return nil, fmt.Errorf("%w: the folder %q: %w", ErrInvalid, of.Path, err)
	}
	o.Name = cmp.Or(o.Name, path.Base(folder))
	o.Namespace = cmp.Or(o.Namespace, defaults[kind].namespace)
	o.Interval = cmp.Or(o.Interval, defaults[kind].interval)
	for _, given := range []struct{ argument, name string }{
		{"name", o.Name}, {"namespace", o.Namespace}, {"secret", o.Secret}, {"decryption", o.Decryption},
		{"verify", o.Verify},
	} {
		check := validation.IsDNS1123Subdomain
		if given.argument == "namespace" {
			check = validation.IsDNS1123Label
		}
		if msgs := check(given.name); given.name != "" && len(msgs) > 0 {
			return nil, fmt.Errorf("%w: %s is %q: %s", ErrInvalid, given.argument, given.name, msgs[0])
		}
	}
	switch {
	case kind != Flux && kind != FluxOCI && o.Decryption != "":
		return nil, fmt.Errorf("%w: decryption is only possible with %s and %s", ErrInvalid, Flux, FluxOCI)
	case kind != FluxOCI && (o.Tag != "" || o.Verify != ""):
		return nil, fmt.Errorf("%w: tag and verify are only possible with %s", ErrInvalid, FluxOCI)
	case kind == FluxOCI:
		return o.syncArtifact(of.Repository, folder)
	}
	url, err := address(of.Repo)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(of.Branch) == "":
		return nil, fmt.Errorf("%w: the branch is missing", ErrInvalid)
	case gitbranch.CheckName(of.Branch) != nil:
		return nil, fmt.Errorf("%w: %w", ErrInvalid, gitbranch.CheckName(of.Branch))
	case kind == ArgoCD:
		return []map[string]any{o.application(url, of.Branch, folder)}, nil
	case kind == Fleet:
		return []map[string]any{o.gitRepo(url, of.Branch, folder)}, nil
	}
	return []map[string]any{o.gitRepository(url, of.Branch), o.kustomization("GitRepository", folder)}, nil
}

// address returns the URL of a repo as all reconcilers understand it.
func address(repo string) (string, error) {
	url, err := giturl.Parse(repo)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: repo: %w", ErrInvalid, err)
	case url.IsLocal():
		return "", fmt.Errorf("%w: a cluster can't read the repo %s", ErrInvalid, url)
	case url.Scheme == giturl.SchemeSSH && !strings.Contains(repo, "://"): // Flux wants a URL
		return url.String(), nil
	}
	return repo, nil
}

func (o *Options) object(apiVersion, kind string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": o.Name, "namespace": o.Namespace},
		"spec":     spec,
	}
}

func (o *Options) gitRepository(url, branch string) map[string]any {
	spec := map[string]any{"interval": o.Interval, "url": url, "ref": map[string]any{"branch": branch}}
	if o.Secret != "" {
		spec["secretRef"] = map[string]any{"name": o.Secret}
	}
	return o.object("source.toolkit.fluxcd.io/v1", "GitRepository", spec)
}

// syncArtifact returns the objects that sync the artifact of a folder.
func (o *Options) syncArtifact(repository, folder string) ([]map[string]any, error) {
	base, err := registry.ParseRepository(repository)
	if err != nil {
		return nil, fmt.Errorf("%w: repository: %w", ErrInvalid, err)
	}
	artifact, err := base.Join(path.Base(folder))
	if err != nil {
		return nil, fmt.Errorf("%w: repository: %w", ErrInvalid, err)
	}
	tag := cmp.Or(o.Tag, defaultTag)
	if err := registry.CheckAnyTag(tag); err != nil {
		return nil, fmt.Errorf("%w: tag: %w", ErrInvalid, err)
	}
	spec := map[string]any{
		"interval": o.Interval, "url": registry.Scheme + artifact.String(), "ref": map[string]any{"tag": tag},
	}
	if artifact.IsLoopback() {
		spec["insecure"] = true // Flux tries https first, and then plain http
	}
	if o.Secret != "" {
		spec["secretRef"] = map[string]any{"name": o.Secret}
	}
	if o.Verify != "" {
		spec["verify"] = map[string]any{"provider": "cosign", "secretRef": map[string]any{"name": o.Verify}}
	}
	return []map[string]any{
		o.object("source.toolkit.fluxcd.io/v1", "OCIRepository", spec), o.kustomization("OCIRepository", ""),
	}, nil
}

// kustomization returns the object that applies a folder of a source of a kind.
func (o *Options) kustomization(source, folder string) map[string]any {
	spec := map[string]any{
		"interval": "10m", "retryInterval": "1m", "path": "./" + folder, "prune": true,
		"sourceRef": map[string]any{"kind": source, "name": o.Name},
	}
	if o.Decryption != "" {
		spec["decryption"] = map[string]any{"provider": "sops", "secretRef": map[string]any{"name": o.Decryption}}
	}
	return o.object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", spec)
}

func (o *Options) application(url, branch, folder string) map[string]any {
	return o.object("argoproj.io/v1alpha1", "Application", map[string]any{
		"project": "default",
		"source": map[string]any{
			"repoURL": url, "targetRevision": branch, "path": folder, "directory": map[string]any{"recurse": true},
		},
		"destination": map[string]any{"server": "https://kubernetes.default.svc"},
		"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}},
	})
}

func (o *Options) gitRepo(url, branch, folder string) map[string]any {
	labels := map[string]any{}
	for k, v := range o.ClusterLabels {
		labels[k] = v
	}
	if len(labels) == 0 && o.Namespace != fleetLocal {
		labels["cluster-type"] = o.Name
	}
	spec := map[string]any{"repo": url, "branch": branch, "paths": []any{folder}}
	if len(labels) > 0 {
		spec["targets"] = []any{map[string]any{"clusterSelector": map[string]any{"matchLabels": labels}}}
	}
	if o.Secret != "" {
		spec["clientSecretName"] = o.Secret
	}
	return o.object("fleet.cattle.io/v1alpha1", "GitRepo", spec)
}
