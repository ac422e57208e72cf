// Package versions finds the running version of a deployment target. It finds the source of the target's manifests in
// the objects of its folder, and reads them at the commit that a cluster applied.
package versions

import (
	"bytes"
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Place is the source of the manifests of a deployment target.
type Place struct {
	Repo   string // URL of a repo, registry or chart repository; "": unknown
	Branch string // "": unknown
	Path   string // relative to the repo's root, clean; or the name of a chart
}

// Object is an object of Flux or Argo CD that syncs a deployment target.
type Object struct {
	Reference Reference
	Place     Place
}

// Reference names an object.
type Reference struct{ Kind, Namespace, Name string }

// String returns the name of the object as [deployment.Report] has it.
func (r Reference) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// The kinds that are read, by group and kind.
const (
	kustomization  = "kustomize.toolkit.fluxcd.io/Kustomization"
	helmRelease    = "helm.toolkit.fluxcd.io/HelmRelease"
	application    = "argoproj.io/Application"
	gitRepository  = "source.toolkit.fluxcd.io/GitRepository"
	ociRepository  = "source.toolkit.fluxcd.io/OCIRepository"
	helmRepository = "source.toolkit.fluxcd.io/HelmRepository"
	bucket         = "source.toolkit.fluxcd.io/Bucket"
)

// groups are those of the kinds. A text without any of them has none of the objects.
var groups = [][]byte{[]byte(".toolkit.fluxcd.io/"), []byte("argoproj.io/")}

// Find returns the objects in the files of a deployment target's folder, sorted by name. It skips files that it cannot
// parse.
func Find(files map[string][]byte) []Object {
	var found []node
	for _, content := range files {
		if slices.ContainsFunc(groups, func(group []byte) bool { return bytes.Contains(content, group) }) {
			found = append(found, documents(content)...)
		}
	}
	sources := map[Reference]node{}
	for _, o := range found {
		switch o.groupKind() {
		case gitRepository, ociRepository, helmRepository, bucket:
			sources[o.self()] = o
		}
	}
	var all []Object
	for _, o := range found {
		var place Place
		switch o.groupKind() {
		case kustomization:
			place = placeOf(sources[o.reference("spec", "sourceRef")], clean(o.text("spec", "path")))
		case helmRelease:
			from, chart := o.reference("spec", "chartRef"), ""
			if from.Name == "" {
				from, chart = o.reference("spec", "chart", "spec", "sourceRef"), o.text("spec", "chart", "spec", "chart")
			}
			place = placeOf(sources[from], chart)
		case application:
			place = o.application()
		default:
			continue
		}
		all = append(all, Object{o.self(), place})
	}
	slices.SortFunc(all, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Reference.String(), b.Reference.String()), cmp.Compare(a.Place.Repo, b.Place.Repo),
			cmp.Compare(a.Place.Branch, b.Place.Branch), cmp.Compare(a.Place.Path, b.Place.Path))
	})
	return all
}

// placeOf returns a path of a source of Flux.
func placeOf(source node, at string) Place {
	if source.Node == nil {
		return Place{Path: at}
	}
	return Place{withoutSecrets(source.text("spec", "url")), source.text("spec", "ref", "branch"), at}
}

// application returns the place that an Argo CD Application syncs.
func (n node) application() Place {
	if dry := n.at("spec", "sourceHydrator"); dry.Node != nil {
		repo, synced := withoutSecrets(dry.text("drySource", "repoURL")), dry.at("syncSource")
		return Place{repo, synced.text("targetBranch"), clean(synced.text("path"))}
	}
	source := n.at("spec", "source")
	if several := n.at("spec", "sources").elements(); len(several) > 0 {
		source = several[deployment.FirstSource(several, func(s node) string { return s.text("path") })]
	}
	repo := withoutSecrets(source.text("repoURL"))
	if chart := source.text("chart"); chart != "" {
		return Place{Repo: repo, Path: chart}
	}
	return Place{repo, source.text("targetRevision"), clean(source.text("path"))}
}

// withoutSecrets returns a URL without the parts that may contain a secret: user and password, except for the user of
// SSH, and the query.
func withoutSecrets(repo string) string {
	if !strings.Contains(repo, "://") {
		return repo
	}
	u, err := url.Parse(repo)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	if u.Scheme == "ssh" && u.User != nil {
		u.User = url.User(u.User.Username())
	} else {
		u.User = nil
	}
	return u.String()
}

// clean returns a path relative to the root, "." for the root.
func clean(p string) string { return cmp.Or(strings.TrimPrefix(path.Clean("/"+p), "/"), ".") }

// node is a YAML value. A field that is absent or has another type reads as the zero value. Aliases are only followed
// in the identity of an object, so that what is read is never larger than the text.
type node struct{ *yaml.Node }

// maxDocuments limits the documents of a place.
const maxDocuments = 10_000

// documents returns the documents of a text that are maps, and the items of lists, up to the first one that is broken
// or beyond the limit.
func documents(content []byte) []node {
	var all []node
	d := yaml.NewDecoder(bytes.NewReader(content))
	for range maxDocuments + 1 {
		var document yaml.Node
		if err := d.Decode(&document); err != nil {
			return all
		}
		for _, n := range document.Content {
			root := node{n}
			if items := root.at("items").elements(); strings.HasSuffix(root.text("kind"), "List") && len(items) > 0 {
				all = append(all, items...)
			} else if n.Kind == yaml.MappingNode {
				all = append(all, root)
			}
		}
	}
	return all
}

// at returns the value at a path of keys.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		if n.Node == nil || n.Kind != yaml.MappingNode {
			return node{}
		}
		var value *yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				value = n.Content[i+1]
			}
		}
		n.Node = value
	}
	return n
}

func (n node) text(keys ...string) string {
	if v := n.at(keys...); v.Node != nil && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
		return v.Value
	}
	return ""
}

func (n node) elements() []node {
	if n.Node == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return lists.Map(n.Content, func(c *yaml.Node) node { return node{c} })
}

// groupKind returns the group, without the version, and the kind.
func (n node) groupKind() string {
	o := n.identity()
	group, _, _ := strings.Cut(o.APIVersion, "/")
	return group + "/" + o.Kind
}

// self returns the reference to an object.
func (n node) self() Reference {
	o := n.identity()
	return Reference{o.Kind, o.Metadata.Namespace, o.Metadata.Name}
}

// identity contains the fields that identify an object.
type identity struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Namespace, Name string }
}

// identity returns the identity of an object. It follows aliases, since clusters do.
func (n node) identity() (o identity) {
	_ = n.Decode(&o) // a field of another type stays empty
	return o
}

// reference returns the reference in a field. The namespace defaults to the object's own.
func (n node) reference(keys ...string) Reference {
	to := n.at(keys...)
	return Reference{to.text("kind"), cmp.Or(to.text("namespace"), n.text("metadata", "namespace")), to.text("name")}
}
