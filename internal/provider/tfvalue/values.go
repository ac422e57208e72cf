package tfvalue

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// Nullable returns a string, or null if it is empty.
func Nullable(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return Text(text)
}

// Text returns a string. Git has file names and messages that are not UTF-8, and Terraform has only UTF-8: Text escapes
// each byte that belongs to no character, such as \xff.
func Text(text string) types.String { return types.StringValue(validText(text)) }

func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[0])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// StringListOf returns a list of strings.
func StringListOf(texts []string) types.List {
	all := lists.Map(texts, func(s string) attr.Value { return Text(s) })
	return types.ListValueMust(types.StringType, all)
}

// ScalarText returns a string, or a number or a bool as Terraform converts it to a string.
func ScalarText(v attr.Value) (text string, ok bool) {
	if IsNull(v) {
		return "", false
	}
	switch v := v.(type) {
	case basetypes.StringValue:
		return v.ValueString(), true
	case basetypes.BoolValue, basetypes.Int64Value:
		return v.String(), true
	case basetypes.NumberValue:
		return v.ValueBigFloat().Text('f', -1), true
	}
	return "", false
}

// wholeNumber returns the number of an attribute with a schema, or of a value of a dynamic type.
func wholeNumber(v attr.Value) (n int64, ok bool) {
	switch v := v.(type) {
	case basetypes.Int64Value:
		return v.ValueInt64(), true
	case basetypes.NumberValue:
		n, accuracy := v.ValueBigFloat().Int64()
		return n, accuracy == big.Exact
	}
	return 0, false
}

// IsNull reports whether v is null, or missing.
func IsNull(v attr.Value) bool { return v == nil || v.IsNull() }

// Underlying unwraps a value of a dynamic type.
func Underlying(v attr.Value) attr.Value {
	if d, ok := v.(types.Dynamic); ok && !d.IsNull() && !d.IsUnknown() {
		return d.UnderlyingValue()
	}
	return v
}

// Members returns the attributes of an object, or the elements of a map.
func Members(v attr.Value) (map[string]attr.Value, bool) {
	switch v := v.(type) {
	case basetypes.ObjectValue:
		return v.Attributes(), true
	case basetypes.MapValue:
		return v.Elements(), true
	}
	return nil, false
}

// Elements returns the elements of a list, a tuple or a set.
func Elements(v attr.Value) ([]attr.Value, bool) {
	switch v := v.(type) {
	case basetypes.ListValue:
		return v.Elements(), true
	case basetypes.TupleValue:
		return v.Elements(), true
	case basetypes.SetValue:
		return v.Elements(), true
	}
	return nil, false
}

// WhollyKnown reports whether a value and all values in it are known.
func WhollyKnown(v attr.Value) bool {
	if v == nil {
		return true
	}
	v = Underlying(v)
	members, _ := Members(v)
	elements, _ := Elements(v)
	parts := slices.AppendSeq(elements, maps.Values(members))
	return !v.IsUnknown() && !slices.ContainsFunc(parts, func(e attr.Value) bool { return !WhollyKnown(e) })
}
