package render

import (
	"reflect"
	"regexp/syntax"
)

// maxPattern is how many instructions, and bytes, a regular expression may have.
const maxPattern = 10_000

// patternWork is what it takes to parse a regular expression and to match it: each of its instructions may look at each
// byte of the text.
func patternWork(args []reflect.Value, _ int64) (int64, error) {
	expr := args[0].String()
	if len(expr) > maxPattern {
		return 0, boundError("the regular expression has %d bytes; at most %d are allowed", len(expr), maxPattern)
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0, nil //nolint:nilerr // the function says why
	}
	var ranges int64
	size := instructions(re, &ranges)
	if size > maxPattern {
		return 0, boundError("the regular expression has %d instructions, repetitions written out; at most %d are allowed", size, maxPattern)
	}
	return 64*int64(len(expr)) + 8*ranges + 16*size + times(size, int64(args[1].Len())), nil
}

// instructions is about how many a regular expression has. ranges adds up the ranges of its classes of characters.
func instructions(re *syntax.Regexp, ranges *int64) int64 {
	size := int64(1)
	switch re.Op {
	case syntax.OpLiteral:
		size = int64(len(re.Rune))
	case syntax.OpCharClass:
		*ranges += int64(len(re.Rune))
	}
	for _, sub := range re.Sub {
		size += instructions(sub, ranges)
	}
	if re.Op == syntax.OpRepeat {
		size = times(size, int64(max(re.Min, re.Max, 1)))
	}
	return size
}
