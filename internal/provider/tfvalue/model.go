package tfvalue

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// Nested reads the attributes of a nested object. If the object is unknown, all of them are.
func Nested[T any](ctx context.Context, object types.Object) (attributes T) {
	if object.IsUnknown() {
		unknown := map[string]attr.Value{}
		for name, t := range object.AttributeTypes(ctx) {
			v, err := t.ValueFromTerraform(ctx, tftypes.NewValue(t.TerraformType(ctx), tftypes.UnknownValue))
			if err != nil {
				panic(err) // every type has an unknown value
			}
			unknown[name] = v
		}
		object = types.ObjectValueMust(object.AttributeTypes(ctx), unknown)
	}
	diags := object.As(ctx, &attributes, basetypes.ObjectAsOptions{UnhandledNullAsEmpty: true})
	if diags.HasError() {
		panic(fmt.Sprintf("%T does not match the schema: %v", attributes, diags)) // a test reads every model
	}
	return attributes
}

// Text returns a string for the domain: [unknown.Text] if it is unknown, empty if it is null.
func Text(v types.String) string {
	if v.IsUnknown() {
		return unknown.Text
	}
	return v.ValueString()
}

// Number returns a whole number as text for the domain, like [Text].
func Number(v types.Int64) string {
	switch {
	case v.IsUnknown():
		return unknown.Text
	case v.IsNull():
		return ""
	}
	return strconv.FormatInt(v.ValueInt64(), 10)
}

// Texts returns the strings of a set. An unknown set has one unknown element.
func Texts(set types.Set) (all []string) {
	if set.IsUnknown() {
		return []string{unknown.Text}
	}
	for _, v := range set.Elements() {
		s, _ := v.(types.String)
		all = append(all, Text(s))
	}
	return all
}

// TextMap returns the strings of a map. An unknown map has one unknown element.
func TextMap(m types.Map) map[string]string {
	if m.IsUnknown() {
		return map[string]string{unknown.Text: unknown.Text}
	}
	all := make(map[string]string, len(m.Elements()))
	for k, v := range m.Elements() {
		s, _ := v.(types.String)
		all[k] = Text(s)
	}
	return all
}

// FullyKnown reports whether the values and all values in them are known.
func FullyKnown(ctx context.Context, values ...attr.Value) bool {
	return !slices.ContainsFunc(values, func(v attr.Value) bool {
		whole, err := v.ToTerraformValue(ctx)
		return err != nil || !whole.IsFullyKnown()
	})
}
