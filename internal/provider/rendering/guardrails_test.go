package rendering

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
)

// TestEffectiveGuardrails: the first plan lists each guardrail of the schema, with the default that the docs name.
func TestEffectiveGuardrails(t *testing.T) {
	t.Parallel()
	object, ok := environmentRenderingSchema().Attributes["guardrails"].(schema.SingleNestedAttribute)
	if !ok {
		t.Fatal("guardrails is no object")
	}
	listed := guardrailValues(readGuardrails(resources.Model{}.Decoder()))
	names := slices.Sorted(maps.Keys(object.Attributes))
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(listed))); diff != "" {
		t.Errorf("the listed guardrails (-schema +listed):\n%s", diff)
	}
	for name, attribute := range object.Attributes {
		said := regexp.MustCompile("default\\s+is `(.*?)`").FindStringSubmatch(attribute.GetMarkdownDescription())
		if len(said) == 0 || said[1] != fmt.Sprint(listed[name]) {
			t.Errorf("the default of %s is %s, and the docs say: %s", name, listed[name], attribute.GetMarkdownDescription())
		}
	}
}
