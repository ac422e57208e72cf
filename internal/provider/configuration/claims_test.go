package configuration

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Terraform plans a replaced resource twice, as an update and as a create. Both plans claim the same object, without an
// error.
func TestClaimOfReplacedResource(t *testing.T) {
	var data Data
	config := tftypes.NewValue(tftypes.String, "config")
	if !data.take("key", config, false) || !data.take("key", config, true) {
		t.Error("a replaced resource is an error")
	}
	if data.take("key", config, false) {
		t.Error("a second resource with the same configuration is no error")
	}
}
