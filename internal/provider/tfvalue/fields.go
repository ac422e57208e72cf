package tfvalue

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// nameTag is the tag of a field with the name of its attribute, if that is not the name of the field in snake case. "-"
// means that the field is no attribute. The option empty says that an empty list or string differs from null.
const nameTag = "attribute"

// field is a field of a struct that is an attribute.
type field struct {
	name  string
	index []int
	empty bool
}

var structs sync.Map // reflect.Type → []field

// fieldsOf returns the fields of a struct that are attributes, also those of embedded structs.
func fieldsOf(t reflect.Type) []field {
	if known, ok := structs.Load(t); ok {
		return known.([]field) //nolint:forcetypeassert // as stored below
	}
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get(nameTag), ",")
		if name == "" {
			name = snakeCase(f.Name)
		}
		if !f.Anonymous && f.IsExported() && name != "-" {
			all = append(all, field{name, f.Index, option == "empty"})
		}
	}
	structs.Store(t, all)
	return all
}

// wordStart matches the letters around the beginning of a word in a name of Go.
var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// snakeCase returns client_id for ClientID.
func snakeCase(name string) string {
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1}${3}_${2}${4}"))
}

// ValuesOf returns the fields of a struct, or of a pointer to one, by the names of their attributes. An empty string is
// null.
func ValuesOf(object any) Values {
	v := reflect.Indirect(reflect.ValueOf(object))
	all := Values{}
	for _, f := range fieldsOf(v.Type()) {
		value := v.FieldByIndex(f.index)
		all[f.name] = value.Interface()
		list, isList := all[f.name].([]string)
		switch {
		case f.empty && isList && list != nil:
			all[f.name] = StringListOf(list)
		case !f.empty && value.Kind() == reflect.String && value.Len() == 0:
			all[f.name] = nil
		}
	}
	return all
}

// NamesOf returns the names of the attributes of a struct, from a pointer to one.
func NamesOf(object any) []string {
	return lists.Map(fieldsOf(reflect.TypeOf(object).Elem()), func(f field) string { return f.name })
}

// Read reads the object into a struct: each field from the argument of its name. A nested object must have no other
// arguments. A time that is not known yet is zero.
func (d Decoder) Read(into any) {
	v := reflect.ValueOf(into).Elem()
	for _, f := range fieldsOf(v.Type()) {
		f.read(d, v.FieldByIndex(f.index))
	}
}

// ListOf reads a list of objects into structs, see [Decoder.Read].
func ListOf[T any](d Decoder, name string) (all []T) {
	field{name: name}.read(d, reflect.ValueOf(&all).Elem())
	return all
}

func (f field) read(d Decoder, v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *string:
		*to = d.String(f.name)
	case *bool:
		*to = d.True(f.name)
	case *int:
		*to = d.NumberOr(f.name, 0)
	case **int:
		*to = d.Number(f.name)
	case **bool:
		if value, known := d.Bool(f.name); known && !IsNull(d.Arguments[f.name]) {
			*to = &value
		}
	case *time.Duration: // greater than 0: a validator reports any other one
		given, _ := time.ParseDuration(d.String(f.name))
		*to = max(0, given)
	case *limit.Limit:
		*to, _ = limit.Parse(d.String(f.name)) // likewise
	case *time.Time:
		*to = f.readTime(d)
	case *[]string:
		*to = d.Strings(f.name)
		if f.empty && *to == nil && !IsNull(d.Arguments[f.name]) {
			*to = []string{}
		}
	case *map[string]string:
		*to = d.StringMap(f.name)
	default:
		f.readNested(d, v)
	}
}

func (f field) readTime(d Decoder) time.Time {
	text := d.String(f.name)
	if text == "" || unknown.Is(text) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.Report("Invalid time", fmt.Sprintf("%q is not a time, such as 2026-01-31T12:00:00Z.", text), problem.Attr(f.name))
	}
	return at.UTC()
}

func (f field) readNested(d Decoder, v reflect.Value) {
	object := func(nested Decoder, t reflect.Type) reflect.Value {
		to := reflect.New(t)
		nested.Allow(NamesOf(to.Interface())...)
		nested.Read(to.Interface())
		return to
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(d.String(f.name))
	case reflect.Struct:
		nested, _ := d.Object(f.name)
		v.Set(object(nested, v.Type()).Elem())
	case reflect.Pointer:
		if nested, ok := d.Object(f.name); ok {
			v.Set(object(nested, v.Type().Elem()))
		}
	case reflect.Slice:
		for _, nested := range d.Objects(f.name) {
			v.Set(reflect.Append(v, object(nested, v.Type().Elem()).Elem()))
		}
	case reflect.Map:
		for key, nested := range d.ObjectMap(f.name) {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(reflect.ValueOf(key), object(nested, v.Type().Elem()).Elem())
		}
	default:
		panic("no argument is a " + v.Type().String())
	}
}
