package gitea

import (
	_ "embed"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/requesttable"
)

// requests.yaml lists the requests that the provider may send.
//
//go:embed testdata/requests.yaml
var requestsText []byte

var requests = requesttable.MustParse(requestsText)

// check returns an error for a request that requests.yaml does not have.
func check(r hostfake.Request) error {
	return requests.Check(r.Method, apiPrefix+r.Path, r.Query, []byte(r.Body))
}
