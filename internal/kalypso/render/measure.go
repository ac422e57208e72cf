package render

import (
	"math"
	"reflect"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// written is how large a value would be if it were written out: what is shared counts wherever it stands. That a value
// holds itself shows by its depth.
type written struct {
	indent int64 // bytes a level, of each element on its line
	most   int64 // bytes
	bytes  int64
	parts  int // that were looked at
}

// measure counts a value, and stops where it exceeds the bound of a value: it looks at no more parts than that has bytes.
// indent is what a level of lists and maps adds to each line.
func (b *budget) measure(v reflect.Value, indent int64) (written, error) {
	w := written{indent: indent, most: b.size}
	if !w.add(v, 0) || w.bytes > w.most {
		return w, boundError("the value takes more than %s written out, as limits.file_size allows, or is nested more than %d deep; does it hold itself?",
			fleet.FormatBytes(b.size), maxDepth)
	}
	return w, nil
}

// add counts v. It stops, and is false, where it is nested too deep or too much is counted.
func (w *written) add(v reflect.Value, depth int) bool {
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

// children adds the parts of v, each with what stands around it.
func (w *written) children(v reflect.Value, depth int) bool {
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
