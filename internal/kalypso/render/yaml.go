package render

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// marshalYAML returns what [yaml.Marshal] returns. It writes values of plain ASCII text without it: the emitter of the
// library sets up 13 KiB of buffers for each document, and copies each scalar several times.
func marshalYAML(v any) (string, error) {
	var w yamlWriter
	if w.node(v, 0, yamlRoot) {
		return w.String(), nil
	}
	text, err := yaml.Marshal(v) // it panics on unsupported values; text/template converts that to an error
	return string(text), err
}

// yamlWriter writes values as [yaml.Marshal] does. It gives up on values that it does not support.
type yamlWriter struct{ strings.Builder }

// yamlParent is the position of a node: after the indicator of a list item, after a key, or at the top.
type yamlParent int

const (
	yamlRoot yamlParent = iota
	yamlKey
	yamlItem
)

// node writes v behind the indicator of its parent, which is indented by indent columns. It ends in a line break. It
// returns false if v is not supported; its output is then unusable.
func (w *yamlWriter) node(v any, indent int, parent yamlParent) bool {
	switch v := v.(type) {
	case map[string]any:
		return writeMap(w, v, indent, parent)
	case map[string]string:
		return writeMap(w, v, indent, parent)
	case []any:
		return w.list(v, indent, parent)
	case string:
		if strings.Contains(v, "\n") {
			return w.literal(v, indent, parent)
		}
		text, ok := yamlScalar(v)
		return ok && w.scalar(text, parent)
	case nil:
		return w.scalar("null", parent)
	case bool:
		return w.scalar(strconv.FormatBool(v), parent)
	case int:
		return w.scalar(strconv.Itoa(v), parent)
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0) && w.scalar(strconv.FormatFloat(v, 'g', -1, 64), parent)
	}
	return false
}

func (w *yamlWriter) scalar(text string, parent yamlParent) bool {
	if parent != yamlRoot {
		w.WriteByte(' ')
	}
	w.WriteString(text)
	w.WriteByte('\n')
	return true
}

// writeMap writes a map behind the indicator of its parent.
func writeMap[V any](w *yamlWriter, m map[string]V, indent int, parent yamlParent) bool {
	if len(m) == 0 {
		return w.scalar("{}", parent)
	}
	inner := w.begin(indent, parent)
	for i, k := range slices.SortedFunc(maps.Keys(m), compareYAMLKeys) {
		key, ok := yamlScalar(k)
		if !ok || len(k) > maxYAMLKey {
			return false
		}
		if i > 0 || parent != yamlItem {
			w.indent(inner)
		}
		w.WriteString(key)
		w.WriteByte(':')
		if !w.node(m[k], inner, yamlKey) {
			return false
		}
	}
	return true
}

// maxYAMLKey is the number of bytes up to which the library writes a key without the indicator "?".
const maxYAMLKey = 128

// list writes a list behind the indicator of its parent.
func (w *yamlWriter) list(l []any, indent int, parent yamlParent) bool {
	if len(l) == 0 {
		return w.scalar("[]", parent)
	}
	inner := w.begin(indent, parent)
	for i, v := range l {
		if i > 0 || parent != yamlItem {
			w.indent(inner)
		}
		w.WriteByte('-')
		if !w.node(v, inner, yamlItem) {
			return false
		}
	}
	return true
}

// begin begins a map or list that is not empty, and returns its indentation. In a list item it begins in the same line.
func (w *yamlWriter) begin(indent int, parent yamlParent) (inner int) {
	switch parent {
	case yamlRoot:
		return 0
	case yamlKey:
		w.WriteByte('\n')
	case yamlItem:
		w.WriteByte(' ')
	}
	return innerIndent(indent, parent)
}

// innerIndent returns the indentation of what a parent with this indentation contains: that of a list item aligns with
// its text, any other is the next multiple of four.
func innerIndent(indent int, parent yamlParent) int {
	const step = 4
	switch parent {
	case yamlRoot:
		return step
	case yamlItem:
		return indent + len("- ")
	default:
		return indent/step*step + step
	}
}

func (w *yamlWriter) indent(columns int) {
	for range columns {
		w.WriteByte(' ')
	}
}

