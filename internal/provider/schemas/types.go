package schemas

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// nestedObject returns the elements of a list or map of objects. It computes their type once. Otherwise the framework
// computes it again for each value, each time it walks a plan or a state.
func nestedObject(attributes map[string]schema.Attribute) schema.NestedAttributeObject {
	return schema.NestedAttributeObject{Attributes: attributes, CustomType: objectOf(attributes)}
}

func objectOf(attributes map[string]schema.Attribute) types.ObjectType {
	t := types.ObjectType{AttrTypes: make(map[string]attr.Type, len(attributes))}
	for name, a := range attributes {
		t.AttrTypes[name] = a.GetType()
	}
	return t
}
