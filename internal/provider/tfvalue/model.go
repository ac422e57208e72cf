package tfvalue

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// modelTag is the tag of a model's field with the name of the attribute. The framework reads and writes models by it.
const modelTag = "tfsdk"

// Attributes returns the values of a model, or of a pointer to one, by the names of their attributes.
func Attributes(model any) map[string]attr.Value {
	v := reflect.Indirect(reflect.ValueOf(model))
	all := map[string]attr.Value{}
	for _, field := range reflect.VisibleFields(v.Type()) {
		name := field.Tag.Get(modelTag)
		if name == "" {
			continue // a struct whose fields are visible, or no attribute
		}
		if value, ok := v.FieldByIndex(field.Index).Interface().(attr.Value); ok {
			all[name] = value
		}
	}
	return all
}

// NewModelDecoder reads a model. It adds what is wrong to problems.
func NewModelDecoder(model any, problems *problem.Problems) Decoder {
	return Decoder{Arguments: Attributes(model), Problems: problems}
}
