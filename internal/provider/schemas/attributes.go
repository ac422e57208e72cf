package schemas

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// RequiredString returns a required string argument.
func RequiredString(description string, checks ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{Required: true, MarkdownDescription: description, Validators: checks}
}

// OptionalString returns an optional string argument.
func OptionalString(description string, checks ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: checks}
}

// OptionalTexts returns an optional list of strings.
func OptionalTexts(description string) schema.ListAttribute {
	return schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
}

// OptionalStrings returns an optional map of strings.
func OptionalStrings(description string) schema.MapAttribute {
	return schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
}

// OptionalSet returns an optional set of strings.
func OptionalSet(description string) schema.SetAttribute {
	return schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
}

// RequiredObject returns a required object.
func RequiredObject(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Required: true, MarkdownDescription: description, Attributes: attributes, CustomType: objectOf(attributes),
	}
}

// OptionalObject returns an optional object.
func OptionalObject(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: description, Attributes: attributes, CustomType: objectOf(attributes),
	}
}

// OptionalObjects returns an optional list of objects. Arguments that an element requires are optional in the schema:
// see [SelectorArguments].
func OptionalObjects(description string, attributes map[string]schema.Attribute) schema.ListNestedAttribute {
	o := nestedObject(attributes)
	return schema.ListNestedAttribute{
		Optional: true, MarkdownDescription: description, NestedObject: o, CustomType: types.ListType{ElemType: o.CustomType},
	}
}

// OptionalObjectMap is [OptionalObjects] for a map.
func OptionalObjectMap(description string, attributes map[string]schema.Attribute) schema.MapNestedAttribute {
	o := nestedObject(attributes)
	return schema.MapNestedAttribute{
		Optional: true, MarkdownDescription: description, NestedObject: o, CustomType: types.MapType{ElemType: o.CustomType},
	}
}

// OptionalDuration returns an optional argument that is a duration greater than 0.
func OptionalDuration(description string) schema.StringAttribute {
	return OptionalString(description, Valid("duration", CheckDuration))
}

// locationArguments returns the arguments that locate a rendering.
func locationArguments() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"repo":   OptionalString("URL of the GitOps repo. Required."),
		"branch": OptionalString("Branch of the repo. Required."),
		"path":   OptionalString("Path of the rendering in the repo. The default is the root."),
	}
}

// DestinationArgument returns the required argument that takes the gitops_repo of a rendering.
func DestinationArgument(description string) schema.SingleNestedAttribute {
	return RequiredObject(description, locationArguments())
}

// OptionalNumber returns an optional argument that is a whole number.
func OptionalNumber(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: description}
}

// OptionalBool returns an optional bool.
func OptionalBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, MarkdownDescription: description}
}

// ComputedObjects returns a computed list of objects.
func ComputedObjects(description string, attributes map[string]schema.Attribute) schema.ListNestedAttribute {
	o := nestedObject(attributes)
	return schema.ListNestedAttribute{
		Computed: true, MarkdownDescription: description, NestedObject: o, CustomType: types.ListType{ElemType: o.CustomType},
	}
}

// ComputedText returns a computed string.
func ComputedText(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// ComputedTexts returns a computed list of strings.
func ComputedTexts(description string) schema.ListAttribute {
	return schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}

// ComputedMap returns a computed map with elements of a type.
func ComputedMap(description string, element attr.Type) schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: element, MarkdownDescription: description}
}

// ComputedStrings returns a computed map of strings.
func ComputedStrings(description string) schema.MapAttribute {
	return ComputedMap(description, types.StringType)
}

// ComputedNumber returns a computed integer.
func ComputedNumber(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

// ComputedBool returns a computed bool.
func ComputedBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

// ComputedObject returns a computed object.
func ComputedObject(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Computed: true, MarkdownDescription: description, Attributes: attributes, CustomType: objectOf(attributes),
	}
}

// ComputedObjectMap returns a computed map of objects.
func ComputedObjectMap(description string, attributes map[string]schema.Attribute) schema.MapNestedAttribute {
	o := nestedObject(attributes)
	return schema.MapNestedAttribute{
		Computed: true, MarkdownDescription: description, NestedObject: o, CustomType: types.MapType{ElemType: o.CustomType},
	}
}

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