// literal writes a text of several lines as a literal block.
func (w *yamlWriter) literal(s string, indent int, parent yamlParent) bool {
	if s[0] == ' ' || s[0] == '\n' || strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\n\n") ||
		strings.Contains(s, " \n") || !printableASCII(s, '\n') {
		return false
	}
	header := "|"
	if !strings.HasSuffix(s, "\n") {
		header = "|-"
	}
	w.scalar(header, parent)
	indent = innerIndent(indent, parent)
	for line := range strings.Lines(s) {
		if line != "\n" {
			w.indent(indent)
		}
		w.WriteString(line)
	}
	if header == "|-" {
		w.WriteByte('\n')
	}
	return true
}

// yamlScalar returns a text of one line as a scalar: plain if YAML reads that as exactly this text, otherwise in
// quotes. It returns false if that is uncertain.
func yamlScalar(s string) (text string, ok bool) {
	switch {
	case s == "" || yamlWords[s]:
		return `"` + s + `"`, true
	case !printableASCII(s, ' ') || strings.IndexByte("+-.<~=?:", s[0]) >= 0: // numbers, and names of values
		return "", false
	case isDigit(s[0]):
		switch kindOfDigits(s) {
		case digitsNumber:
			return `"` + s + `"`, true
		case digitsUndecided:
			return "", false
		}
	}
	if strings.IndexByte(" #,[]{}&*!|>'\"%@`", s[0]) >= 0 || strings.HasSuffix(s, " ") || strings.HasSuffix(s, ":") ||
		strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'", true
	}
	return s, true
}

// yamlWords are the words that are not strings in YAML 1.1 or 1.2.
var yamlWords = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"} {
		words[word] = true
		words[strings.ToUpper(word)] = true
		words[strings.ToUpper(word[:1])+word[1:]] = true
	}
	return words
}()

// digitsKind is the YAML type of a text that begins with a digit.
type digitsKind int

const (
	digitsUndecided digitsKind = iota
	digitsNumber
	digitsText
)

// kindOfDigits returns the YAML type of a text that begins with a digit. A text with a letter that no number and no
// time has is a string, and so are digits with two dots. Digits with at most one dot are a number if there are few
// enough of them.
func kindOfDigits(s string) digitsKind {
	const most = 18 // digits of any number
	dots, others := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
		case c == '.':
			dots++
		case 'g' <= c|0x20 && c|0x20 <= 'z' && strings.IndexByte("otxz", c|0x20) < 0:
			return digitsText
		default:
			others++
		}
	}
	switch {
	case others > 0:
		return digitsUndecided
	case dots > 1:
		return digitsText
	case len(s) <= most:
		return digitsNumber
	}
	return digitsUndecided
}

// printableASCII reports whether s consists of printable ASCII characters and other.
func printableASCII(s string, other byte) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != other {
			return false
		}
	}
	return true
}

// compareYAMLKeys orders keys as the library does: numbers in them by their value, and other characters before letters,
// but letters before them after a digit.
func compareYAMLKeys(a, b string) int {
	afterDigits := false
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			afterDigits = isDigit(x)
			continue
		}
		switch {
		case isLetter(x) && isLetter(y):
			return cmp.Compare(x, y)
		case isLetter(x) != isLetter(y):
			if isLetter(x) == afterDigits {
				return -1
			}
			return 1
		}
		return compareYAMLNumbers(a, b, i)
	}
	return cmp.Compare(len(a), len(b))
}

// compareYAMLNumbers compares keys that differ first at byte i, where neither has a letter.
func compareYAMLNumbers(a, b string, i int) int {
	var before int64 // 1 if a digit other than 0 precedes: then a 0 counts
	if a[i] == '0' || b[i] == '0' {
		for j := i - 1; j >= 0 && isDigit(a[j]); j-- {
			if a[j] != '0' {
				before = 1
				break
			}
		}
	}
	number := func(s string) (n int64, end int) {
		n, end = before, i
		for ; end < len(s) && isDigit(s[end]); end++ {
			n = n*10 + int64(s[end]-'0')
		}
		return n, end
	}
	m, endA := number(a)
	n, endB := number(b)
	return cmp.Or(cmp.Compare(m, n), cmp.Compare(endA, endB), cmp.Compare(a[i], b[i]))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
