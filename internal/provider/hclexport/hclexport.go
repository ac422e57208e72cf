package hclexport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// ResourceText writes a resource as HCL in the usual style: it omits null, uses heredocs for multi-line strings and
// jsonencode for JSON. references maps arguments to expressions that replace their values. The result is formatted like
// terraform fmt.
func ResourceText(address string, arguments map[string]attr.Value, references map[string]string) string {
	var b strings.Builder
	resource, name, _ := strings.Cut(address, ".")
	b.WriteString("resource " + Quoted(resource) + " " + Quoted(name) + " {\n")
	for _, argument := range argumentOrder(arguments) {
		text := references[argument]
		if text == "" {
			text = valueText(arguments[argument], 1)
		}
		if text != "null" {
			b.WriteString(argument + " = " + text + "\n")
		}
	}
	b.WriteString("}\n")
	return string(hclwrite.Format([]byte(b.String())))
}

// argumentOrder sorts the arguments of an object: name, labels, short values, the rest.
func argumentOrder(arguments map[string]attr.Value) []string {
	rank := func(name string) int {
		_, scalar := tfvalue.ScalarText(arguments[name])
		switch {
		case name == "name":
			return 0
		case name == "labels":
			return 1
		case scalar:
			return 2
		}
		return 3
	}
	names := slices.Sorted(maps.Keys(arguments))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// valueText writes a known value as an expression. depth counts the blocks, objects and lists around it.
func valueText(v attr.Value, depth int) string {
	if tfvalue.IsNull(v) {
		return "null"
	}
	switch v := v.(type) {
	case basetypes.BoolValue, basetypes.Int64Value:
		return v.String()
	case basetypes.StringValue:
		return stringText(v.ValueString(), depth)
	case basetypes.ListValue:
		return listText(lists.Map(v.Elements(), func(e attr.Value) string { return valueText(e, depth+1) }))
	case basetypes.MapValue:
		return mapText(slices.Sorted(maps.Keys(v.Elements())), v.Elements(), depth+1)
	case basetypes.ObjectValue:
		given := maps.Clone(v.Attributes())
		maps.DeleteFunc(given, func(_ string, e attr.Value) bool { return tfvalue.IsNull(e) })
		return mapText(argumentOrder(given), given, depth+1)
	}
	panic(fmt.Sprintf("no model has an argument of type %T", v))
}

func mapText(keys []string, values map[string]attr.Value, depth int) string {
	return braced(lists.Map(keys, func(k string) string { return keyText(k) + " = " + valueText(values[k], depth) }))
}

// keyText returns a key of an object, quoted if needed.
func keyText(k string) string {
	if hclsyntax.ValidIdentifier(k) && k != "for" {
		return k
	}
	return Quoted(k)
}

// braced returns an object, on one line if it is short and has one item.
func braced(items []string) string {
	switch {
	case len(items) == 0:
		return "{}"
	case len(items) == 1 && short(items[0]):
		return "{ " + items[0] + " }"
	}
	return "{\n" + strings.Join(items, "\n") + "\n}"
}

// listText returns a list, on one line if its items are short.
func listText(items []string) string {
	if all := strings.Join(items, ", "); short(all) {
		return "[" + all + "]"
	}
	return "[\n" + strings.Join(items, ",\n") + ",\n]"
}

func short(text string) bool { return len(text) <= 80 && !strings.Contains(text, "\n") }

// stringText returns a string in its most readable form that Terraform evaluates to the same string.
func stringText(s string, depth int) string {
	for _, text := range []string{jsonText(s), heredoc(s, strings.Repeat("  ", depth)), heredoc(s, "")} {
		if text != "" && evaluates(text, s) {
			return text
		}
	}
	return Quoted(s)
}

// Quoted returns a quoted HCL string.
func Quoted(s string) string { return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes()) }

// heredoc returns a multi-line string as a heredoc with the indent, or "" if it can't be one.
func heredoc(s, indent string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if len(lines) == 1 {
		return ""
	}
	var b strings.Builder
	for _, line := range lines {
		if line != "" {
			b.WriteString(indent + templateText.Replace(line))
		}
		b.WriteString("\n")
	}
	text := "<<-EOT\n" + b.String() + indent + "EOT\n"
	if !strings.HasSuffix(s, "\n") {
		return "chomp(" + text + ")"
	}
	return text
}

// templateText escapes template sequences in a heredoc.
var templateText = strings.NewReplacer("${", "$${", "%{", "%%{")

// jsonText returns a JSON object or array as a jsonencode call, or "" if the string is neither.
func jsonText(s string) string {
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	return "jsonencode(" + jsonValueText(v) + ")"
}

func jsonValueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case string:
		return Quoted(v)
	case []any:
		return listText(lists.Map(v, jsonValueText))
	}
	object, _ := v.(map[string]any)
	items := lists.Map(slices.Sorted(maps.Keys(object)), func(k string) string {
		return keyText(k) + " = " + jsonValueText(object[k])
	})
	return braced(items)
}

// evaluates reports whether Terraform reads an expression as the string s.
func evaluates(text, s string) bool {
	expression, problems := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if problems.HasErrors() {
		return false
	}
	v, problems := expression.Value(&hcl.EvalContext{Functions: map[string]function.Function{
		"chomp": stdlib.ChompFunc, "jsonencode": stdlib.JSONEncodeFunc,
	}})
	return !problems.HasErrors() && v.RawEquals(cty.StringVal(s))
}
