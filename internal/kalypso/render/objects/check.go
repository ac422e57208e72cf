package objects

import "fmt"

// Defect is a kind of fault in an object that is valid for a cluster, but probably not intended.
type Defect int

// The defects.
const (
	None Defect = iota
	// OtherNamespace is an object outside of the namespace of its assignment.
	OtherNamespace
)

// Identified reports whether the object has all keys that identify an object. If not, a [Validator] returns the reason.
func (o *Object) Identified() bool {
	return len(o.APIVersion) > 0 && len(o.Kind) > 0 && len(o.Name) > 0
}

// Check returns the defect of an object of an assignment with that namespace, and a description of it. anywhere says
// that the object may be in any namespace, as a reconciler's may. It returns no defect for an object without the
// identifying keys, which a [Validator] reports.
func (o *Object) Check(namespace string, anywhere bool) (Defect, string) {
	switch {
	case !o.Identified(), string(o.Group()) == "kustomize.config.k8s.io": // such as kustomize's own objects
	case len(o.Namespace) == 0 && o.namespaced():
		return OtherNamespace, o.String() + " has no namespace"
	case !anywhere && len(o.Namespace) > 0 && string(o.Namespace) != namespace:
		return OtherNamespace, fmt.Sprintf("%s is not in %s", o, namespace)
	}
	return None, ""
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
