// Package artifacts is the resource kalypso_oci_artifacts, which publishes a rendering to an OCI registry.
package artifacts
