package kubernetes

import (
	"context"
	"slices"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// otherCluster replaces the namespace if the folder is deployed to another cluster.
const otherCluster = "\x00"

// parent is an object that syncs a folder to the cluster.
type parent struct {
	folder    string
	namespace string // target namespace of the folder; "": the one of each object
}

// addReport adds a report. The objects in its folder are checked too, unless they are deployed to another cluster.
func (k *cluster) addReport(r deployment.Report, namespace string) error {
	if namespace != otherCluster && slices.Contains(k.of.Folders, r.Folder) {
		k.parents = append(k.parents, parent{r.Folder, namespace})
	}
	return k.Add(r)
}

// addNested adds the reports of the Kustomizations, HelmReleases and Applications in the folders that the cluster
// follows.
func (k *cluster) addNested(ctx context.Context) error {
	type place struct {
		parent
		of versions.Reference
	}
	done := map[place]bool{}
	for _, p := range k.parents {
		inside, err := k.folders[p.folder]()
		if err != nil {
			k.unread = err
			return nil //nolint:nilerr // an error of the branch, which Reports returns
		}
		for _, of := range inside {
			if p.namespace != "" {
				of.Namespace = p.namespace
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if at := (place{p, of}); !done[at] {
				done[at] = true
				if err := k.addNestedReports(ctx, p.folder, of); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addNestedReports adds the reports of the objects with a name. There may be several if the folder names no namespace.
func (k *cluster) addNestedReports(ctx context.Context, folder string, of versions.Reference) error {
	kind := nestedKinds[of.Kind]
	list, err := k.list(ctx, kind.group, kind.name)
	if err != nil {
		return err
	}
	named := list.named(of.Namespace, of.Name)
	for _, o := range named {
		r := deployment.Report{Cluster: k.name, Folder: folder, Object: o.name(), Nested: true, Now: k.date.now()}
		found, err := k.nestedStatus(ctx, kind.group, o)
		if err != nil {
			return err
		}
		found.fill(&r)
		if k.of.Versions {
			r.Revision = o.appliedRevision(kind.group)
		}
		if err := k.Add(r); err != nil {
			return err
		}
	}
	if len(named) > 0 {
		return nil
	}
	return k.Add(deployment.Report{
		Cluster: k.name, Folder: folder, Object: of.String(), Nested: true, Health: deployment.Progressing,
		Message: "the folder contains it, but the cluster does not yet", Now: k.date.now(),
	})
}

// nestedStatus returns the status of an object in a folder, together with its sources.
func (k *cluster) nestedStatus(ctx context.Context, group string, o object) (status, error) {
	switch group {
	case argoGroup:
		return o.applicationStatus(k.date.now()), nil
	case helmGroup:
		return k.helmReleaseStatus(ctx, o)
	}
	from := o.reference("spec", "sourceRef")
	source, _, err := k.source(ctx, from)
	if err != nil {
		return status{}, err
	}
	return k.withSource(ctx, o.kustomizationStatus(source, k.date.now()), from, o.text("status", "lastAppliedRevision"),
		lastSuccess(o.objects("status", "history")))
}

// appliedRevision returns the revision of its source that an object applied: a commit, or the version of a chart or
// artifact; "": none. Of an Application with several sources it is that of [FirstSource].
func (o object) appliedRevision(group string) string {
	switch group {
	case kustomizeGroup:
		return o.text("status", "lastAppliedRevision")
	case helmGroup:
		for _, release := range o.objects("status", "history") { // newest first
			if release.text("status") == "deployed" {
				return release.text("chartVersion")
			}
		}
		return o.text("status", "lastAppliedRevision") // until helm.toolkit.fluxcd.io/v2beta2
	}
	// An operation syncs a revision. A later one that changes nothing is Synced without an operation.
	sync := o.at("status", "sync")
	if history := o.objects("status", "history"); len(history) > 0 && sync.text("status") != "Synced" {
		sync = history[len(history)-1]
	}
	i := deployment.FirstSource(o.objects("spec", "sources"), func(s object) string { return s.text("path") })
	if revisions := sync.texts("revisions"); i < len(revisions) {
		return revisions[i]
	}
	return sync.text("revision")
}

// named returns the objects with a name in a namespace or, if that is empty, in any.
func (k *resourceList) named(namespace, name string) []object {
	if k.byName == nil {
		k.byName = map[string][]object{}
		for _, o := range k.objects {
			anywhere := "/" + o.GetName()
			k.byName[anywhere] = append(k.byName[anywhere], object{o})
			if in := o.GetNamespace() + anywhere; in != anywhere {
				k.byName[in] = append(k.byName[in], object{o})
			}
		}
	}
	return k.byName[namespace+"/"+name]
}

// nestedKinds maps the kinds of the objects in a folder that are checked to their resources.
var nestedKinds = map[string]resource{
	"Kustomization": {group: kustomizeGroup, name: "kustomizations"},
	"HelmRelease":   {group: helmGroup, name: "helmreleases"},
	"Application":   {group: argoGroup, name: "applications"},
}

// folderReader returns the Kustomizations, HelmReleases and Applications in a folder at head.
type folderReader func() ([]versions.Reference, error)

// readFolders returns a reader for each folder, which reads it once for all clusters.
func readFolders(of deployment.Rendering) map[string]folderReader {
	readers := map[string]folderReader{}
	for _, folder := range of.Folders {
		readers[folder] = sync.OnceValues(func() ([]versions.Reference, error) {
			files, err := of.Files(folder)
			all := lists.Map(versions.Find(files), func(o versions.Object) versions.Reference { return o.Reference })
			return slices.Compact(all), err
		})
	}
	return readers
}
