// Package gitops reads and writes the GitOps repository.
package gitops
