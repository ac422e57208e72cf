package render

import (
	"math"
	"reflect"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// writtenSize is the size of a value when written out. Shared parts count each time. A value that contains itself
// exceeds the depth.
type writtenSize struct {
	indent int64 // bytes of indentation for each level
	most   int64 // bytes
	bytes  int64
	parts  int // number of parts visited
}

// measure returns the size of a value, or an error once it exceeds the limit. indent is the number of bytes that each
// level of lists and maps adds to a line.
func (b *budget) measure(v reflect.Value, indent int64) (writtenSize, error) {
	w := writtenSize{indent: indent, most: b.size}
	if !w.add(v, 0) || w.bytes > w.most {
		return w, boundError("the value exceeds limits.file_size (%s) when written out, or is nested more than %d levels "+
			"deep. Check that it does not contain itself",
			fleet.FormatBytes(b.size), maxDepth)
	}
	return w, nil
}

// add counts v. It returns false once v is too large or nested too deep.
func (w *writtenSize) add(v reflect.Value, depth int) bool {
	w.parts++
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			w.bytes += 4
			return true
		}
		if v.Kind() == reflect.Pointer {
			depth++
		}
		return w.add(v.Elem(), depth)
	case reflect.String:
		w.bytes += int64(v.Len())
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return depth < maxDepth && w.children(v, depth+1)
	case reflect.Int, reflect.Int64:
		w.bytes += int64(digits(v.Int()))
	default:
		w.bytes += 8
	}
	return true
}

// children adds the parts of v with their punctuation and indentation.
func (w *writtenSize) children(v reflect.Value, depth int) bool {
	around := 3 + w.indent*int64(depth-1)
	part := func(v reflect.Value) bool { return w.add(v, depth) && w.bytes <= w.most }
	w.bytes += 2
	switch v.Kind() {
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			w.bytes += around
			if !part(it.Key()) || !part(it.Value()) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.bytes += around + int64(len(v.Type().Field(i).Name))
			if !part(v.Field(i)) {
				return false
			}
		}
	default:
		for i := range v.Len() {
			w.bytes += around
			if !part(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

func digits(i int64) int {
	if i >= 0 && i < 10 {
		return 1
	}
	if i == math.MinInt64 {
		return 20
	}
	return len(strconv.FormatInt(i, 10))
}
