package protocol

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

type unknown struct{}

// Unknown stands for a value that is known after the apply of something else.
var Unknown unknown

// Value converts a Go value to a value of Terraform. Objects and maps are map[string]any, lists and sets []any, numbers
// int. nil is null, and so is an attribute that an object does not have. From an object of Terraform it takes only the
// attributes that the type has, as Terraform does.
func Value(of tftypes.Type, v any) (tftypes.Value, error) {
	switch v := v.(type) {
	case nil:
		return tftypes.NewValue(of, nil), nil
	case unknown:
		return tftypes.NewValue(of, tftypes.UnknownValue), nil
	case map[string]any:
		return mapping(of, v)
	case []any:
		return sequence(of, v)
	case tftypes.Value:
		return convert(of, v)
	case int:
		return checked(of, big.NewFloat(float64(v)))
	}
	return checked(of, v)
}

// convert converts an object to an object with fewer attributes.
func convert(of tftypes.Type, v tftypes.Value) (tftypes.Value, error) {
	object, isObject := of.(tftypes.Object)
	switch {
	case !v.IsKnown():
		return tftypes.NewValue(of, tftypes.UnknownValue), nil
	case v.IsNull():
		return tftypes.NewValue(of, nil), nil
	case isObject || of.Is(tftypes.Map{}):
		given := map[string]any{}
		for name, part := range as[map[string]tftypes.Value](v) {
			if _, has := object.AttributeTypes[name]; has || !isObject {
				given[name] = part
			}
		}
		return mapping(of, given)
	case of.Is(tftypes.List{}), of.Is(tftypes.Set{}):
		var given []any
		for _, part := range as[[]tftypes.Value](v) {
			given = append(given, part)
		}
		return sequence(of, given)
	}
	return v, nil
}

// as returns a known value in the form of Go for its type.
func as[T any](v tftypes.Value) (form T) {
	if err := v.As(&form); err != nil {
		panic(err)
	}
	return form
}

func checked(of tftypes.Type, v any) (tftypes.Value, error) {
	if err := tftypes.ValidateValue(of, v); err != nil {
		return tftypes.Value{}, err
	}
	return tftypes.NewValue(of, v), nil
}

func mapping(of tftypes.Type, v map[string]any) (tftypes.Value, error) {
	object, isObject := of.(tftypes.Object)
	elements, isMap := of.(tftypes.Map)
	if !isObject && !isMap {
		return tftypes.Value{}, fmt.Errorf("a map for a %s", of)
	}
	values := map[string]tftypes.Value{}
	for name, attribute := range object.AttributeTypes {
		values[name] = tftypes.NewValue(attribute, nil)
	}
	for name, given := range v {
		element := elements.ElementType
		if isObject {
			element = object.AttributeTypes[name]
		}
		if element == nil {
			return tftypes.Value{}, fmt.Errorf("there is no attribute %q", name)
		}
		converted, err := Value(element, given)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = converted
	}
	return checked(of, values)
}

func sequence(of tftypes.Type, v []any) (tftypes.Value, error) {
	var element tftypes.Type
	switch of := of.(type) {
	case tftypes.List:
		element = of.ElementType
	case tftypes.Set:
		element = of.ElementType
	default:
		return tftypes.Value{}, fmt.Errorf("a list for a %s", of)
	}
	values := make([]tftypes.Value, len(v))
	for i, given := range v {
		converted, err := Value(element, given)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%d: %w", i, err)
		}
		values[i] = converted
	}
	return checked(of, values)
}

func encode(v tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		panic(err) // the value has this type
	}
	return &encoded
}

func dynamic(schema *tfprotov6.Schema, config map[string]any) (*tfprotov6.DynamicValue, error) {
	v, err := Value(schema.ValueType(), config)
	if err != nil {
		return nil, err
	}
	return encode(v), nil
}

// propose returns the state that Terraform proposes to the provider. It has the values of the configuration, and the
// prior values of computed attributes that the configuration does not set. It does not support computed attributes
// below an argument, since our schemas have none.
func propose(schema *tfprotov6.Schema, prior, config tftypes.Value) (tftypes.Value, error) {
	given, was := as[map[string]tftypes.Value](config), as[map[string]tftypes.Value](prior)
	if len(schema.Block.BlockTypes) > 0 {
		return tftypes.Value{}, errors.New("the schema has blocks")
	}
	proposed := maps.Clone(given)
	for _, a := range schema.Block.Attributes {
		if !a.Computed && a.NestedType != nil && computes(a.NestedType) {
			return tftypes.Value{}, fmt.Errorf("argument %q has computed attributes", a.Name)
		}
		if before, there := was[a.Name]; a.Computed && given[a.Name].IsNull() && there {
			proposed[a.Name] = before
		}
	}
	return tftypes.NewValue(config.Type(), proposed), nil
}

func computes(o *tfprotov6.SchemaObject) bool {
	return slices.ContainsFunc(o.Attributes, func(a *tfprotov6.SchemaAttribute) bool {
		return a.Computed || a.NestedType != nil && computes(a.NestedType)
	})
}

// conforms returns an error if a value that was known in the plan has changed.
func conforms(at string, planned, actual tftypes.Value) error {
	differs := fmt.Errorf("%s was %s and is %s", at, planned, actual)
	switch {
	case !planned.IsKnown():
		return nil
	case planned.IsFullyKnown() || planned.IsNull() || !actual.IsKnown() || actual.IsNull():
		if planned.Equal(actual) {
			return nil
		}
		return differs
	}
	wanted, found := parts(planned), parts(actual)
	if len(wanted) != len(found) {
		return differs
	}
	for name, part := range wanted {
		other, there := found[name]
		if !there {
			return differs
		}
		if err := conforms(at+"."+name, part, other); err != nil {
			return err
		}
	}
	return nil
}

// parts returns the parts of a known value by name or index.
func parts(v tftypes.Value) map[string]tftypes.Value {
	if v.Type().Is(tftypes.Object{}) || v.Type().Is(tftypes.Map{}) {
		return as[map[string]tftypes.Value](v)
	}
	named := map[string]tftypes.Value{}
	for i, part := range as[[]tftypes.Value](v) {
		named[strconv.Itoa(i)] = part
	}
	return named
}

// Lines returns the leaves of a value by path, without those that are null. An unknown value is "(known after apply)".
func Lines(v tftypes.Value) map[string]string {
	all := map[string]string{}
	if v.Type() != nil {
		addLines(all, "", v)
	}
	return all
}

func addLines(all map[string]string, at string, v tftypes.Value) {
	line := func(value string) { all[strings.TrimPrefix(at, ".")] = value }
	switch kind := v.Type(); {
	case !v.IsKnown():
		line("(known after apply)")
	case v.IsNull():
	case kind.Is(tftypes.String):
		line(strconv.Quote(as[string](v)))
	case kind.Is(tftypes.Number):
		line(as[*big.Float](v).Text('g', -1))
	case kind.Is(tftypes.Bool):
		line(strconv.FormatBool(as[bool](v)))
	default:
		form := "[%s]"
		if kind.Is(tftypes.Object{}) || kind.Is(tftypes.Map{}) {
			form = ".%s"
		}
		found := parts(v)
		if len(found) == 0 {
			line(map[string]string{".%s": "{}", "[%s]": "[]"}[form])
		}
		for name, part := range found {
			addLines(all, at+fmt.Sprintf(form, name), part)
		}
	}
}
