// Package pattern measures and limits the cost of regular expressions.
package pattern

import (
	"fmt"
	"regexp/syntax"
)

// MaxSize limits the length of a regular expression in bytes, and its number of instructions.
const MaxSize = 10_000

// Cost is the cost of a regular expression, in the number of bytes a simple function reads in about the same time.
type Cost struct {
	Compile int64
	Match   int64 // per byte of text: every instruction may examine it
}

// Measure returns the cost of a regular expression with its repetitions expanded. It returns an error if the
// expression exceeds [MaxSize]. An expression that does not parse costs nothing; compiling it reports the syntax
// error.
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
		return Cost{}, fmt.Errorf("the regular expression has %d instructions with its repetitions expanded; at most %d "+
			"are allowed", size, MaxSize)
	}
	return Cost{Compile: 64*int64(len(expr)) + 8*ranges + 16*size, Match: size}, nil
}

// instructions estimates the number of instructions of a regular expression. It adds the number of its character
// ranges to ranges.
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
	if re.Op == syntax.OpRepeat { // at most 1,000 times, including nested repetitions
		size *= int64(max(re.Min, re.Max, 1))
	}
	return size
}
