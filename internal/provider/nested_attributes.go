package provider

import (
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// nestedAttributes returns the argument of a rendering that takes a map of such objects: resources of the kind, or
// objects written inline. All attributes in it are optional and have no validators: during validate, an unknown object
// arrives as an object of nulls. The domain checks them at plan.
func nestedAttributes(attribute, description string) schema.MapNestedAttribute {
	m := modelOf(attribute)
	arguments := m.attributes()
	delete(arguments, manifestAttribute)
	return schema.MapNestedAttribute{
		Optional:            true,
		MarkdownDescription: description,
		NestedObject:        schema.NestedAttributeObject{Attributes: optional(arguments)},
	}
}

func optional(attributes map[string]schema.Attribute) map[string]schema.Attribute {
	all := maps.Clone(attributes)
	for name, a := range all {
		switch a := a.(type) {
		case schema.StringAttribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			all[name] = a
		case schema.BoolAttribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			all[name] = a
		case schema.Int64Attribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			all[name] = a
		case schema.MapAttribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			all[name] = a
		case schema.ListAttribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			all[name] = a
		case schema.SingleNestedAttribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			a.Attributes = optional(a.Attributes)
			all[name] = a
		case schema.MapNestedAttribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			a.NestedObject.Attributes = optional(a.NestedObject.Attributes)
			all[name] = a
		case schema.ListNestedAttribute:
			a.MarkdownDescription = requiredByDomain(a.MarkdownDescription, a.Required)
			a.Required, a.Optional, a.Validators = false, true, nil
			a.NestedObject.Attributes = optional(a.NestedObject.Attributes)
			all[name] = a
		}
	}
	return all
}

// requiredByDomain adds "Required." to the description of an attribute that only the schema treats as optional.
func requiredByDomain(description string, required bool) string {
	if !required || strings.HasSuffix(description, "Required.") {
		return description
	}
	return description + " Required."
}
