package configuration

import (
	"testing"
)

// Every argument of the provider has a description, and the framework finds no errors.
func TestProviderSchema(t *testing.T) {
	if diags := Schema.ValidateImplementation(t.Context()); diags.HasError() {
		t.Error(diags)
	}
	for name, a := range Schema.Attributes {
		if a.GetMarkdownDescription() == "" {
			t.Errorf("the provider's %s is not described", name)
		}
	}
}
