package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// decoder reads the arguments of one object: of a resource, of an object nested in a map, or of a value of a dynamic
// type. An unknown value becomes [unknown.Text], a null one the zero value. A value of a wrong type becomes a
// problem at its path.
type decoder struct {
	arguments map[string]attr.Value
	unknown   bool // nothing of the object is known
	path      []problem.Step
	problems  *problem.Problems
}

// newDecoder reads the object v, or a map of one type. It adds what is wrong to problems.
func newDecoder(v attr.Value, problems *problem.Problems, path ...problem.Step) decoder {
	d := decoder{path: path, problems: problems}
	v = underlying(v)
	switch {
	case isNull(v):
	case v.IsUnknown():
		d.unknown = true
	default:
		arguments, ok := members(v)
		if !ok {
			d.report("Wrong type", "Expected an object.")
		}
		d.arguments = arguments
	}
	return d
}

// report adds an error at the path below the object.
func (d decoder) report(summary, detail string, steps ...problem.Step) {
	*d.problems = append(*d.problems, problem.Problem{Summary: summary, Detail: detail, Path: d.at(steps...)})
}

// at returns the path of a part of the object.
func (d decoder) at(steps ...problem.Step) []problem.Step {
	return append(slices.Clone(d.path), steps...)
}

// argument returns a value, unwrapped from a dynamic type, and whether it is set and known.
func (d decoder) argument(name string) (v attr.Value, known bool) {
	v = underlying(d.arguments[name])
	return v, !isNull(v) && !v.IsUnknown()
}

// isUnknown reports whether an argument is unknown.
func (d decoder) isUnknown(name string) bool {
	v, _ := d.argument(name)
	return d.unknown || v != nil && v.IsUnknown()
}

// blank reports whether a string is set, and known to be empty or blank.
func (d decoder) blank(name string) bool {
	_, given := d.argument(name)
	return given && !d.isUnknown(name) && strings.TrimSpace(d.string(name)) == ""
}

// reportBlank reports the given arguments that are blank.
func (d decoder) reportBlank(names ...string) {
	for _, name := range names {
		if d.blank(name) {
			d.report("Blank argument", name+" is blank, which would count as not set. Write a value, or remove it.",
				problem.Attr(name))
		}
	}
}

// string reads a string.
func (d decoder) string(name string) string {
	if d.isUnknown(name) {
		return unknown.Text
	}
	v, ok := d.argument(name)
	if !ok {
		return ""
	}
	return d.text(v, problem.Attr(name))
}

// bool reads a bool, and whether it is known.
func (d decoder) bool(name string) (value, known bool) {
	if d.isUnknown(name) {
		return false, false
	}
	v, ok := d.argument(name)
	if !ok {
		return false, true
	}
	b, ok := v.(basetypes.BoolValue)
	if !ok {
		d.report("Wrong type", "Expected a bool.", problem.Attr(name))
	}
	return b.ValueBool(), true
}

// int reads a whole number. It returns nil for a null or an unknown one.
func (d decoder) int(name string) *int {
	v, ok := d.argument(name)
	if !ok {
		return nil
	}
	number, ok := v.(basetypes.Int64Value)
	if !ok {
		d.report("Wrong type", "Expected a whole number.", problem.Attr(name))
		return nil
	}
	n := int(number.ValueInt64())
	if err := unknown.CheckNumber(n); err != nil {
		d.report("Invalid number", problem.Sentence(err), problem.Attr(name))
	}
	return &n
}

// number is int for a domain that marks an unknown number by [unknown.Number].
func (d decoder) number(name string) *int {
	if d.isUnknown(name) {
		return new(unknown.Number)
	}
	return d.int(name)
}

// numberOr is number with a default for null.
func (d decoder) numberOr(name string, otherwise int) int {
	if n := d.number(name); n != nil {
		return *n
	}
	return otherwise
}

// strings reads a list of strings.
func (d decoder) strings(name string) []string {
	if d.isUnknown(name) {
		return []string{unknown.Text}
	}
	v, ok := d.argument(name)
	if !ok {
		return nil
	}
	list, ok := elements(v)
	if !ok {
		d.report("Wrong type", "Expected a list of strings.", problem.Attr(name))
	}
	var all []string
	for i, e := range list {
		all = append(all, d.text(e, problem.Attr(name), problem.Index(i)))
	}
	return all
}

