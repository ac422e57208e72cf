package rendering

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// TestEffectiveGuardrails: each guardrail of the schema is among the effective ones, as configured or with the default
// that the docs name.
func TestEffectiveGuardrails(t *testing.T) {
	guardrails, _ := environmentRenderingSchema(t.Context()).Attributes["guardrails"].(schema.SingleNestedAttribute)
	attributes := guardrails.Attributes
	attributeTypes := map[string]attr.Type{}
	for name, a := range attributes {
		attributeTypes[name] = a.GetType()
	}
	effective := func(name string, value attr.Value) map[string]attr.Value {
		values := map[string]attr.Value{}
		for name, kind := range attributeTypes {
			values[name] = types.StringNull()
			if kind.Equal(types.BoolType) {
				values[name] = types.BoolNull()
			}
		}
		if name != "" {
			values[name] = value
		}
		m := &environmentRenderingModel{Guardrails: types.ObjectValueMust(attributeTypes, values)}
		m.setEffectiveGuardrails()
		return m.EffectiveGuardrails.Elements()
	}
	defaults := effective("", nil)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(attributes)), slices.Sorted(maps.Keys(defaults))); diff != "" {
		t.Errorf("the effective guardrails (-schema +effective):\n%s", diff)
	}
	for name, a := range attributes {
		if text, is := defaults[name].(types.String); !is ||
			!strings.Contains(a.GetMarkdownDescription(), "efault is `"+text.ValueString()+"`") {
			t.Errorf("the default of %s is %s, and the docs say: %s", name, text, a.GetMarkdownDescription())
		}
		given, unknown := attr.Value(types.StringValue("7%")), attr.Value(types.StringUnknown())
		want := "7%"
		switch {
		case attributeTypes[name].Equal(types.BoolType):
			given, unknown, want = types.BoolValue(true), types.BoolUnknown(), "true"
		case strings.Contains(a.GetMarkdownDescription(), "One of "):
			given, want = types.StringValue("ignore"), "ignore"
		}
		if got := effective(name, given)[name]; !types.StringValue(want).Equal(got) {
			t.Errorf("%s = %s is %s", name, given, got)
		}
		if got := effective(name, unknown)[name]; !got.IsUnknown() {
			t.Errorf("%s is unknown, and %s", name, got)
		}
	}
}
