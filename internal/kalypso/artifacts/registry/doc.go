// Package registry accesses OCI registries: it parses references, finds the credential for a repository, and sends
// requests with the retries, bounds and redaction of package httpapi.
package registry
