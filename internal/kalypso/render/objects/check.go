package objects

import "fmt"

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
