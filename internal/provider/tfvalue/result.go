package tfvalue

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Values contains the attributes of an object as Go values, see [Result].
type Values map[string]any

// Result converts v to a value of type t for a data source. v is nil for null, an [attr.Value], a scalar, a duration in
// seconds, a time as RFC 3339 in UTC (null if it is zero), a struct (see [ValuesOf]), [Values], or a pointer, list or
// map of these.
func Result(t attr.Type, v any) attr.Value { return encoder{}.value(t, v) }

// Encode converts v, as [Result] does, to a value as a configuration has it: empty values are null, so that generated
// configuration leaves them out. See [terraformJSON] for strings.
func Encode(t attr.Type, v any) attr.Value { return encoder{configuration: true}.value(t, v) }

type encoder struct{ configuration bool }

func (e encoder) value(t attr.Type, v any) attr.Value {
	switch v := v.(type) {
	case nil:
		return nullOf(t)
	case attr.Value:
		return v
	case time.Duration:
		return types.Int64Value(int64(v / time.Second))
	case time.Time:
		if v.IsZero() {
			return types.StringNull()
		}
		return types.StringValue(v.UTC().Format(time.RFC3339))
	case Values:
		o := t.(types.ObjectType) //nolint:forcetypeassert // the schema has an object here
		all := make(map[string]attr.Value, len(o.AttrTypes))
		for name, attribute := range o.AttrTypes {
			all[name] = e.value(attribute, v[name])
		}
		return types.ObjectValueMust(o.AttrTypes, all)
	}
	r := reflect.ValueOf(v)
	if e.configuration && isEmpty(r) {
		return nullOf(t)
	}
	switch r.Kind() {
	case reflect.String:
		if e.configuration {
			return Text(terraformJSON(r.String()))
		}
		return Text(r.String())
	case reflect.Bool:
		return types.BoolValue(r.Bool())
	case reflect.Int:
		return types.Int64Value(r.Int())
	case reflect.Float64:
		return types.Float64Value(r.Float())
	case reflect.Struct:
		return e.value(t, ValuesOf(v))
	case reflect.Pointer:
		if r.IsNil() {
			return nullOf(t)
		}
		return e.value(t, r.Elem().Interface())
	case reflect.Slice, reflect.Map:
		return e.elements(t, r)
	}
	panic(fmt.Sprintf("no attribute is a %T", v))
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Bool:
		return !v.Bool()
	}
	return false
}

// elements converts a list or a map. Strings in it stay as they are.
func (e encoder) elements(t attr.Type, v reflect.Value) attr.Value {
	element := t.(attr.TypeWithElementType).ElementType() //nolint:forcetypeassert // the schema has elements here
	e.configuration = e.configuration && !element.Equal(types.StringType)
	if v.Kind() == reflect.Map {
		all := make(map[string]attr.Value, v.Len())
		for key, one := range v.Seq2() {
			all[validText(key.String())] = e.value(element, one.Interface())
		}
		return types.MapValueMust(element, all)
	}
	all := make([]attr.Value, v.Len())
	for i := range all {
		all[i] = e.value(element, v.Index(i).Interface())
	}
	return types.ListValueMust(element, all)
}

// OrNil returns nil, which [Result] makes null, for the empty string.
func OrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func nullOf(t attr.Type) attr.Value {
	null, err := t.ValueFromTerraform(context.Background(), tftypes.NewValue(t.TerraformType(context.Background()), nil))
	if err != nil {
		panic(fmt.Sprintf("a data source returns no null of type %s: %s", t, err))
	}
	return null
}
