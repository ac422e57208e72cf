// Package pattern bounds regular expressions: what it takes to compile them, and to match them.
package pattern

import (
	"fmt"
	"regexp/syntax"
)

// MaxSize is how many bytes, and how many instructions, a regular expression may have.
const MaxSize = 10_000

// Cost is what a regular expression takes, in bytes that a simple function would read in about the same time.
type Cost struct {
	Compile int64
	Match   int64 // for each byte of the text: each instruction may look at it
}

// Measure returns what a regular expression takes, repetitions written out. One that does not parse takes nothing: to compile
// it says why.
func Measure(expr string) (Cost, error) {
	if len(expr) > MaxSize {
		return Cost{}, fmt.Errorf("the regular expression has %d bytes; at most %d are allowed", len(expr), MaxSize)
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return Cost{}, nil //nolint:nilerr // as above
	}
	var ranges int64
	size := instructions(re, &ranges)
	if size > MaxSize {
		return Cost{}, fmt.Errorf("the regular expression has %d instructions, repetitions written out; at most %d are allowed", size, MaxSize)
	}
	return Cost{Compile: 64*int64(len(expr)) + 8*ranges + 16*size, Match: size}, nil
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
	if re.Op == syntax.OpRepeat { // at most 1,000 times, repetitions within included
		size *= int64(max(re.Min, re.Max, 1))
	}
	return size
}
