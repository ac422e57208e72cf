package objects

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Object is an object in a document of a rendered file. Its fields share memory with the scanned text. They are empty
// if the document is not a YAML map.
type Object struct {
	// Namespace is also empty for an object of a kind that is cluster-scoped.
	APIVersion, Kind, Namespace, Name []byte

	Document int // its number in the file, from 1; empty documents do not count
}

// Group returns the API group of the object. The core group is empty.
func (o *Object) Group() []byte { return o.APIVersion[:max(0, bytes.IndexByte(o.APIVersion, '/'))] }

// clearNamespace removes the namespace of an object that is in none, even if its metadata names one.
func (o *Object) clearNamespace() {
	if len(o.Namespace) > 0 && isClusterScoped(o.Group(), o.Kind) {
		o.Namespace = nil
	}
}

// namespace returns the namespace for comparisons. "default" becomes empty, since both mean the same.
func (o *Object) namespace() []byte {
	if string(o.Namespace) == "default" {
		return nil
	}
	return o.Namespace
}

// Same reports whether both objects are the same for a cluster: they have the same group, kind, namespace and name.
func (o *Object) Same(other *Object) bool {
	return bytes.Equal(o.Name, other.Name) && bytes.Equal(o.namespace(), other.namespace()) &&
		bytes.Equal(o.Kind, other.Kind) && bytes.Equal(o.Group(), other.Group())
}

var seed = maphash.MakeSeed()

// Hash returns a hash of the object's identity. It differs between processes.
func (o *Object) Hash() uint64 {
	const odd = 0x9e3779b97f4a7c15 // so that the hash depends on the order of the parts
	hash := maphash.Bytes(seed, o.Name)
	hash = hash*odd + maphash.Bytes(seed, o.namespace())
	hash = hash*odd + maphash.Bytes(seed, o.Kind)
	return hash*odd + maphash.Bytes(seed, o.Group())
}

// String returns the object's identity as kubectl writes it, such as "GitRepository.source.toolkit.fluxcd.io
// flux-system/shop".
func (o *Object) String() string {
	text := string(o.Kind)
	if group := o.Group(); len(group) > 0 {
		text += "." + string(group)
	}
	text += " "
	if len(o.Namespace) > 0 {
		text += string(o.Namespace) + "/"
	}
	return printable.Line(text + string(o.Name))
}

// Identified reports whether the object has all keys that identify an object. If not, a [Validator] returns the reason.
func (o *Object) Identified() bool {
	return len(o.APIVersion) > 0 && len(o.Kind) > 0 && len(o.Name) > 0
}

// Stray returns why an object of an assignment is outside of the assignment's namespace, or "". anywhere says that the
// object may be in any namespace, as a reconciler's may. Stray returns "" for an object without the identifying keys,
// which a [Validator] reports.
func (o *Object) Stray(namespace string, anywhere bool) string {
	switch {
	case !o.Identified(), string(o.Group()) == "kustomize.config.k8s.io": // such as kustomize's own objects
	case len(o.Namespace) == 0 && o.namespaced():
		return o.String() + " has no namespace"
	case !anywhere && len(o.Namespace) > 0 && string(o.Namespace) != namespace:
		return fmt.Sprintf("%s is not in %s", o, namespace)
	}
	return ""
}

// namespaced reports whether the kind is known to need a namespace.
func (o *Object) namespaced() bool {
	switch string(o.Group()) {
	case "":
		switch string(o.Kind) {
		case "ConfigMap", "Secret", "Service", "ServiceAccount", "Pod", "PersistentVolumeClaim", "LimitRange",
			"ResourceQuota":
			return true
		}
	case "rbac.authorization.k8s.io":
		return string(o.Kind) == "Role" || string(o.Kind) == "RoleBinding"
	case "networking.k8s.io":
		return string(o.Kind) == "NetworkPolicy" || string(o.Kind) == "Ingress"
	case "external-secrets.io":
		return string(o.Kind) == "ExternalSecret" || string(o.Kind) == "SecretStore"
	case "apps", "batch", "source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io":
		return true
	}
	return false
}

// ServedVersion returns the API version that the object should have, if it is a Flux object with a version that Flux no
// longer serves. Otherwise it returns "". Flux 2.8 removed all versions before v1 of sources and Kustomizations, and
// all versions before v2 of HelmReleases.
func (o *Object) ServedVersion() string {
	if !preRelease(o.APIVersion) {
		return ""
	}
	switch group := string(o.Group()); group {
	case "source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io":
		return group + "/v1"
	case "helm.toolkit.fluxcd.io":
		return group + "/v2"
	}
	return ""
}

// preRelease reports whether an API version is an alpha or a beta.
func preRelease(apiVersion []byte) bool {
	version := apiVersion[bytes.IndexByte(apiVersion, '/')+1:]
	return bytes.Contains(version, []byte("alpha")) || bytes.Contains(version, []byte("beta"))
}
