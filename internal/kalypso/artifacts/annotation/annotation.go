// Package annotation names the annotations of the artifacts, beside those of OCI. Flux repeats them in the status of
// an OCIRepository.
package annotation

const (
	// Tree is the hash of the Git tree that the artifact contains.
	Tree = "io.github.terraform-kalypso.tree"
	// Folder is the path of this tree, from the root of the GitOps repo.
	Folder = "io.github.terraform-kalypso.folder"
)
