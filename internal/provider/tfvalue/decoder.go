package tfvalue

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Decoder reads the arguments of one object: of a resource, of an object nested in a map, or of a value of a dynamic
// type. An unknown value becomes [unknown.Text], a null one the zero value. A value of a wrong type becomes a
// problem at its path.
type Decoder struct {
	Arguments map[string]attr.Value
	Unknown   bool // the whole object is unknown
	Path      []problem.Step
	Problems  *problem.Problems
}

// NewDecoder reads the object v, or a map of one type. It adds what is wrong to problems.
func NewDecoder(v attr.Value, problems *problem.Problems, path ...problem.Step) Decoder {
	d := Decoder{Path: path, Problems: problems}
	v = Underlying(v)
	switch {
	case IsNull(v):
	case v.IsUnknown():
		d.Unknown = true
	default:
		arguments, ok := Members(v)
		if !ok {
			d.Report("Wrong type", "Expected an object.")
		}
		d.Arguments = arguments
	}
	return d
}

// Report adds an error at the path below the object.
func (d Decoder) Report(summary, detail string, steps ...problem.Step) {
	*d.Problems = append(*d.Problems, problem.Problem{Summary: summary, Detail: detail, Path: d.At(steps...)})
}

// At returns the path of a part of the object.
func (d Decoder) At(steps ...problem.Step) []problem.Step {
	return append(slices.Clone(d.Path), steps...)
}

// Argument returns a value, unwrapped from a dynamic type, and whether it is set and known.
func (d Decoder) Argument(name string) (v attr.Value, known bool) {
	v = Underlying(d.Arguments[name])
	return v, !IsNull(v) && !v.IsUnknown()
}

// IsUnknown reports whether an argument is unknown.
func (d Decoder) IsUnknown(name string) bool {
	v, _ := d.Argument(name)
	return d.Unknown || v != nil && v.IsUnknown()
}

// Blank reports whether a string is set, and known to be empty or blank.
func (d Decoder) Blank(name string) bool {
	_, given := d.Argument(name)
	return given && !d.IsUnknown(name) && strings.TrimSpace(d.String(name)) == ""
}

// ReportBlank reports the given arguments that are blank.
func (d Decoder) ReportBlank(names ...string) {
	for _, name := range names {
		if d.Blank(name) {
			d.Report("Blank argument", name+" is blank, which would count as not set. Write a value, or remove it.",
				problem.Attr(name))
		}
	}
}

// String reads a string.
func (d Decoder) String(name string) string {
	if d.IsUnknown(name) {
		return unknown.Text
	}
	v, ok := d.Argument(name)
	if !ok {
		return ""
	}
	return d.Text(v, problem.Attr(name))
}

// Check reports the error of a check of a string that is set and known.
func (d Decoder) Check(name, summary string, check func(string) error) {
	text := d.String(name)
	if text == "" || unknown.Is(text) {
		return
	}
	if err := check(text); err != nil {
		d.Report(summary, problem.Sentence(err), problem.Attr(name))
	}
}

// Bool reads a bool, and whether it is known.
func (d Decoder) Bool(name string) (value, known bool) {
	if d.IsUnknown(name) {
		return false, false
	}
	v, ok := d.Argument(name)
	if !ok {
		return false, true
	}
	b, ok := v.(basetypes.BoolValue)
	if !ok {
		d.Report("Wrong type", "Expected a bool.", problem.Attr(name))
	}
	return b.ValueBool(), true
}

// True reports whether a bool is known, and true.
func (d Decoder) True(name string) bool {
	value, _ := d.Bool(name)
	return value
}

// UnlessFalse reads a bool whose default is true. An unknown bool counts as false.
func (d Decoder) UnlessFalse(name string) bool { return d.True(name) || IsNull(d.Arguments[name]) }

// Known reports whether arguments are known, with all values in them.
func (d Decoder) Known(names ...string) bool {
	return !d.Unknown && !slices.ContainsFunc(names, func(name string) bool { return !WhollyKnown(d.Arguments[name]) })
}

// Number reads an integer. It returns nil if the number is null, and [unknown.Number] if it is unknown.
func (d Decoder) Number(name string) *int {
	v, ok := d.Argument(name)
	switch {
	case d.IsUnknown(name):
		return new(unknown.Number)
	case !ok:
		return nil
	}
	number, ok := wholeNumber(v)
	if !ok {
		d.Report("Wrong type", "Expected a whole number.", problem.Attr(name))
		return nil
	}
	n := int(number)
	if err := unknown.CheckNumber(n); err != nil {
		d.Report("Invalid number", problem.Sentence(err), problem.Attr(name))
	}
	return &n
}

