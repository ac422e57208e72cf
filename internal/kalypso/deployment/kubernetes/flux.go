package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	sourceGroup    = "source.toolkit.fluxcd.io"
	helmGroup      = "helm.toolkit.fluxcd.io"
	defaultBranch  = "master" // of a GitRepository without a reference
)

// The annotations of an artifact that name the repo and the revision from which it was built.
const (
	originRepo     = "org.opencontainers.image.source"
	originRevision = "org.opencontainers.image.revision"
)

// sourceResources maps the kinds of sources to their resources. A kind is listed only if an object that counts refers
// to one.
var sourceResources = map[string]string{
	"GitRepository":    "gitrepositories",
	"OCIRepository":    "ocirepositories",
	"Bucket":           "buckets",
	"ExternalArtifact": "externalartifacts",
	"HelmChart":        "helmcharts",
	"HelmRepository":   "helmrepositories",
}

// flux adds the reports of Flux Kustomizations. there is false if the cluster has no Flux.
//
// Kustomizations are listed before sources. So if a Kustomization has applied a folder, each source is read as the
// folder has it, and no artifact is older than the one that its Kustomization applied.
func (k *cluster) flux(ctx context.Context) (there bool, err error) {
	kustomizations, err := k.list(ctx, kustomizeGroup, "kustomizations")
	if err != nil || !kustomizations.served {
		return false, err
	}
	for _, o := range kustomizations.objects {
		err := ctx.Err()
		if err == nil {
			err = k.kustomization(ctx, object{o})
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// kustomization adds the report of a Kustomization if it follows a folder of the rendering.
func (k *cluster) kustomization(ctx context.Context, o object) error {
	reference := o.reference("spec", "sourceRef")
	folder, inside := k.of.FolderOf(o.text("spec", "path"))
	if reference.Kind != "OCIRepository" && (!inside || reference.Kind != "GitRepository") {
		return nil
	}
	source, there, err := k.source(ctx, reference)
	if err != nil {
		return err
	}
	follows, why := false, reference.String()+" does not exist"
	if there {
		follows, why = k.follows(source)
	}
	switch root := source.annotation(registry.FolderAnnotation); {
	case root != "": // the artifact contains this folder alone
		folder, inside = k.of.FolderOf(path.Join(root, o.text("spec", "path")))
	case there && !inside && source.text("status", "artifact", "revision") == "":
		// Flux could not fetch the artifact yet, or refuses its signature. Only the name of the repository says which folder
		// it may contain.
		folder, inside = path.Base(source.text("spec", "url")), true
		follows, why = false, source.sourceStatus("", k.date.now()).message
	}
	if !inside {
		return nil
	}
	r := deployment.Report{Cluster: k.name, Folder: folder, Object: o.name(), Now: k.date.now()}
	if !follows {
		if why != "" && slices.Contains(k.of.Folders, folder) {
			r.Health, r.Message = deployment.Elsewhere, why
			return k.Add(r)
		}
		return nil
	}
	now := k.date.now()
	own := o.kustomizationStatus(source, now)
	r.Revision = o.text("status", "lastAppliedRevision")
	if attempted := o.text("status", "lastAttemptedRevision"); own.health == deployment.Failed && attempted != "" {
		r.Revision = attempted
	}
	if source.GetKind() == "OCIRepository" {
		r.Revision = k.builtFrom(o, source, r)
	}
	own.with(source.sourceStatus(o.text("status", "lastAppliedRevision"), now)).fill(&r)
	return k.addReport(r, o.text("spec", "targetNamespace"))
}

// builtFrom returns the revision of the branch from which the artifact of a report was built. An artifact of the
// resource kalypso_oci_artifacts names the commit that last changed its folder, which may be too old to be read, or an
// earlier commit with the same content. But it also names its tree: a folder with this tree at head is as in the head.
func (k *cluster) builtFrom(o, source object, r deployment.Report) string {
	if r.Revision != source.text("status", "artifact", "revision") {
		return o.text("status", "lastAppliedOriginRevision")
	}
	if tree := source.annotation(registry.TreeAnnotation); tree != "" && tree == k.of.Tree(r.Folder) {
		return k.of.Branch + "@sha1:" + k.of.Head
	}
	return cmp.Or(source.annotation(originRevision), o.text("status", "lastAppliedOriginRevision"))
}

// annotation returns an annotation of the artifact that an OCIRepository fetched.
func (o object) annotation(name string) string { return o.text("status", "artifact", "metadata", name) }

// source returns the object that a reference names. there is false if it does not exist.
func (k *cluster) source(ctx context.Context, r versions.Reference) (source object, there bool, err error) {
	name := sourceResources[r.Kind]
	if name == "" {
		return object{}, false, nil
	}
	list, err := k.list(ctx, sourceGroup, name)
	if err != nil {
		return object{}, false, err
	}
	found := list.named(r.Namespace, r.Name)
	if len(found) == 0 {
		return object{}, false, nil
	}
	return found[0], true, nil
}

// withSource returns the status of an object together with that of its source. applied names the revision of the source
// that the object applied, and last is the time at which it did so.
func (k *cluster) withSource(
	ctx context.Context,
	own status,
	r versions.Reference,
	applied string,
	last time.Time,
) (status, error) {
	source, there, err := k.source(ctx, r)
	switch {
	case err != nil:
		return status{}, err
	case sourceResources[r.Kind] == "":
		return own.with(status{deployment.Progressing, last, r.String() + " is a source of an unknown kind"}), nil
	case !there:
		return own.with(status{deployment.Failed, last, r.String() + " does not exist"}), nil
	}
	return own.with(source.sourceStatus(applied, k.date.now())), nil
}

// follows reports whether a source is the branch of the rendering or an artifact built from it. why names what it
// follows instead, if the repo is the same.
func (k *cluster) follows(source object) (follows bool, why string) {
	if source.GetKind() == "OCIRepository" {
		// If nothing names the repo it was built from, the commit decides.
		if origin := source.annotation(originRepo); origin != "" && !giturl.SameAcrossTransports(origin, k.of.Repo) {
			return false, ""
		}
		branch := deployment.ParseRevision(source.annotation(originRevision)).Branch
		if source.annotation(registry.FolderAnnotation) != "" && branch != k.of.Branch {
			return false, fmt.Sprintf("%s is built from the branch %q instead of the branch %q", source.name(), branch,
				k.of.Branch)
		}
		return true, ""
	}
	if !giturl.SameAcrossTransports(source.text("spec", "url"), k.of.Repo) {
		return false, ""
	}
	ref := source.at("spec", "ref")
	branch, other := ref.text("branch"), ""
	// Flux's precedence among the fields of ref: https://fluxcd.io/flux/components/source/gitrepositories/#reference
	switch {
	case ref.text("commit") != "":
		other = fmt.Sprintf("the commit %q", ref.text("commit"))
	case ref.text("name") == "refs/heads/"+k.of.Branch:
	case ref.text("name") != "":
		other = fmt.Sprintf("%q", ref.text("name"))
	case ref.text("semver") != "":
		other = fmt.Sprintf("the semver range %q", ref.text("semver"))
	case ref.text("tag") != "":
		other = fmt.Sprintf("the tag %q", ref.text("tag"))
	case branch == "" && k.of.Branch != defaultBranch:
		other = fmt.Sprintf("the branch %q, the default,", defaultBranch)
	case branch != "" && strings.TrimPrefix(branch, "refs/heads/") != k.of.Branch:
		other = fmt.Sprintf("the branch %q", branch)
	}
	if other != "" {
		return false, fmt.Sprintf("%s follows %s instead of the branch %q", source.name(), other, k.of.Branch)
	}
	return true, ""
}
