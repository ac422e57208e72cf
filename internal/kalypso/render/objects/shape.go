package objects

import (
	"bytes"
	"hash/maphash"
	"strings"
	"unicode/utf8"
)

// shaper computes the shapes of texts. The zero value is ready. It caches the shapes of lines.
type shaper struct {
	lines [1 << 12]knownLine // by the last bits of their hash
}

// knownLine is the hash of a line, and of its shape. If shape is 0, a value of the line may be a key.
type knownLine struct{ hash, shape uint64 }

const oddFactor = 0x9e3779b97f4a7c15 // so that the hash depends on the order of the parts

// shape returns a hash of a text without its plain values: it is the same for texts that only differ in values that are
// the same to YAML, such as two words. kustomize either accepts all texts of a shape, or refuses all of them, at the
// same line.
func (s *shaper) shape(text []byte) uint64 {
	shape := uint64(0)
	for rest := text; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		hash := maphash.Bytes(seed, rest[:end])
		known := &s.lines[hash%uint64(len(s.lines))]
		if known.hash != hash {
			*known = knownLine{hash, shapeOf(rest[:end], hash)}
		}
		if known.shape == 0 {
			return maphash.Bytes(seed, text)
		}
		shape = (shape ^ known.shape) * oddFactor
		shape ^= shape >> 32
		rest = rest[end:]
	}
	return shape
}

// shapeOf returns a hash of a line without its value, or the hash of the whole line. It returns 0 for a line with a "?"
// that can turn a value into a key, or with an alias, which can be a key whose text is elsewhere.
func shapeOf(line []byte, whole uint64) uint64 {
	start := valueIn(line)
	class, end := classOf(line[start:])
	if class == otherValue {
		start, end = len(line), 0
	}
	if mayMakeKey(line[:start]) {
		return 0
	}
	if class == otherValue || bytes.Contains(line[:start], []byte("kind")) { // the kind may be a list's
		return whole | 1
	}
	lineBreak := len(line) - start - end
	return (maphash.Bytes(seed, line[:start])*oddFactor + uint64(class) + uint64(lineBreak)<<8) | 1
}

// mayMakeKey reports whether a line has, before its value, a "?" that begins a key, or an alias.
func mayMakeKey(line []byte) bool {
	if bytes.IndexByte(line, '?') < 0 && bytes.IndexByte(line, '*') < 0 {
		return false
	}
	for i, c := range line {
		if c == '?' && (i == 0 || !isAlphanumeric(line[i-1])) ||
			c == '*' && i+1 < len(line) && (isAlphanumeric(line[i+1]) || line[i+1] == '-' || line[i+1] == '_') {
			return true
		}
	}
	return false
}

// valueIn returns where the value of a line begins: after its first key, or after the dashes of lists. If the line has
// neither, it has no value.
func valueIn(line []byte) int {
	if i := bytes.Index(line, []byte(": ")); i >= 0 {
		return i + len(": ")
	}
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	if !bytes.HasPrefix(line[i:], []byte("- ")) {
		return len(line)
	}
	for bytes.HasPrefix(line[i:], []byte("- ")) {
		i += len("- ")
	}
	return i
}

// valueClass is a class of values that YAML and kustomize treat alike, at any place in a text.
type valueClass byte

const (
	otherValue   valueClass = 0    // each value is a class of its own
	wordValue    valueClass = 'w'  // plain text that is a string
	query        valueClass = '?'  // the same with "?", which braces and brackets do not allow
	numberValue  valueClass = 'n'  // a decimal integer
	doubleQuoted valueClass = '"'  // text without quotes and backslashes, in quotes
	singleQuoted valueClass = '\'' // the same
)

// The bytes of values. A value with a character beyond ASCII is a class of its own.
const (
	inQuotes     byte = 1 << iota // means the same in single and in double quotes
	inWords                       // means the same within plain text
	betweenWords                  // means the same within plain text, unless a space is beside it
	inNames                       // occurs in names
	alphanumeric                  // may begin a value
	notInNumbers                  // occurs in no number and in no date
	decimal
	question
)

var bytesOfValues = func() (all [256]byte) {
	for c := byte(' '); c < utf8.RuneSelf-1; c++ {
		all[c] = inQuotes
	}
	for _, c := range []byte(`"'\\`) {
		all[c] = 0
	}
	for _, c := range []byte(" -._@+=/*") {
		all[c] |= inWords
	}
	for _, c := range []byte("-./") {
		all[c] |= inNames
	}
	all[':'] |= betweenWords
	all['?'] |= inWords | question
	for c := byte('0'); c <= '9'; c++ {
		all[c] |= inWords | inNames | alphanumeric | decimal
	}
	for c := byte('a'); c <= 'z'; c++ {
		all[c] |= inWords | inNames | alphanumeric | notInNumbers
		all[c-'a'+'A'] = all[c]
	}
	for _, c := range []byte("abcdefABCDEFoOxXtTzZ") {
		all[c] &^= notInNumbers
	}
	all['/'] |= notInNumbers
	return all
}()

// classOf returns the class of the value at the start of rest, and where the value ends.
func classOf(rest []byte) (class valueClass, end int) {
	end = len(rest)
	if end > 0 && rest[end-1] == '\n' {
		end--
	}
	if end > 0 && rest[end-1] == '\r' {
		end--
	}
	if end == 0 {
		return otherValue, 0
	}
	value := rest[:end]
	q := value[0]
	switch {
	case q != '"' && q != '\'':
		return plainClass(value), end
	case end < 3 || value[end-1] != q || !isQuotable(value[1:end-1]):
		return otherValue, 0
	}
	return valueClass(q), end
}

// isQuotable reports whether a text means the same in single and in double quotes. If such a text follows a quoted text
// of an earlier line, it must be a part of it, or an error.
func isQuotable(text []byte) bool {
	all := inQuotes
	for _, c := range text {
		all &= bytesOfValues[c]
	}
	return all != 0 && isAlphanumeric(text[0]) && !isSpecial(text)
}

func plainClass(text []byte) valueClass {
	all, some := inWords|decimal, byte(0)
	for i, c := range text {
		of := bytesOfValues[c]
		if of&betweenWords != 0 && i > 0 && i+1 < len(text) && text[i-1] != ' ' && text[i+1] != ' ' {
			of = inWords
		}
		all, some = all&of, some|of
	}
	switch {
	case all&inWords == 0 || !isAlphanumeric(text[0]) || isSpecial(text):
	case some&question != 0:
		return query
	case bytesOfValues[text[0]]&decimal == 0, some&notInNumbers != 0:
		return wordValue
	case all&decimal != 0 && len(text) < 10 && (len(text) == 1 || text[0] != '0'):
		return numberValue
	}
	return otherValue
}

func isAlphanumeric(c byte) bool { return bytesOfValues[c]&alphanumeric != 0 }

// isSpecial reports whether a text is a boolean or null in some version of YAML, or is treated as one by kustomize.
func isSpecial(text []byte) bool {
	if len(text) > len("false") && text[len("false")] != ' ' {
		return false
	}
	switch strings.ToLower(string(bytes.TrimRight(text, " "))) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return true
	}
	return false
}
