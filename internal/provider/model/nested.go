package model

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
	return schema.MapNestedAttribute{
		Optional:            true,
		MarkdownDescription: description,
		NestedObject:        schema.NestedAttributeObject{Attributes: Optional(m.Attributes())},
	}
}

// Optional returns the attributes as optional ones without validators, on every level.
func Optional(attributes map[string]schema.Attribute) map[string]schema.Attribute {
	all := maps.Clone(attributes)
	for name, a := range all {
		switch a := a.(type) {
		case schema.StringAttribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			all[name] = a
		case schema.BoolAttribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			all[name] = a
		case schema.Int64Attribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			all[name] = a
		case schema.MapAttribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			all[name] = a
		case schema.ListAttribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			all[name] = a
		case schema.SingleNestedAttribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			a.Attributes = Optional(a.Attributes)
			all[name] = a
		case schema.MapNestedAttribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			a.NestedObject.Attributes = Optional(a.NestedObject.Attributes)
			all[name] = a
		case schema.ListNestedAttribute:
			a.Validators = nil
			makeOptional(&a.MarkdownDescription, &a.Required, &a.Optional)
			a.NestedObject.Attributes = Optional(a.NestedObject.Attributes)
			all[name] = a
		}
	}
	return all
}

// makeOptional changes an attribute that the schema no longer requires. Its description says that the domain does.
func makeOptional(description *string, required, optional *bool) {
	if *required && !strings.HasSuffix(*description, "Required.") {
		*description += " Required."
	}
	*required, *optional = false, true
}