// NumberOr is [Decoder.Number] with a default for null.
func (d Decoder) NumberOr(name string, otherwise int) int {
	if n := d.Number(name); n != nil {
		return *n
	}
	return otherwise
}

// Strings reads a list of strings.
func (d Decoder) Strings(name string) (all []string) {
	if d.IsUnknown(name) {
		return []string{unknown.Text}
	}
	v, ok := d.Argument(name)
	list, isList := Elements(v)
	if ok && !isList {
		d.Report("Wrong type", "Expected a list of strings.", problem.Attr(name))
	}
	for i, e := range list {
		all = append(all, d.Text(e, problem.Attr(name), problem.Index(i)))
	}
	return all
}

// StringMap reads a map of strings.
func (d Decoder) StringMap(name string) map[string]string {
	if d.IsUnknown(name) {
		return map[string]string{unknown.Text: unknown.Text}
	}
	v, ok := d.Argument(name)
	if !ok {
		return nil
	}
	set, ok := Members(v)
	if !ok {
		d.Report("Wrong type", "Expected a map of strings.", problem.Attr(name))
	}
	if len(set) == 0 {
		return nil
	}
	all := make(map[string]string, len(set))
	for _, k := range slices.Sorted(maps.Keys(set)) {
		all[k] = d.Text(set[k], problem.Attr(name), problem.Key(k))
	}
	return all
}

// Object reads a nested object. ok is false if it is null.
func (d Decoder) Object(name string) (nested Decoder, ok bool) {
	v, ok := d.Argument(name)
	if d.IsUnknown(name) {
		v, ok = types.DynamicUnknown(), true
	}
	return NewDecoder(v, d.Problems, d.At(problem.Attr(name))...), ok
}

// Objects reads a list of objects. An unknown list has one unknown element.
func (d Decoder) Objects(name string) (all []Decoder) {
	v, ok := d.Argument(name)
	list, isList := Elements(v)
	if d.IsUnknown(name) {
		list = []attr.Value{types.DynamicUnknown()}
	}
	if ok && !isList {
		d.Report("Wrong type", "Expected a list of objects.", problem.Attr(name))
	}
	for i, e := range list {
		all = append(all, d.element(e, problem.Attr(name), problem.Index(i)))
	}
	return all
}

// ObjectMap reads a map of objects. An unknown map has one unknown element.
func (d Decoder) ObjectMap(name string) map[string]Decoder {
	nested, _ := d.Object(name)
	if nested.Unknown {
		return map[string]Decoder{unknown.Text: nested}
	}
	all := make(map[string]Decoder, len(nested.Arguments))
	for _, k := range slices.Sorted(maps.Keys(nested.Arguments)) {
		all[k] = nested.element(nested.Arguments[k], problem.Key(k))
	}
	return all
}

// element reads an object in a list or a map. A null one is reported, and causes no further problems.
func (d Decoder) element(v attr.Value, steps ...problem.Step) Decoder {
	if IsNull(Underlying(v)) {
		d.Report(nullElement, howToSetElement, steps...)
		v = types.DynamicUnknown()
	}
	return NewDecoder(v, d.Problems, d.At(steps...)...)
}

// Each yields the elements of a known map as objects, in the order of their keys. Unlike [Decoder.ObjectMap], it yields
// a null element as an object without arguments.
func (d Decoder) Each(name string) iter.Seq2[string, Decoder] {
	return func(yield func(string, Decoder) bool) {
		v, _ := d.Argument(name)
		set, _ := Members(v)
		for _, key := range slices.Sorted(maps.Keys(set)) {
			if !yield(key, NewDecoder(set[key], d.Problems, d.At(problem.Attr(name), problem.Key(key))...)) {
				return
			}
		}
	}
}

// Allow reports every argument that is not one of names. Terraform does this itself for arguments with a schema.
func (d Decoder) Allow(names ...string) {
	for _, k := range slices.Sorted(maps.Keys(d.Arguments)) {
		if !slices.Contains(names, k) {
			d.Report(
				"Unsupported argument",
				fmt.Sprintf("%q is not one of %s.", k, strings.Join(names, ", ")),
				problem.Attr(k),
			)
		}
	}
}

// Text reads a string, or a value that Terraform converts to one. It reports any other value, and returns
// [unknown.Text].
func (d Decoder) Text(v attr.Value, steps ...problem.Step) string {
	v = Underlying(v)
	text, scalar := ScalarText(v)
	switch {
	case IsNull(v):
		d.Report(nullElement, howToSetElement, steps...)
	case v.IsUnknown():
	case scalar:
		return text
	default:
		d.Report("Wrong type", "Expected a string.", steps...)
	}
	return unknown.Text
}

const (
	nullElement     = "Null element"
	howToSetElement = "An element of this list, set or map is null. Give it a value, or remove it."
)
