package objects

import "bytes"

// ServedVersion returns the API version that the object should have, if it is a Flux object with a version that Flux no
// longer serves. Otherwise it returns "". Flux 2.8 removed all versions before v1 of sources and Kustomizations, and
// all versions before v2 of HelmReleases.
func (o *Object) ServedVersion() string {
	served := ""
	switch string(o.Group()) {
	case "source.toolkit.fluxcd.io":
		served = "source.toolkit.fluxcd.io/v1"
	case "kustomize.toolkit.fluxcd.io":
		served = "kustomize.toolkit.fluxcd.io/v1"
	case "helm.toolkit.fluxcd.io":
		served = "helm.toolkit.fluxcd.io/v2"
	}
	if served == "" || !preRelease(o.APIVersion) {
		return ""
	}
	return served
}

// preRelease reports whether an API version is an alpha or a beta.
func preRelease(apiVersion []byte) bool {
	version := apiVersion[bytes.IndexByte(apiVersion, '/')+1:]
	return bytes.Contains(version, []byte("alpha")) || bytes.Contains(version, []byte("beta"))
}
