package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
)

// Every resource has an identity, which changes with its arguments.
func TestEveryResourceHasAnIdentity(t *testing.T) {
	ctx := t.Context()
	for _, create := range provider.New("test")().Resources(ctx) {
		made := create()
		var metadata resource.MetadataResponse
		made.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: "kalypso"}, &metadata)
		if _, ok := made.(resource.ResourceWithIdentity); !ok || !metadata.ResourceBehavior.MutableIdentity {
			t.Errorf("%s has no identity that can change", metadata.TypeName)
		}
	}
}
