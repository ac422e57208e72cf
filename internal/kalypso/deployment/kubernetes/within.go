package kubernetes

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// elsewhere stands for a namespace where what is in the folder goes to another cluster.
const elsewhere = "\x00"

// parent is an object that syncs a folder to the cluster.
type parent struct {
	folder    string
	namespace string // that all of the folder goes to; "": what each object says
}

// add adds a report. What stands in its folder is judged too, unless it goes elsewhere.
func (k *cluster) add(r deployment.Report, namespace string) {
	k.reports = append(k.reports, r)
	if namespace != elsewhere && slices.Contains(k.of.Folders, r.Folder) {
		k.parents = append(k.parents, parent{r.Folder, namespace})
	}
}

// within adds what the Kustomizations and Applications say that stand in the folders which the cluster follows.
func (k *cluster) within() {
	type place struct {
		parent
		identity
	}
	done := map[place]bool{}
	for _, p := range k.parents {
		inside, err := k.contents.folder(p.folder)
		if err != nil {
			return // it is of the branch, and not of the cluster: the source tells it
		}
		for _, id := range inside {
			if p.namespace != "" {
				id.namespace = p.namespace
			}
			if at := (place{p, id}); !done[at] {
				done[at] = true
				k.reports = append(k.reports, k.inside(p.folder, id)...)
			}
		}
	}
}

// inside is what the objects of an identity say: several where the folder does not say the namespace.
func (k *cluster) inside(folder string, id identity) []deployment.Report {
	var all []deployment.Report
	for _, o := range k.kinds[id.kind()].all() {
		if o.GetName() != id.name || id.namespace != "" && o.GetNamespace() != id.namespace {
			continue
		}
		r := deployment.Report{Cluster: k.name, Folder: folder, Object: o.name(), Within: true, Now: k.date.now()}
		if id.group == argoGroup {
			r.Health, r.Since, r.Message = o.synced()
		} else {
			r.Health, r.Since, r.Message = o.ready()
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		all = append(all, deployment.Report{
			Cluster: k.name, Folder: folder, Object: id.String(), Within: true, Health: deployment.Progressing,
			Message: "the folder holds it, and the cluster does not yet", Now: k.date.now(),
		})
	}
	return all
}

func (k *kind) all() []object {
	if k == nil {
		return nil
	}
	all := make([]object, len(k.objects))
	for i, o := range k.objects {
		all[i] = object{o}
	}
	return all
}

// identity is which object stands in a folder.
type identity struct{ group, namespace, name string }

// kind is where a cluster keeps its kind.
func (id identity) kind() string {
	if id.group == argoGroup {
		return argoGroup + "/applications"
	}
	return kustomizeGroup + "/kustomizations"
}

func (id identity) String() string {
	if id.group == argoGroup {
		return "Application " + id.namespace + "/" + id.name
	}
	return "Kustomization " + id.namespace + "/" + id.name
}

// contents are the objects in the folders at head, read once for all clusters.
type contents struct {
	of   deployment.Rendering
	mu   sync.Mutex
	read map[string]*folderContents
}

type folderContents struct {
	once    sync.Once
	objects []identity
	err     error
}

func (c *contents) folder(name string) ([]identity, error) {
	c.mu.Lock()
	f := c.read[name]
	if f == nil {
		f = &folderContents{}
		c.read[name] = f
	}
	c.mu.Unlock()
	f.once.Do(func() {
		var files map[string][]byte
		if files, f.err = c.of.Files(name); f.err == nil {
			f.objects = identities(files)
		}
	})
	return f.objects, f.err
}

// err are the errors of reading the branch.
func (c *contents) err() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(c.read)) {
		all = append(all, c.read[name].err)
	}
	return errors.Join(all...)
}

// identities are the Kustomizations and Applications in files, sorted. What can't be read is for Flux or Argo CD to refuse.
func identities(files map[string][]byte) []identity {
	var all []identity
	for _, content := range files {
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			o := unstructured.Unstructured{}
			if err := documents.Decode(&o.Object); err != nil {
				break
			}
			gvk := o.GroupVersionKind()
			if gvk.Group == kustomizeGroup && gvk.Kind == "Kustomization" || gvk.Group == argoGroup && gvk.Kind == "Application" {
				all = append(all, identity{gvk.Group, o.GetNamespace(), o.GetName()})
			}
		}
	}
	slices.SortFunc(all, func(a, b identity) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return slices.Compact(all)
}
