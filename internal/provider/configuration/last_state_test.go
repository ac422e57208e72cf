package configuration_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
)

// TestDecodeState decodes the same private state once, and each other one for itself.
func TestDecodeState(t *testing.T) {
	encoded := func(environment string) []byte {
		data, err := (&past.State{Environment: environment}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var d configuration.Data
	decoded := func(environment string) *past.State {
		s, err := d.DecodeState(encoded(environment))
		if err != nil || s.Environment != environment {
			t.Fatalf("%s: %v, %v", environment, s, err)
		}
		return s
	}
	dev := decoded("dev")
	if decoded("dev") != dev {
		t.Error("the same state was decoded again")
	}
	decoded("prod")
	if _, err := d.DecodeState(nil); err == nil {
		t.Error("nothing is taken for a state")
	}
	decoded("dev")
}
