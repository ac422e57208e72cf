package schemas

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Typed computes the types of nested attributes once. Otherwise the framework computes them again for each value, each
// time it walks a plan or a state.
func Typed(attributes map[string]schema.Attribute) map[string]schema.Attribute {
	all := maps.Clone(attributes)
	for name, a := range all {
		switch a := a.(type) {
		case schema.SingleNestedAttribute:
			if a.CustomType == nil {
				a.Attributes = Typed(a.Attributes)
				a.CustomType = objectOf(a.Attributes)
				all[name] = a
			}
		case schema.ListNestedAttribute:
			a.NestedObject = typedObject(a.NestedObject)
			a.CustomType = types.ListType{ElemType: a.NestedObject.CustomType}
			all[name] = a
		case schema.MapNestedAttribute:
			a.NestedObject = typedObject(a.NestedObject)
			a.CustomType = types.MapType{ElemType: a.NestedObject.CustomType}
			all[name] = a
		}
	}
	return all
}

func typedObject(o schema.NestedAttributeObject) schema.NestedAttributeObject {
	o.Attributes = Typed(o.Attributes)
	o.CustomType = objectOf(o.Attributes)
	return o
}

func objectOf(attributes map[string]schema.Attribute) types.ObjectType {
	t := types.ObjectType{AttrTypes: make(map[string]attr.Type, len(attributes))}
	for name, a := range attributes {
		t.AttrTypes[name] = a.GetType()
	}
	return t
}
