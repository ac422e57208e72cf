package versions

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// Manifests contains the versions from the files of a place.
type Manifests struct {
	Tree        string // hash of the folder
	CommittedAt time.Time
	descriptors []descriptor
	// label and tag are the common values of all labels and of all images; "": they differ, or there is none.
	label, tag string
}

// descriptor is a DeploymentDescriptor of Microsoft's Deployment Observability Hub.
type descriptor struct {
	target, environment string // of the descriptor's deploymentTarget
	version             observation.Version
}

// parse reads the files of a place. Files that are no YAML do not count. The error is [ErrDocuments].
func parse(files map[string][]byte) (Manifests, error) {
	var m Manifests
	labels, tags := map[string]bool{}, map[string]bool{}
	left := maxDocuments
	for _, path := range slices.Sorted(maps.Keys(files)) {
		found := documents(files[path])
		left -= len(found)
		if left < 0 {
			return Manifests{}, ErrDocuments
		}
		for _, o := range found {
			if strings.HasPrefix(o.groupKind(), "hub.kalypso.io/") && o.text("kind") == "DeploymentDescriptor" {
				m.descriptors = append(m.descriptors, newDescriptor(o))
				continue
			}
			if label := o.text("metadata", "labels", "app.kubernetes.io/version"); label != "" {
				labels[deployment.OneLine(label)] = true
			}
			o.images(func(image string) { tags[deployment.OneLine(tagOf(image))] = true })
		}
	}
	m.label, m.tag = only(labels), only(tags)
	return m, nil
}

func newDescriptor(o node) descriptor {
	workload, version := o.at("spec", "workload"), o.at("spec", "workloadVersion")
	d := descriptor{
		target:      workload.text("name") + "-" + o.text("spec", "deploymentTarget", "name"),
		environment: o.text("spec", "deploymentTarget", "environment"),
		version: observation.Version{
			Version:     deployment.OneLine(version.text("version")),
			Workload:    deployment.OneLine(workload.text("name")),
			Application: deployment.OneLine(workload.text("application", "name")),
			Workspace:   deployment.OneLine(workload.text("application", "workspace", "name")),
			Build:       deployment.OneLine(version.text("build")),
		},
	}
	if at, err := time.Parse(time.RFC3339, version.text("buildTime")); err == nil {
		d.version.BuiltAt = at.UTC()
	}
	return d
}

// Version returns the version of a deployment target in an environment: from the descriptor that names both, or from
// the only descriptor, or else from the labels or the images. It is "" if none of them does.
func (m *Manifests) Version(target, environment string) observation.Version {
	v := m.descriptor(target, environment)
	v.Version = cmp.Or(v.Version, m.label, m.tag)
	return v
}

func (m *Manifests) descriptor(target, environment string) observation.Version {
	found := map[observation.Version]bool{}
	var last observation.Version
	for _, d := range m.descriptors {
		if d.target == target && d.environment == environment {
			found[d.version], last = true, d.version
		}
	}
	switch {
	case len(found) == 1:
		return last
	case len(found) == 0 && len(m.descriptors) == 1:
		return m.descriptors[0].version
	}
	return observation.Version{}
}

// only returns the key of a map that has one.
func only(set map[string]bool) string {
	if keys := slices.Collect(maps.Keys(set)); len(keys) == 1 {
		return keys[0]
	}
	return ""
}

// images calls visit with the image of each container in an object.
func (n node) images(visit func(string)) {
	if n.Node == nil {
		return
	}
	for _, key := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, container := range n.at(key).elements() {
			if image := container.text("image"); image != "" {
				visit(image)
			}
		}
	}
	for _, c := range n.Content {
		node{c}.images(visit)
	}
}

// tagOf returns the tag of an image; "": it has none.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name := image[strings.LastIndex(image, "/")+1:] // a registry may have a port
	_, tag, _ := strings.Cut(name, ":")
	return tag
}
