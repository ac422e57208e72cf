package configuration

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Terraform plans a replaced resource twice, as an update and as a create. Both plans claim the same object, without an
// error.
func TestClaimOfReplacedResource(t *testing.T) {
	var claims configClaims
	config := tftypes.NewValue(tftypes.String, "config")
	if !claims.take("key", config, false) || !claims.take("key", config, true) {
		t.Error("a replaced resource is an error")
	}
	if claims.take("key", config, false) {
		t.Error("a second resource with the same configuration is no error")
	}
}
