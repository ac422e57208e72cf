package render

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/pattern"
)

// shallow are the functions that read only the first level of lists and maps. All others read all levels.
const shallow = " all any append chunk coalesce compact concat default dict dig empty first get hasKey initial keys " +
	"kindIs kindOf last list omit pick pluck prepend push rest reverse set slice ternary tuple typeIs typeIsLike typeOf " +
	"unset values "

// bounded returns a template function that checks the bounds of a call before it is made, and of its result.
func (b *bounds) bounded(name string, f any) any {
	if rest, must := strings.CutPrefix(name, "must"); must { // such as mustToJson, which is toJson with errors
		name = strings.ToLower(rest[:1]) + rest[1:]
	}
	deep := !strings.Contains(shallow, " "+name+" ")
	fn := reflect.ValueOf(f)
	typ := fn.Type()
	call := fn.Call
	if typ.IsVariadic() {
		call = fn.CallSlice
	}
	out := []reflect.Type{typ.Out(0), reflect.TypeFor[error]()}
	noError := reflect.Zero(out[1])
	run := func(args []reflect.Value) (results []reflect.Value) {
		err := b.checkCall(name, deep, args)
		if err == nil {
			results = append(call(args), noError)
			if !results[1].IsNil() {
				return results[:2]
			}
			err = b.checkResult(name, elem(results[0]))
		}
		if err != nil {
			return []reflect.Value{reflect.Zero(out[0]), reflect.ValueOf(&err).Elem()}
		}
		return results[:2]
	}
	return reflect.MakeFunc(reflect.FuncOf(slices.Collect(typ.Ins()), out, typ.IsVariadic()), run).Interface()
}

// checkCall returns an error before a call that would take too long, or whose result may be far too large.
func (b *bounds) checkCall(name string, deep bool, args []reflect.Value) error {
	if err := b.tick(); err != nil {
		return err
	}
	var read int64
	for _, arg := range args {
		n := firstLevel(elem(arg))
		if deep && composite(arg) {
			var err error
			n, err = b.measure(arg)
			if err != nil {
				return err
			}
		}
		read += n
	}
	const growth = 64 // checkResult checks the result itself
	if n := mostResult(name, args, read); n/growth > b.size {
		return b.fits("it may return up to", n)
	}
	n, err := work(name, args)
	if err == nil && n/growth > b.size {
		return boundError("it would take too long, since its arguments are too large")
	}
	return err
}

// mostResult returns an upper bound of the bytes that a function returns, for functions that can return much more than
// they read. Most of these can write one of their last two arguments once for each byte of the other one, as replace
// does.
func mostResult(name string, args []reflect.Value, read int64) int64 {
	switch name {
	case "indent", "join", "nindent", "regexReplaceAll", "regexReplaceAllLiteral", "repeat", "replace", "wrapWith":
		factor := args[len(args)-2]
		if factor.CanInt() {
			return times(factor.Int(), length(args[len(args)-1]))
		}
		return times(length(factor), length(elem(args[len(args)-1])))
	case "printf": // each verb writes an argument, and as many blanks or digits as its width or precision
		const mostNumber, mostArgument = 10_000_009, 1_000_000 // fmt ignores larger numbers
		format, widest := args[0].String(), 0
		for _, number := range numbers.FindAllString(format, -1) {
			n, err := strconv.Atoi(number)
			if err != nil { // an asterisk
				n = mostArgument
			}
			widest = max(widest, min(n, mostNumber))
		}
		return times(int64(strings.Count(format, "%")), read+int64(widest))
	}
	return read
}

var numbers = regexp.MustCompile(`\d+|\*`)

// times multiplies without overflow. Negative factors count as zero.
func times(a, b int64) int64 {
	const limit = 1 << 50
	a, b = max(a, 0), max(b, 0)
	if b > 0 && a > limit/b {
		return limit
	}
	return a * b
}

// checkResult returns an error if the result of a function is too large, or if all results of the piece together are.
// If the function changed a map, it also checks that the map does not contain itself.
func (b *bounds) checkResult(name string, result reflect.Value) error {
	if mutating[name] { // it returns its argument
		_, err := b.measure(result)
		return err
	}
	if result.Kind() == reflect.String {
		if err := b.fits("it returns", int64(result.Len())); err != nil {
			return err
		}
	}
	b.returned += firstLevel(result)
	if limit := times(maxReturned, b.size); b.returned > limit {
		return boundError("the functions of the template return more than %s in all, %d times limits.file_size. Check its "+
			"loops", fleet.FormatBytes(limit), maxReturned)
	}
	return nil
}

// work returns the work of a call of a function that takes much longer than reading its arguments once. The unit is
// about the work of reading a byte.
func work(name string, args []reflect.Value) (int64, error) {
	switch name {
	case "regexFind", "regexFindAll", "regexMatch", "regexReplaceAll", "regexReplaceAllLiteral", "regexSplit":
		size, err := pattern.Size(args[0].String())
		if err != nil {
			return 0, boundError("%v", err)
		}
		return times(size+length(args[0]), length(args[1])), nil
	case "uniq", "without": // compares each element with all other elements, or with each argument
		return times(length(elem(args[0])), 8*length(elem(args[len(args)-1]))), nil
	}
	return 0, nil
}

// measure returns the approximate bytes of a value when written out. A part that occurs several times counts each time.
// measure returns an error if the value exceeds limits.file_size or is nested too deep, since it may contain itself.
func (b *bounds) measure(v reflect.Value) (int64, error) {
	left := b.size
	if !written(v, 0, &left) {
		return 0, boundError("the value exceeds limits.file_size (%s) when written out, or is nested more than %d levels "+
			"deep. Check that it does not contain itself", fleet.FormatBytes(b.size), maxDepth)
	}
	return b.size - left, nil
}

// perPart is the number of bytes that a part of a value takes besides its text.
const perPart = 2

// written subtracts the bytes of v from left. It returns false once none are left, or v is nested too deep.
func written(v reflect.Value, depth int, left *int64) bool {
	*left -= perPart
	part := func(v reflect.Value) bool { return *left >= 0 && depth < maxDepth && written(v, depth+1, left) }
	switch v.Kind() {
	case reflect.Interface:
		return written(v.Elem(), depth, left)
	case reflect.Pointer:
		return part(v.Elem())
	case reflect.String:
		*left -= int64(v.Len())
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !part(field) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			*left -= perPart
			if !part(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		if v.CanInterface() {
			if values, ok := v.Interface().(map[string]any); ok {
				return writtenValues(values, depth, left)
			}
		}
		for entries := v.MapRange(); entries.Next(); {
			if !part(entries.Key()) || !part(entries.Value()) {
				return false
			}
		}
	}
	return *left >= 0
}

// writtenValues is [written] for the most frequent map. To range over it by reflection allocates each key and value.
func writtenValues(values map[string]any, depth int, left *int64) bool {
	for key, value := range values {
		*left -= 2*perPart + int64(len(key))
		if *left < 0 || depth >= maxDepth || !written(reflect.ValueOf(value), depth+1, left) {
			return false
		}
	}
	return *left >= 0
}

func elem(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

func composite(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.Pointer, reflect.Interface:
		return true
	}
	return false
}

// firstLevel returns the approximate bytes of a text, or of the first level of a list or map.
func firstLevel(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return 16 * length(v)
	case reflect.Map:
		return 80 * length(v)
	default:
		return length(v)
	}
}

// length returns the length of a text, list or map, or 0.
func length(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map:
		return int64(v.Len())
	}
	return 0
}
