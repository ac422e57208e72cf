package artifacts

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Artifact is the published folder of a cluster type.
type Artifact struct {
	Ref      string `json:"ref"` // the repository with the tree's hash as the tag
	Digest   string `json:"digest"`
	TreeHash string `json:"tree_hash"`
	// Missing means that a refresh did not find the manifest in the registry. Another build of it may have another digest.
	Missing bool `json:"missing,omitempty"`
}

// nameError means that a registry accepts no repository with the name of a cluster type.
type nameError struct {
	ClusterType string
	Err         error
}

// Error implements error.
func (e *nameError) Error() string { return fmt.Sprintf("cluster type %q: %s", e.ClusterType, e.Err) }

// Unwrap returns the cause.
func (e *nameError) Unwrap() error { return e.Err }

// Plan returns the artifacts that a publication of folders with these tree hashes leaves, by cluster type. published
// are those of the last publication. The digest of an artifact is "" if it must be found or built first.
func Plan(
	base registry.Repository, hashes map[string]string, published map[string]Artifact,
) (map[string]Artifact, error) {
	plan := map[string]Artifact{}
	var errs []error
	for _, clusterType := range slices.Sorted(maps.Keys(hashes)) {
		repository, err := base.Join(clusterType)
		if err != nil {
			errs = append(errs, &nameError{clusterType, err})
			continue
		}
		a := Artifact{Ref: repository.String() + ":" + hashes[clusterType], TreeHash: hashes[clusterType]}
		if last := published[clusterType]; last.Ref == a.Ref && !last.Missing {
			a.Digest = last.Digest
		}
		plan[clusterType] = a
	}
	return plan, problem.Join(errs...)
}
