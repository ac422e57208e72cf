package registry

// The annotations of the artifacts, beside those of OCI. Flux repeats them in the status of an OCIRepository.
const (
	// TreeAnnotation is the hash of the Git tree that the artifact contains.
	TreeAnnotation = "io.github.terraform-kalypso.tree"
	// FolderAnnotation is the path of this tree, from the root of the GitOps repo.
	FolderAnnotation = "io.github.terraform-kalypso.folder"
)
