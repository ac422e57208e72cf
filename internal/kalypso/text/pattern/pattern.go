// Package pattern limits the size of regular expressions.
package pattern

import (
	"fmt"
	"regexp/syntax"
)

// MaxSize limits the length of a regular expression in bytes, and its number of instructions.
const MaxSize = 10_000

// Size returns the approximate number of instructions of a regular expression with its repetitions expanded. Matching
// may execute all of them for each byte of text. It returns an error if the expression exceeds [MaxSize]. An expression
// that does not parse has the size 0; compiling it reports the syntax error.
func Size(expr string) (int64, error) {
	if len(expr) > MaxSize {
		return 0, fmt.Errorf("the regular expression has %d bytes; at most %d are allowed", len(expr), MaxSize)
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0, nil //nolint:nilerr // as above
	}
	size := instructions(re)
	if size > MaxSize {
		return 0, fmt.Errorf("the regular expression has %d instructions with its repetitions expanded; at most %d "+
			"are allowed", size, MaxSize)
	}
	return size, nil
}

func instructions(re *syntax.Regexp) int64 {
	size := max(1, int64(len(re.Rune)))
	if re.Op == syntax.OpCharClass {
		size = 1
	}
	for _, sub := range re.Sub {
		size += instructions(sub)
	}
	if re.Op == syntax.OpRepeat { // at most 1,000 times, including nested repetitions
		size *= int64(max(re.Min, re.Max, 1))
	}
	return size
}
