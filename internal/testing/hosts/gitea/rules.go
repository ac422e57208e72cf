package gitea

import (
	_ "embed"
	"fmt"
	"net/url"
	"strings"

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
	op := requests.Find(r.Method, apiPrefix+r.Path)
	if op == nil {
		return fmt.Errorf("%s %s is not in requests.yaml", r.Method, r.Path)
	}
	query, err := url.ParseQuery(r.Query)
	if err != nil {
		return err
	}
	if problems := op.CheckRequest(query, []byte(r.Body)); len(problems) > 0 {
		return fmt.Errorf("%s %s is not as in requests.yaml: %s", r.Method, r.Path, strings.Join(problems, ", "))
	}
	return nil
}
