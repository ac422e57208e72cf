package artifacts_test

import (
	"testing"

	"oras.land/oras-go/v2/registry/remote"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// open opens the repository of a cluster type without the provider, as people do to change it.
func (r *run) open(clusterType string) *remote.Repository {
	r.T.Helper()
	return open(r.T, acc.As[string](r.given["repository"]), clusterType)
}

// open opens the repository of a cluster type below another repository.
func open(t *testing.T, repository, clusterType string) *remote.Repository {
	t.Helper()
	base, err := registry.ParseRepository(repository)
	if err != nil {
		t.Fatal(err)
	}
	name, err := base.Join(clusterType)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := registry.New(nil, httpapi.Access{UserAgent: "test"}).Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}
