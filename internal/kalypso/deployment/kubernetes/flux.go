package kubernetes

import (
	"context"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
)

const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	sourceGroup    = "source.toolkit.fluxcd.io"
	defaultBranch  = "master" // of a GitRepository without a reference
)

// flux adds the reports of Flux Kustomizations. there is false if the cluster has no Flux.
func (k *cluster) flux(ctx context.Context) (there bool, err error) {
	kustomizations, err := k.list(ctx, kustomizeGroup, "kustomizations")
	if err != nil || !kustomizations.there {
		return false, err
	}
	sources := map[string]object{}
	for _, resource := range []string{"gitrepositories", "ocirepositories"} {
		found, err := k.list(ctx, sourceGroup, resource)
		if err != nil {
			return true, err
		}
		for _, o := range found.objects {
			sources[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = object{o}
		}
	}
	for _, o := range kustomizations.objects {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		k.kustomization(object{o}, sources)
	}
	return true, nil
}

// kustomization adds the report of a Kustomization if it follows a folder of the rendering.
func (k *cluster) kustomization(o object, sources map[string]object) {
	namespace := o.text("spec", "sourceRef", "namespace")
	if namespace == "" {
		namespace = o.GetNamespace()
	}
	source, there := sources[o.text("spec", "sourceRef", "kind")+" "+namespace+"/"+o.text("spec", "sourceRef", "name")]
	folder, inside := k.of.FolderOf(o.text("spec", "path"))
	if !there || !inside || !k.follows(source) {
		return
	}
	applied, attempted := o.text("status", "lastAppliedRevision"), o.text("status", "lastAttemptedRevision")
	if source.GetKind() == "OCIRepository" {
		// The artifact's own revision is not a commit.
		applied, attempted = o.text("status", "lastAppliedOriginRevision"), ""
	}
	r := deployment.Report{Cluster: k.name, Folder: folder, Object: o.name(), Revision: applied, Now: k.date.now()}
	r.Health, r.Since, r.Message = o.readyHealth()
	if r.Health == deployment.Failed && attempted != "" {
		r.Revision = attempted
	}
	if r.Health == deployment.Healthy && source.flag("spec", "suspend") {
		r.Health, r.Message = deployment.Suspended, source.name()+" is suspended"
	}
	if fetched := source.condition("Ready"); r.Health == deployment.Healthy && fetched.text("status") == "False" {
		r.Message = source.name() + ": " + fetched.text("message")
	}
	k.addReport(r, o.text("spec", "targetNamespace"))
}

// follows reports whether a source is the branch of the rendering or an artifact built from it.
func (k *cluster) follows(source object) bool {
	if source.GetKind() == "OCIRepository" {
		// If nothing names the repo it was built from, the commit decides.
		origin := source.text("status", "artifact", "metadata", "org.opencontainers.image.source")
		return origin == "" || repourl.SameAcrossTransports(origin, k.of.Repo)
	}
	if !repourl.SameAcrossTransports(source.text("spec", "url"), k.of.Repo) {
		return false
	}
	reference := source.at("spec", "ref")
	branch, name := reference.text("branch"), reference.text("name")
	switch {
	case name != "":
		return name == "refs/heads/"+k.of.Branch
	case reference.text("tag") != "" || reference.text("semver") != "":
		return false
	case branch == "":
		branch = defaultBranch
	}
	return strings.TrimPrefix(branch, "refs/heads/") == k.of.Branch
}
