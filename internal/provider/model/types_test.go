package model

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// The cached types equal the types that the framework builds, on every level.
func TestTyped(t *testing.T) {
	kinds := map[string]map[string]schema.Attribute{"rendering": {}}
	for _, m := range All {
		kinds[m.name] = m.Attributes()
		if m.attribute != "" {
			kinds["rendering"][m.attribute] = nestedAttributes(m.attribute, "")
		}
	}
	for name, attributes := range kinds {
		all := schemas.Typed(attributes)
		if len(all) != len(attributes) {
			t.Errorf("%s has %d cached types of attributes, another number than attributes", name, len(all))
		}
		for attribute, a := range attributes {
			if got, want := all[attribute].GetType(), a.GetType(); !got.Equal(want) {
				t.Errorf("%s of %s is %s, want %s", attribute, name, got, want)
			}
			nested, ok := all[attribute].(schema.MapNestedAttribute)
			if ok && (nested.CustomType == nil || nested.NestedObject.CustomType == nil) {
				t.Errorf("the type of %s of %s is not cached", attribute, name)
			}
		}
	}
}
