package render

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// These functions estimate the maximum result size, in bytes, of template functions that can return much more than
// they read. They run before the function is called. most is the limit.

// times multiplies without overflow. Negative factors count as zero.
func times(a, b int64) int64 {
	const most = 1 << 40
	if a, b = max(a, 0), max(b, 0); b > 0 && a > most/b {
		return most
	}
	return a * b
}

func sizeOfRepeat(args []reflect.Value, _, _ int64) int64 {
	return times(args[0].Int(), int64(args[1].Len()))
}

func sizeOfIndent(args []reflect.Value, read, _ int64) int64 {
	return read + times(args[0].Int(), 1+int64(strings.Count(args[1].String(), "\n")))
}

func sizeOfJoin(args []reflect.Value, read, _ int64) int64 {
	if !isList(args[1]) {
		return read
	}
	return read + times(int64(args[1].Len()), int64(args[0].Len()))
}

func sizeOfReplace(args []reflect.Value, _, _ int64) int64 {
	old, replacement, text := args[0].String(), int64(args[1].Len()), args[2].String()
	return int64(len(text)) + times(int64(strings.Count(text, old)), replacement-int64(len(old)))
}

// sizeOfReplaceAll counts the matches only if replacing every byte would exceed the limit. All submatches such as $1
// together are no longer than the text.
func sizeOfReplaceAll(args []reflect.Value, _, most int64) int64 {
	text, replacement := int64(args[1].Len()), args[2].String()
	matches := text + 1
	size := func() int64 {
		return text + times(matches, int64(len(replacement))) + times(text, int64(strings.Count(replacement, "$")))
	}
	if size() <= most {
		return size()
	}
	re, err := regexp.Compile(args[0].String())
	if err != nil {
		return 0 // the function reports it
	}
	matches = 0
	re.ReplaceAllStringFunc(args[1].String(), func(string) string {
		matches++
		return ""
	})
	return size()
}

// sizeOfSplit counts the parts, because their map is larger than their bytes.
func sizeOfSplit(args []reflect.Value, read, _ int64) int64 {
	const key = 8
	return read + times(1+int64(strings.Count(args[len(args)-1].String(), args[0].String())), key)
}

// sizeOfWrapWith takes each line for half full: a word that is longer than the rest of its line begins the next one.
func sizeOfWrapWith(args []reflect.Value, read, _ int64) int64 {
	lines := 1 + 2*int64(args[2].Len())/max(args[0].Int(), 1)
	return read + times(lines, int64(args[1].Len()))
}

// numberSize is the approximate size of a list element in bytes.
const numberSize = 8

func sizeOfUntil(args []reflect.Value, _, _ int64) int64 {
	return sizeOfSteps(0, args[0].Int(), towards(0, args[0].Int()))
}

func sizeOfUntilStep(args []reflect.Value, _, _ int64) int64 {
	return sizeOfSteps(args[0].Int(), args[1].Int(), args[2].Int())
}

func sizeOfSteps(start, stop, step int64) int64 {
	if step == 0 || (stop > start) != (step > 0) {
		return 0
	}
	count := (float64(stop) - float64(start)) / float64(step)
	return times(int64(min(count, 1<<40)), numberSize)
}

func towards(start, stop int64) int64 {
	if stop < start {
		return -1
	}
	return 1
}

func sizeOfSeq(args []reflect.Value, _, _ int64) int64 {
	switch len(args) {
	case 1:
		return sizeOfSteps(0, args[0].Int(), towards(0, args[0].Int()))
	case 2:
		return sizeOfSteps(args[0].Int(), args[1].Int(), towards(args[0].Int(), args[1].Int()))
	case 3:
		return sizeOfSteps(args[0].Int(), args[2].Int(), args[1].Int())
	}
	return 0
}

// verb matches a verb of a format with its index, width and precision.
var verb = regexp.MustCompile(`%[-+# 0]*(\[\d*\])?(\d+|\*)?(?:\.(\[\d*\])?(\d+|\*)?)?(\[\d*\])?`)

// sizeOfPrintf adds up widths and precisions, which fmt limits to a million. With indexes, each verb may print the
// same argument.
func sizeOfPrintf(args []reflect.Value, read, _ int64) int64 {
	const mostWidth = 1_000_000
	format := args[0].String()
	if !strings.Contains(format, "%") {
		return read
	}
	var widest int64 // the largest argument that may be a width
	for _, arg := range args[1:] {
		if arg.CanInt() {
			widest = max(widest, min(max(arg.Int(), -arg.Int()), mostWidth))
		}
	}
	size := read
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		for _, width := range []string{m[2], m[4]} {
			if width == "*" {
				size += widest
			} else if n, err := strconv.ParseInt(width, 10, 64); err == nil {
				size += min(n, mostWidth)
			}
		}
		if m[1] != "" || m[3] != "" || m[5] != "" {
			size += read
		}
	}
	return size
}
