package gitlabfake

import (
	_ "embed"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/requesttable"
)

// requestsText lists the requests that we send and the answers that we read, from GitLab's OpenAPI document and source.
//
//go:embed testdata/requests.yaml
var requestsText []byte

var requests = requesttable.MustParse(requestsText)
