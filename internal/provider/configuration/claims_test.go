package configuration

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A resource that is replaced is planned as an update and as a create. It claims its object once.
func TestClaimOfReplacedResource(t *testing.T) {
	var claims configClaims
	config := tftypes.NewValue(tftypes.String, "config")
	if !claims.take("key", config, false) || !claims.take("key", config, true) {
		t.Error("a resource that is replaced is an error")
	}
	if claims.take("key", config, false) {
		t.Error("a second resource with the same configuration is no error")
	}
}
