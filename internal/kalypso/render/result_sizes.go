package render

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// resultSizes returns the largest size in bytes of the results of functions that can return much more than they read.
// They get the number of bytes that the function reads.
var resultSizes = map[string]func(args []reflect.Value, read int64) int64{
	"indent": sizeOfIndent, "nindent": sizeOfIndent, "printf": sizeOfPrintf,
	"regexReplaceAll": sizeOfReplaceAll, "regexReplaceAllLiteral": sizeOfReplaceAll,
	"repeat": func(args []reflect.Value, _ int64) int64 { return times(args[0].Int(), length(args[1])) },
	"join": func(args []reflect.Value, read int64) int64 {
		return read + times(length(elem(args[1])), length(args[0]))
	},
	"replace": func(args []reflect.Value, read int64) int64 {
		return read + times(int64(strings.Count(args[2].String(), args[0].String())), length(args[1])-length(args[0]))
	},
	"wrapWith": func(args []reflect.Value, read int64) int64 { // each line may be half full
		return read + times(1+2*length(args[2])/max(args[0].Int(), 1), length(args[1]))
	},
}

// times multiplies without overflow. Negative factors count as zero.
func times(a, b int64) int64 {
	const most = 1 << 40
	if a, b = max(a, 0), max(b, 0); b > 0 && a > most/b {
		return most
	}
	return a * b
}

func sizeOfIndent(args []reflect.Value, read int64) int64 {
	return read + times(args[0].Int(), 1+int64(strings.Count(args[1].String(), "\n")))
}

// sizeOfReplaceAll counts submatches such as $1 as the whole text.
func sizeOfReplaceAll(args []reflect.Value, _ int64) int64 {
	re, err := regexp.Compile(args[0].String())
	if err != nil {
		return 0 // the function reports it
	}
	text, replacement := args[1].String(), args[2].String()
	matches := int64(len(re.FindAllStringIndex(text, -1)))
	return times(matches, int64(len(replacement))) + times(int64(len(text)), int64(strings.Count(replacement, "$")))
}

var (
	verb  = regexp.MustCompile(`%[^a-zA-Z%]*`)
	width = regexp.MustCompile(`\d+|\*`)
)

// sizeOfPrintf adds up widths and precisions, which fmt limits to a million. With indexes, each verb may print the
// same argument.
func sizeOfPrintf(args []reflect.Value, read int64) int64 {
	const mostWidth = 1_000_000
	size, widest := read, int64(0)
	for _, arg := range args[1].Seq2() {
		if arg = elem(arg); arg.CanInt() {
			widest = max(widest, min(max(arg.Int(), -arg.Int()), mostWidth))
		}
	}
	for _, v := range verb.FindAllString(args[0].String(), -1) {
		for _, w := range width.FindAllString(v, -1) {
			n, err := strconv.ParseInt(w, 10, 64)
			if err != nil { // an asterisk
				n = widest
			}
			size += min(n, mostWidth)
		}
		if strings.Contains(v, "[") {
			size += read
		}
	}
	return size
}
