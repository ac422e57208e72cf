package artifacts_test

import (
	"oras.land/oras-go/v2/registry/remote"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// open opens the repository of a cluster type, as people do.
func (r *run) open(clusterType string) *remote.Repository {
	r.T.Helper()
	base, err := registry.ParseRepository(acc.As[string](r.given["repository"]))
	if err != nil {
		r.T.Fatal(err)
	}
	name, err := base.Join(clusterType)
	if err != nil {
		r.T.Fatal(err)
	}
	opened, err := registry.New(nil, httpapi.Access{UserAgent: "test"}).Open(r.T.Context(), name)
	if err != nil {
		r.T.Fatal(err)
	}
	return opened
}
