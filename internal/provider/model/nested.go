package model

import (
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// nestedAttributes returns the argument of a rendering that takes a map of such objects: resources of the kind, or
// objects written inline. All attributes in it are optional and have no validators: during validate, an unknown object
// arrives as an object of nulls. The domain checks them at plan.
func (m *model) nestedAttributes(description string) schema.MapNestedAttribute {
	return schemas.OptionalObjectMap(description, Optional(m.Attributes()))
}

// Optional returns the attributes as optional ones without validators, on every level. The description of one that the
// schema no longer requires says that the domain does. The framework has a type for each kind of attribute, all with
// these fields.
func Optional(attributes map[string]schema.Attribute) map[string]schema.Attribute {
	all := make(map[string]schema.Attribute, len(attributes))
	for name, a := range attributes {
		optional := reflect.New(reflect.TypeOf(a)).Elem()
		optional.Set(reflect.ValueOf(a))
		text := optional.FieldByName("MarkdownDescription")
		if a.IsRequired() && !strings.HasSuffix(text.String(), "Required.") {
			text.SetString(text.String() + " Required.")
		}
		optional.FieldByName("Required").SetBool(false)
		optional.FieldByName("Optional").SetBool(true)
		optional.FieldByName("Validators").SetZero()
		object := optional
		if nested := optional.FieldByName("NestedObject"); nested.IsValid() {
			object = nested
		}
		if nested := object.FieldByName("Attributes"); nested.IsValid() {
			inner, _ := nested.Interface().(map[string]schema.Attribute)
			nested.Set(reflect.ValueOf(Optional(inner)))
		}
		all[name] = optional.Interface().(schema.Attribute) //nolint:forcetypeassert // as a
	}
	return all
}