// stringMap reads a map of strings.
func (d decoder) stringMap(name string) map[string]string {
	if d.isUnknown(name) {
		return map[string]string{unknown.Text: unknown.Text}
	}
	v, ok := d.argument(name)
	if !ok {
		return nil
	}
	set, ok := members(v)
	if !ok {
		d.report("Wrong type", "Expected a map of strings.", problem.Attr(name))
	}
	if len(set) == 0 {
		return nil
	}
	all := make(map[string]string, len(set))
	for _, k := range slices.Sorted(maps.Keys(set)) {
		all[k] = d.text(set[k], problem.Attr(name), problem.Key(k))
	}
	return all
}

// object reads a nested object. ok is false if it is null.
func (d decoder) object(name string) (nested decoder, ok bool) {
	if d.isUnknown(name) {
		return decoder{unknown: true, path: d.at(problem.Attr(name)), problems: d.problems}, true
	}
	v, ok := d.argument(name)
	return newDecoder(v, d.problems, d.at(problem.Attr(name))...), ok
}

// objects reads a list of objects. An unknown list has one unknown element.
func (d decoder) objects(name string) []decoder {
	if d.isUnknown(name) {
		return []decoder{{unknown: true, path: d.at(problem.Attr(name), problem.Index(0)), problems: d.problems}}
	}
	v, ok := d.argument(name)
	if !ok {
		return nil
	}
	list, ok := elements(v)
	if !ok {
		d.report("Wrong type", "Expected a list of objects.", problem.Attr(name))
	}
	var all []decoder
	for i, e := range list {
		if isNull(underlying(e)) {
			d.reportNull(problem.Attr(name), problem.Index(i))
			// It keeps its index, and causes no further problems.
			all = append(all, decoder{unknown: true, path: d.at(problem.Attr(name), problem.Index(i)), problems: d.problems})
			continue
		}
		all = append(all, newDecoder(e, d.problems, d.at(problem.Attr(name), problem.Index(i))...))
	}
	return all
}

// objectMap reads a map of objects. An unknown map has one unknown element.
func (d decoder) objectMap(name string) map[string]decoder {
	nested, _ := d.object(name)
	if nested.unknown {
		return map[string]decoder{unknown.Text: nested}
	}
	all := make(map[string]decoder, len(nested.arguments))
	for _, k := range slices.Sorted(maps.Keys(nested.arguments)) {
		e := decoder{unknown: true, path: nested.at(problem.Key(k)), problems: d.problems}
		if isNull(underlying(nested.arguments[k])) {
			nested.reportNull(problem.Key(k)) // the element causes no further problems
		} else {
			e = newDecoder(nested.arguments[k], d.problems, e.path...)
		}
		all[k] = e
	}
	return all
}

// allow reports every argument that is not one of names. Terraform does this itself for arguments with a schema.
func (d decoder) allow(names ...string) {
	for _, k := range slices.Sorted(maps.Keys(d.arguments)) {
		if !slices.Contains(names, k) {
			d.report("Unsupported argument", fmt.Sprintf("%q is not one of %s.", k, strings.Join(names, ", ")), problem.Attr(k))
		}
	}
}

// text reads a string, or a value that Terraform converts to one. It reports any other value, and returns
// [unknown.Text].
func (d decoder) text(v attr.Value, steps ...problem.Step) string {
	v = underlying(v)
	switch v := v.(type) {
	case nil:
	case basetypes.StringValue:
		if v.IsUnknown() {
			return unknown.Text
		}
		if !v.IsNull() {
			return v.ValueString()
		}
	default:
		if v.IsUnknown() {
			return unknown.Text
		}
		if text, ok := scalarText(v); ok {
			return text
		}
		if !v.IsNull() {
			d.report("Wrong type", "Expected a string.", steps...)
			return unknown.Text
		}
	}
	d.reportNull(steps...)
	return unknown.Text
}

func (d decoder) reportNull(steps ...problem.Step) {
	d.report("Null element", "An element of this list or map is null. Give it a value, or remove it.", steps...)
}
