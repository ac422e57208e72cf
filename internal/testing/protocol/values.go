package protocol

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

type unknown struct{}

// Unknown stands for a value that is known after the apply of something else.
var Unknown unknown

// Value converts a Go value to a value of Terraform. Objects and maps are map[string]any, lists and sets []any, numbers
// int. nil is null, and so is an attribute that an object does not have. From an object of Terraform it takes only the
// attributes that the type has, as Terraform does. It panics if the type does not allow the value.
func Value(of tftypes.Type, v any) tftypes.Value { return convert(of, v, false) }

// convert converts a Go value. An object that Terraform gave may have attributes that the type lacks.
func convert(of tftypes.Type, v any, given bool) tftypes.Value {
	switch v := v.(type) {
	case unknown:
		return tftypes.NewValue(of, tftypes.UnknownValue)
	case map[string]any:
		return mapping(of, v, given)
	case []any:
		return sequence(of, v, given)
	case tftypes.Value:
		if of.Is(tftypes.DynamicPseudoType) {
			return v
		}
		return convert(of, plain(v), true)
	}
	return tftypes.NewValue(of, v)
}

// as returns a known value in the form of Go for its type.
func as[T any](v tftypes.Value) (form T) {
	if err := v.As(&form); err != nil {
		panic(err)
	}
	return form
}

func mapping(of tftypes.Type, parts map[string]any, given bool) tftypes.Value {
	values := map[string]tftypes.Value{}
	object, _ := of.(tftypes.Object)
	for name, attribute := range object.AttributeTypes {
		values[name] = convert(attribute, parts[name], given)
	}
	elements, isMap := of.(tftypes.Map)
	for name, v := range parts {
		if isMap {
			values[name] = convert(elements.ElementType, v, given)
		} else if _, has := values[name]; !has && !given {
			panic(fmt.Sprintf("%s has no attribute %q", of, name))
		}
	}
	return tftypes.NewValue(of, values)
}

func sequence(of tftypes.Type, parts []any, given bool) tftypes.Value {
	var element tftypes.Type
	switch of := of.(type) {
	case tftypes.List:
		element = of.ElementType
	case tftypes.Set:
		element = of.ElementType
	}
	return tftypes.NewValue(of, lists.Map(parts, func(v any) tftypes.Value { return convert(element, v, given) }))
}

func encode(v tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		panic(err) // the value has this type
	}
	return &encoded
}

func dynamic(schema *tfprotov6.Schema, config map[string]any) *tfprotov6.DynamicValue {
	return encode(Value(schema.ValueType(), config))
}

// propose returns the state that Terraform proposes to the provider. It has the values of the configuration without
// write-only arguments, and the prior values of computed attributes that the configuration does not set. It does not
// support blocks and computed attributes below an argument, since our schemas have none.
func propose(schema *tfprotov6.Schema, prior, config tftypes.Value) tftypes.Value {
	given, was := as[map[string]tftypes.Value](config), as[map[string]tftypes.Value](prior)
	proposed := maps.Clone(given)
	for _, a := range schema.Block.Attributes {
		if len(schema.Block.BlockTypes) > 0 || !a.Computed && a.NestedType != nil && computes(a.NestedType) {
			panic(fmt.Sprintf("argument %q has computed attributes, or the schema has blocks", a.Name))
		}
		if before, there := was[a.Name]; a.Computed && given[a.Name].IsNull() && there {
			proposed[a.Name] = before
		}
		if a.NestedType != nil {
			proposed[a.Name] = withoutWriteOnly(a.NestedType, proposed[a.Name])
		}
	}
	return tftypes.NewValue(config.Type(), proposed)
}

// withoutWriteOnly makes the write-only arguments in a nested object null.
func withoutWriteOnly(o *tfprotov6.SchemaObject, v tftypes.Value) tftypes.Value {
	if o.Nesting != tfprotov6.SchemaObjectNestingModeSingle || v.IsNull() || !v.IsKnown() {
		return v
	}
	parts := maps.Clone(as[map[string]tftypes.Value](v))
	for _, a := range o.Attributes {
		if a.WriteOnly {
			parts[a.Name] = tftypes.NewValue(parts[a.Name].Type(), nil)
		}
	}
	return tftypes.NewValue(v.Type(), parts)
}

func computes(o *tfprotov6.SchemaObject) bool {
	return slices.ContainsFunc(o.Attributes, func(a *tfprotov6.SchemaAttribute) bool {
		return a.Computed || a.NestedType != nil && computes(a.NestedType)
	})
}

// conforms returns an error if a value that was known in the plan has changed.
func conforms(planned, actual tftypes.Value) error {
	differences, err := planned.Diff(actual)
	for _, d := range differences {
		if d.Value1 != nil && d.Value1.IsKnown() { // nil is below an unknown value
			return fmt.Errorf("%s was %s and is %s", d.Path, d.Value1, d.Value2)
		}
	}
	return err
}

// Lines returns the leaves of a value by path, see [Flatten]. A value without a type has none.
func Lines(v tftypes.Value) map[string]string {
	all := map[string]string{}
	if v.Type() != nil {
		Flatten(all, "", plain(v))
	}
	return all
}

// plain returns a value in the form in which JSON is decoded. An unknown value is [Unknown].
func plain(v tftypes.Value) any {
	switch kind := v.Type(); {
	case !v.IsKnown():
		return Unknown
	case v.IsNull():
		return nil
	case kind.Is(tftypes.String):
		return as[string](v)
	case kind.Is(tftypes.Bool):
		return as[bool](v)
	case kind.Is(tftypes.Number):
		number, _ := as[*big.Float](v).Float64()
		return number
	case kind.Is(tftypes.Object{}) || kind.Is(tftypes.Map{}):
		named := map[string]any{}
		for name, part := range as[map[string]tftypes.Value](v) {
			named[name] = plain(part)
		}
		return named
	}
	return lists.Map(as[[]tftypes.Value](v), plain)
}

// Flatten adds the leaves of a decoded value of JSON to all by path, which begins with at. It leaves out those that are
// null. [Unknown] is "(known after apply)".
func Flatten(all map[string]string, at string, v any) {
	name := strings.TrimPrefix(at, ".")
	switch v := v.(type) {
	case unknown:
		all[name] = "(known after apply)"
	case string:
		all[name] = strconv.Quote(v)
	case bool:
		all[name] = strconv.FormatBool(v)
	case float64:
		all[name] = strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]any:
		if len(v) == 0 {
			all[name] = "{}"
		}
		for key, part := range v {
			Flatten(all, at+"."+key, part)
		}
	case []any:
		if len(v) == 0 {
			all[name] = "[]"
		}
		for i, part := range v {
			Flatten(all, at+"["+strconv.Itoa(i)+"]", part)
		}
	}
}
